"""Rearranged linear algebra: products of arrays with named axes, `einsum`, and [Ber]'s views of arrays."""
