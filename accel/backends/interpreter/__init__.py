"""The interpreter backend."""
