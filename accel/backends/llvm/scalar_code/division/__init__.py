"""Division without dividing: integers by reciprocals and multipliers, floats by reciprocals that are corrected."""
