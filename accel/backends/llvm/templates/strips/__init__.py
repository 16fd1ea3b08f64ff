"""Strips of columns: `statements` is what all have in common, then what folds accumulate, folds, scans."""
