"""How nests run: schedules as data, the rules that make them, and the templates that choose."""
