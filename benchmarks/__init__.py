"""Programs that measure: run them as modules, `python -m benchmarks.cpu`."""
