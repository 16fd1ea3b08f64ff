"""Blocks in bands, with registers of 64 bytes: `loops` is the whole, then a block, and a tile of one."""
