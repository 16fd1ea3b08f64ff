"""Stage 1: what the user wrote. Types, scalar and array nodes, the typed handles `Exp` and `Acc`, the combinators."""
