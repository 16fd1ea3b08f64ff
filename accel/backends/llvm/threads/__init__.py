"""The thread pool, and signals that arrive while it works."""
