"""What a program is: types, operators, nodes of arrays and scalars, and how they are printed."""
