"""What a loop program means: the interpreter of nests."""
