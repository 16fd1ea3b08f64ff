"""The rearrangements of a linear nest of maps and reductions [Ber]: enumerated, derived by rules, run as they stand, priced."""
