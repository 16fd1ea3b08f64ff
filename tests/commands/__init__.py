"""Tests of `python -m accel`."""
