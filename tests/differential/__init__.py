"""Random typed programs through every stage and backend, against the labelled interpreter, and that against NumPy.

`draw.py` choices, `programs.py` what a program is, `scalars.py`, `elementwise.py`, `movement.py`, `reductions.py`,
`control.py` and `sizes.py` how one is made, typed and printed, `generate.py` whole programs, `data.py` their arguments,
`oracle/` what they give by NumPy, `subjects.py` what runs them and how results are compared, `guard.py` arrays between
pages that may not be touched, `shrink.py` smaller programs.
A program is run as it is printed: its source is executed, so a report can be run again by hand.
"""
