"""Which clusterings are legal: the checker, and the numbers that it shares with the model."""
