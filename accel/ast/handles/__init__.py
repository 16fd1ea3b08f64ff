"""What users hold: `Acc` and `Exp`, literals, tuples, and the checks that all combinators share."""
