"""The faults, a file for each stage."""
