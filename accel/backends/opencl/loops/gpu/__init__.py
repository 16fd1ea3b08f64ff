"""Kernels whose work-items meet in groups, for GPUs."""
