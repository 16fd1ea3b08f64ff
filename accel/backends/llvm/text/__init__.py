"""LLVM text: instructions, functions, and what a kernel is called with."""
