"""Loop programs made of loop programs, once clusters are nests: how much of a sort is read (`first`), how arrays lie in memory
(`layouts`), products as tiles want them (`plain`, which nests may be products; `apart`, their functions; `contractions`, their
loops)."""
