"""Loop programs made of loop programs, once clusters are nests: how much of a sort is read (`first`), how arrays lie in memory
(`layouts`), products over several axes (`contractions`)."""
