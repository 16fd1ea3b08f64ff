"""Nests in tiles, as matrix products run: `alternative` is the whole, then what is packed, the tile itself, what follows it."""
