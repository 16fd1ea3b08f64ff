"""The ways to run a tiled nest: what each needs, for which sizes it is taken, and how a launch takes it."""
