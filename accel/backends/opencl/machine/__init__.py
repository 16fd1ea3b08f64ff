"""Devices: drivers, their features, their memory, programs that they keep."""
