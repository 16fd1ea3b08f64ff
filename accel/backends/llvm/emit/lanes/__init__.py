"""LLVM text of vector registers and of rows of memory: it knows nothing of programs and their values."""
