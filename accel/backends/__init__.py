"""Stage 6: interpreter, llvm (multicore CPU), opencl."""
