"""An innermost loop in vectors: `loop` is the whole, then its edges, a vector, and parts of a row."""
