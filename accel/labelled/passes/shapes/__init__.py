"""Passes about shapes: reshapes that move, folds of whole arrays, extents that are products."""
