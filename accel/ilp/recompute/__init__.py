"""Work that readers may do again: which, and the graph in which they do."""
