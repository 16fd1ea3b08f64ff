"""Sorts, and search in what is sorted."""
