"""What a schedule means: a nest run as it says, the tree of partial results, and how many of these wait at once."""
