"""accel beside other tools: what `python -m benchmarks` measures, in processes of their own, and prints."""
