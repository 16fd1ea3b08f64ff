"""Kernels of an OpenCL device as fractions of what it copies: `python -m benchmarks.gpu`."""
