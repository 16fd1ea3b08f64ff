"""Programs on real data. Each runs by itself: `python -m examples.dotp`, `python examples/dotp.py`."""
