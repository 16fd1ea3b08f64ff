"""Sorting by machine code: the text of a radix sort, and what runs it."""
