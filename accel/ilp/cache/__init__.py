"""Plans that are known already: their keys, in memory and on disk."""
