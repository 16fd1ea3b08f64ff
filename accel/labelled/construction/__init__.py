"""From array nodes to a labelled program: `build.py` is the entry; regions, then operations, whose functions are flattened."""
