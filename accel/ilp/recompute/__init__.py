"""Work that readers may recompute: which, and the graph in which they do."""
