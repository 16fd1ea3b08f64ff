"""The inside of nests: where conditions on indices are decided, and what is left of the code there; what columns share."""
