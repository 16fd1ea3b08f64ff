"""A program as a list of items, where control flow is jumps; and the instructions that these are on a device."""
