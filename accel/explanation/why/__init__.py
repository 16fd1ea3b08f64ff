"""Why the loops are what they are: costs, rules, other strategies."""
