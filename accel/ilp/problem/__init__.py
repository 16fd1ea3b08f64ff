"""What is asked and answered: the graph of a program, costs, clusterings and their price."""
