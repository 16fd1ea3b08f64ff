"""Random numbers: keys, the numbers that follow from them, and their distributions."""
