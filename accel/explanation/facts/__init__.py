"""What an explanation says, as data."""
