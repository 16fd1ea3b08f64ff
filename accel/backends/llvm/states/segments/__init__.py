"""Short segments, some at a time: `group` is what all ways have in common, `few_segments` those of a few elements."""
