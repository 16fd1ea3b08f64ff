"""Loop nests: what runs on several threads, in vectors, in blocks."""
