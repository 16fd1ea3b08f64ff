"""Functions of arrays, and how arrays of the host enter."""
