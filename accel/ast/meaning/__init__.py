"""What scalar operators mean: the one definition that all backends are compared with."""
