"""Which schedule suits a nest: one file for each template."""
