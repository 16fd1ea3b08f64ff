"""Ways to run programs besides `run` and `runN`."""
