"""The llvm backend."""
