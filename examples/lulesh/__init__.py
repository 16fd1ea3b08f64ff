"""LULESH 2.0: shock hydrodynamics of an explosion (Sedov's problem) on an unstructured mesh, after LLNL's C++ program.

`mesh` has the tables, `geometry` what elements with eight corners are, `tables` how nodes and elements find each
other, `nodes`, `elements` and `materials` the parts of a time step, and `step` the program, whose loop over time
steps is an `awhile`. A time step is four loops: forces of elements on their corners; nodes, which gather them in the
order of the elements' numbers, and move; elements, which gather the nodes' new places; and what elements are made of,
with the next time step's length as two folds. `python -m examples.lulesh --size 10` runs it. Its 840 lines, of
documentation too, are less than a third of the C++ program's 2,700.
"""
