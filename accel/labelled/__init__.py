"""Stage 2: let-bound, labelled, struct-of-arrays, sized."""
