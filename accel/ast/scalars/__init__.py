"""Functions of scalars."""
