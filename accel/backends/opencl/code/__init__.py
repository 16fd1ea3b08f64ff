"""OpenCL C: names, scalar code, functions, the bodies of loops."""
