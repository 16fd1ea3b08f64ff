"""Random typed programs through every stage and backend, against the labelled interpreter.

`draw.py` choices, `programs.py` what a program is, `scalars.py` and `operations_*.py` how one is made, typed and printed,
`generate.py` whole programs, `subjects.py` what runs them and how results are compared, `shrink.py` smaller programs.
A program is run as it is printed: its source is executed, so a report can be run again by hand.
"""
