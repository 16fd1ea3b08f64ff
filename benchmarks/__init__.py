"""Programs that measure: `python -m benchmarks` compares accel with other tools; the others are run as modules too."""
