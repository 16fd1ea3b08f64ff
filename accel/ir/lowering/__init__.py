"""From fusion trees to nests: a frame of loops, a draft of statements, and their arrangement."""
