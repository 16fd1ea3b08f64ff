"""Passes about loops: what leaves them, what of that is stored, conditions that are computed in steps."""
