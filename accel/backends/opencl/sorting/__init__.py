"""Sorting on GPUs, where rows are whole arrays of a program. To be read in this order: `text`, the kernels; `sorter`, which
launches them. How groups order what they hold is in `loops/gpu/radix.py`."""
