"""Ways to run a nest other than row by row: which there are for a nest (`choose`), and one file for each."""
