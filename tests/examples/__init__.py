"""The examples: each runs, checks itself against NumPy, and says what it found."""
