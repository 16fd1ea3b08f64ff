"""Sorting by machine code: the texts of a radix sort and of a selection, and what runs them."""
