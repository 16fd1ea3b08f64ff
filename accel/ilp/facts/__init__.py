"""What follows from a graph before anything is solved: infusible pairs, iteration spaces, lower bounds, contraction."""
