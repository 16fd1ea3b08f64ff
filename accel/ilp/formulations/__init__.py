"""Formulations of the problem as integer linear programs: our own and two published ones."""
