"""Formulas over real numbers: operators on floats that are made of others."""
