"""What stages need and no stage owns: caches, files, forks, places in the user's source."""
