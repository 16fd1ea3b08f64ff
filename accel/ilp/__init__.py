"""Stage 3: which operations share a loop, by integer linear programming."""
