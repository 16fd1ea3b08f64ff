"""Nests that are packed: how much at a time, and batches of them."""
