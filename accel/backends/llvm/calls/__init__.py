"""Calls: a program as one compiled function over NumPy arrays."""
