"""Statements of a loop body: operators, loads and stores, scalar functions."""
