"""Stage-crossing reports: what was fused, what it costs, and why it is best. Sees all stages; no stage sees it."""
