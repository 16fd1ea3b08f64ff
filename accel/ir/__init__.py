"""Stage 5: one `For`/`LoopBody` nest per cluster."""
