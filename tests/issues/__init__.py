"""Reduced programs that once failed: one file for each, with the sentence that it states."""
