"""Tests of `accel/explanation/`."""
