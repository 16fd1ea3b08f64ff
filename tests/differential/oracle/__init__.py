"""A second reference: the language written down once more with NumPy, from the documentation alone.

`values.py` scalars of many elements at once, `scalars.py` and `functions.py` the operators on them (docs/scalars.md),
`folding.py` the order of folds and scans (docs/order.md), `arrays.py` arrays, `movement.py` and `reductions.py` the
combinators, `scalar_names.py` and `language.py` the names that a printed program uses, `run.py` a program's results.

It runs a program's printed text, with this package as its `A`. It takes nothing from accel: a mistake that accel's
reference shares with the code generators is not in here.
"""
