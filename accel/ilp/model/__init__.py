"""The integer linear program: variables, rows, objectives, cutting planes, and what a solution says."""
