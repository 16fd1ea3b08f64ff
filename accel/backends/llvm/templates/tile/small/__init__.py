"""Small nests, which are not packed."""
