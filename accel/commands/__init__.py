"""What `python -m accel` does, one command per file."""
