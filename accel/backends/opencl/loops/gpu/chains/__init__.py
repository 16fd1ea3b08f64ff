"""Running states in groups of work-items: scans, filters and what is folded beside them."""
