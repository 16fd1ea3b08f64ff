"""The user's own words for what a program is made of: variables, extents, turns of loops."""
