"""What users write by habit, as for NumPy or Python's own numbers, and what to write instead."""
