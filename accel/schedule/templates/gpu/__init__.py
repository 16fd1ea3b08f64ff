"""Templates for devices whose work-items are cheap and meet in groups: GPUs."""
