"""What stands around calls whose arguments or results are not their arrays."""
