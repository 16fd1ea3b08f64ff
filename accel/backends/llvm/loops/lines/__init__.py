"""Rows that begin with what their columns share."""
