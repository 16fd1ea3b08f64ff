"""Faults of the stage `labelled`: laws, equal operations, dead code, copies, loops, sizes, reshapes, reference, order."""

from __future__ import annotations

from tests.mutation.fault import Fault

_SIMPLIFY = "tests/labelled/test_simplify.py"
_LOOPS = "tests/labelled/test_loops.py"
_SIZES = "tests/labelled/test_sizes.py"
_NUMPY = "tests/labelled/test_against_numpy.py"
_REGRESSIONS = "tests/labelled/test_accelerate_regressions.py"
_OPERATIONS = "tests/labelled/test_operations.py"
_VERIFY = "tests/labelled/test_verify.py"
_RANGES = "tests/labelled/test_ranges.py"
_ABSORB = "tests/labelled/test_absorb.py"
_LAZINESS = "tests/labelled/test_laziness.py"

FAULTS = (
    Fault(
        "a maker moves to where it is read more often",
        "labelled/passes/absorb.py",
        "_covered(statement.index, moves).issuperset(index)",
        "_covered(statement.index, moves) is not None",
        (_ABSORB,),
    ),
    Fault(
        "a maker moves though others need it",
        "labelled/passes/absorb.py",
        "self.users[label] == {reader.label} and not self.in_bulk[label]",
        "reader.label in self.users[label]",
        (_ABSORB,),
    ),
    Fault(
        "a maker moves behind the scatter that overwrites what it reads",
        "labelled/passes/absorb.py",
        "if not self.overwritten.isdisjoint(read):",
        "if not read:",
        (_ABSORB,),
    ),
    Fault(
        "what is in bounds where a maker runs is so wherever its reader does",
        "labelled/passes/inline.py",
        "replace(statement, inside=False, inside_block=inside or inside_block)",
        "statement",
        (_ABSORB,),
    ),
    Fault(
        "a sum of a float and 0 is the float",
        "labelled/scalars/laws.py",
        "if kind.is_float or (kind is BOOL and operator not in (Operator.OR, Operator.XOR)):",
        "if kind is BOOL and operator not in (Operator.OR, Operator.XOR):",
        (_SIMPLIFY,),
    ),
    Fault(
        "a number less 1 is the number",
        "labelled/scalars/laws.py",
        "Operator.ADD: 0, Operator.SUB: 0, Operator.MUL: 1, Operator.DIV: 1,",
        "Operator.ADD: 0, Operator.SUB: 1, Operator.MUL: 1, Operator.DIV: 1,",
        (_SIMPLIFY, "tests/labelled/test_ranges.py"),
    ),
    Fault(
        "the exclusive or of two equal numbers is the number",
        "labelled/scalars/laws.py",
        "_IDEMPOTENT = frozenset({Operator.MIN,",
        "_IDEMPOTENT = frozenset({Operator.XOR, Operator.MIN,",
        ("tests/labelled/test_laws.py",),
    ),
    Fault(
        "`true and x` is true",
        "labelled/scalars/laws.py",
        "return one if bool(one.value) is absorbing else other",
        "return other if bool(one.value) is absorbing else one",
        ("tests/labelled/test_laws.py",),
    ),
    Fault(
        "equal computations of different types are one",
        "labelled/scalars/simplify.py",
        "key = (operator, out.type, arguments)",
        "key = (operator, arguments)",
        ("tests/labelled/test_laws.py::test_conversions_there_and_back",),
    ),
    Fault(
        "loads of different indices are one",
        "labelled/scalars/simplify.py",
        'self._once(("load", array, index, load.check), load',
        'self._once(("load", array, index[:1], load.check), load',
        (f"{_NUMPY}::test_several_elements_of_one_row",),
    ),
    Fault(
        "what a branch computed is known after it",
        "labelled/scalars/simplify.py",
        "made = self.block(block, known.new_child())",
        "made = self.block(block, known)",
        (_LAZINESS, _SIMPLIFY, _NUMPY),
    ),
    Fault(
        "loads that may fail are made in both branches",
        "labelled/scalars/simplify.py",
        "(isinstance(s, Load) and s.inside)",
        "isinstance(s, Load)",
        (_LAZINESS,),
    ),
    Fault(
        "loads leave the branches that keep them in bounds",
        "labelled/scalars/simplify.py",
        "(isinstance(s, Load) and s.inside)",
        "(isinstance(s, Load) and not s.may_fail)",
        (_RANGES,),
    ),
    Fault(
        "what a branch is known by is known after it",
        "labelled/scalars/simplify.py",
        "        self._here = around\n",
        "",
        (_RANGES,),
    ),
    Fault(
        "generates of different shapes are one",
        "labelled/passes/simplify.py",
        "types = tuple([(array.element, array.shape) for array in binding.arrays])",
        "types = tuple([(array.element, len(array.shape)) for array in binding.arrays])",
        (_SIMPLIFY, _REGRESSIONS, _NUMPY),
    ),
    Fault(
        "what computes a size is dead code",
        "labelled/passes/dead.py",
        "needed.add_sizes(programs.extents_mentioned(live.operation))",
        "needed.add_sizes(())",
        (_SIMPLIFY, _SIZES, _NUMPY),
    ),
    Fault(
        "a destination that is read later is written over",
        "labelled/passes/copies.py",
        "self._last[leaf] <= position and",
        "",
        (_SIMPLIFY,),
    ),
    Fault(
        "a destination that is also a result is written over",
        "labelled/passes/copies.py",
        "leaf not in self._shared and",
        "",
        (_SIMPLIFY,),
    ),
    Fault(
        "a scatter that reads its destination does not copy it",
        "labelled/passes/copies.py",
        "self._by_scatters[position, leaf] == 1",
        "self._by_scatters[position, leaf] >= 1",
        (f"{_SIMPLIFY}::test_a_scatter_destroys_only_what_nobody_needs",),
    ),
    Fault(
        "gathers cannot fail",
        "labelled/passes/may_fail.py",
        "case Gather() | Scatter() | FoldSegments() | ScanSegments() | RequireEqual() | Awhile():",
        "case Scatter() | FoldSegments() | ScanSegments() | RequireEqual() | Awhile():",
        (_LOOPS,),
    ),
    Fault(
        "what is computed from extents is an extent",
        "labelled/passes/may_fail.py",
        "if isinstance(statement, Compute) and statement.operator in _CHOOSING and all(map(holds, statement.arguments)):",
        "if isinstance(statement, Compute) and all(map(holds, statement.arguments)):",
        (_LOOPS, "tests/labelled/test_may_fail.py"),
    ),
    Fault(
        "what may fail leaves a loop that may not run",
        "labelled/passes/invariants.py",
        "if self.names.needs(binding) <= known and (certain or not may_fail(binding, there, self.sizes)):",
        "if self.names.needs(binding) <= known:",
        (_LOOPS,),
    ),
    Fault(
        "what depends on a loop's state leaves it",
        "labelled/passes/dependence.py",
        "return needed - inside",
        "return needed - inside if len(needed) > 1 else set()",
        (_LOOPS,),
    ),
    Fault(
        "a rigid size is substituted",
        "labelled/sizes.py",
        "if gone.variable in self.flexible and gone.variable is not None and offset >= 0 and self._settled(kept):",
        "if gone.variable is not None and offset >= 0 and self._settled(kept):",
        (_SIZES,),
    ),
    Fault(
        "a size may be substituted by less than nothing",
        "labelled/sizes.py",
        "and gone.variable is not None and offset >= 0 and self._settled(kept):",
        "and gone.variable is not None and self._settled(kept):",
        (_SIZES,),
    ),
    Fault(
        "a substitution forgets the offset",
        "labelled/sizes.py",
        "variable, offset = found.variable, offset + found.offset",
        "variable, offset = found.variable, offset",
        (_SIZES,),
    ),
    Fault(
        "a reshape moves over a map that looks at its index",
        "labelled/passes/shapes/whole_folds.py",
        "return variables_used(function.body).isdisjoint(function.parameters[:rank])",
        "return True",
        ("tests/labelled/test_reshapes.py::test_a_map_that_looks_at_its_index_keeps_its_shape",),
    ),
    Fault(
        "a fold takes a view from its other readers",
        "labelled/passes/shapes/whole_folds.py",
        "if self._shapes.pop(array, None) is not None:",
        "if array not in self._shapes:",
        ("tests/labelled/test_whole_folds.py::test_a_view_that_others_read_stays",),
    ),
    Fault(
        "an index into rows that were cut counts rows of another extent",
        "labelled/passes/shapes/renamed_index.py",
        "Compute(row, Operator.MUL, (place, shape[dimension]))",
        "Compute(row, Operator.MUL, (place, shape[group[0]]))",
        ("tests/labelled/test_whole_folds.py::test_results",),
    ),
    Fault(
        "a load stands where it is not certain to be wanted",
        "labelled/construction/regions.py",
        "and (not self._demanding[node] or _certain(meet, group)):",
        "and (not self._demanding[node] or bool(group)):",
        ("tests/labelled/test_regions.py",),
    ),
    Fault(
        "sums of floats are exact",
        "labelled/algebra.py",
        "exact = exact and (not kind.is_float or operator in (Operator.MIN, Operator.MAX))",
        "exact = exact and (not kind.is_float or operator in (Operator.MIN, Operator.MAX, Operator.ADD))",
        (_SIMPLIFY,),
    ),
    Fault(
        "the second leaf of an inlined map is the first",
        "labelled/passes/inline.py",
        "self._replaced[load.out] = results[self._place(load)]",
        "self._replaced[load.out] = results[0]",
        ("tests/ilp/test_recomputed_programs.py::test_results_have_the_same_bits", "tests/labelled/test_inline.py"),
    ),
    Fault(
        "the reference joins lanes with their neighbours",
        "labelled/meaning/order.py",
        "lane[i] = combine(lane[i], lane[i + half])",
        "lane[i] = combine(lane[i + half], lane[i])",
        ("tests/labelled/test_documents.py", "tests/llvm/test_folds.py::test_pairs_without_a_neutral_element"),
    ),
    Fault(
        "the reference scans from the right with the operands of the left",
        "labelled/meaning/interpret.py",
        "results = list(order.scan(visited, flipped if right else combine, seed))",
        "results = list(order.scan(visited, combine, seed))",
        (f"{_NUMPY}::test_scans_keep_the_sides_of_their_operands",),
    ),
    Fault(
        "the reference moves a loop's state part by part",
        "labelled/meaning/evaluate.py",
        "for target, value in zip(targets, [values[source] for source in sources], strict=True):",
        "for target, value in zip(targets, (values[source] for source in sources), strict=True):",
        ("tests/labelled/test_evaluate.py::test_parts_of_a_state_change_places",),
    ),
    Fault(
        "the verifier of `labelled` forgets what scatters destroyed",
        "labelled/verify.py",
        "self.arrays.difference_update(described.read(Role.DESTINATION))",
        "self.arrays.difference_update(())",
        (_VERIFY,),
    ),
    Fault(
        "the verifier lets names out of loops",
        "labelled/verify.py",
        "self.arrays, self.sizes = arrays, sizes",
        "self.sizes = sizes",
        (_VERIFY,),
    ),
    Fault(
        "a scatter that is rebuilt mixes up what it keeps and where",
        "labelled/operations.py",
        "second = first + (keep is not None)",
        "second = first",
        (_OPERATIONS,),
    ),
    Fault(
        "the seed of a fold is not described",
        "labelled/operations.py",
        "return (combine,) if initial is None else (combine, initial)",
        "return (combine,)",
        (_OPERATIONS,),
    ),
    Fault(
        "the indices of a gather are gathered",
        "labelled/operations.py",
        "reads = _as(Role.STREAM, indices) + _as(Role.SOURCE, inputs)",
        "reads = _as(Role.SOURCE, indices + inputs)",
        (_OPERATIONS,),
    ),
)
