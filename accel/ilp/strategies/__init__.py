"""The strategies besides `ilp`: each a plain function from a graph to clusters."""
