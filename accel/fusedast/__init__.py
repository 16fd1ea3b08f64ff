"""Stage 4: the explicit fusion tree: Vertical, Horizontal, Diagonal."""
