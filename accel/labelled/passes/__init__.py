"""Programs to equal programs: the passes, and what they ask about a program."""
