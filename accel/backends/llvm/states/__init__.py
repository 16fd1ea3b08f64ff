"""Folds, scans and counts: how each keeps what it accumulates."""
