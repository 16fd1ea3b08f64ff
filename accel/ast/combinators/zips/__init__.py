"""Several arrays of one shape, element by element."""
