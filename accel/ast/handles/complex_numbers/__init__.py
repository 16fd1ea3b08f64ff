"""Complex numbers as formulas of their parts."""
