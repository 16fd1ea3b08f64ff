"""Type stubs: only what accel uses of llvmlite."""
