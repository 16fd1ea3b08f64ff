"""Scalar operators in LLVM, for single numbers and vectors, with the elementary functions."""
