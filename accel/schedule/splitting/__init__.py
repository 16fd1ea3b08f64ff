"""Parts of the innermost loop: inside and edges, pieces, lines, phases; and bounds that are asked once."""
