"""Passes about loops: what leaves them, what comes back, conditions that are computed in steps."""
