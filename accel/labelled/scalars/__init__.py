"""What is known of scalar functions: laws, ranges of indices, and the simplification that uses them."""
