"""Faults of the stage `ir`: where arrays live in a nest, order of statements, clean-up, evaluator, verifier, counts."""

from __future__ import annotations

from tests.mutation.fault import Fault

_LOWER = ("tests/ir/test_lower.py", "tests/ir/test_failures.py")
_CLUSTERINGS = "tests/ir/test_clusterings.py"
_FACTS = "tests/ir/test_facts.py"
_VERIFY = "tests/ir/test_verify.py"

FAULTS = (
    Fault(
        "what is found apart is loaded once more",
        "ir/passes/apart.py",
        "_slice(results, statement.function.body.statements, frozenset(given))",
        "_slice(results, statement.function.body.statements, frozenset())",
        ("tests/ir/test_apart.py::test_tiles_take_them",),
    ),
    Fault(
        "a position is divided from the wrong end",
        "ir/passes/digits.py",
        "for extent in reversed(extents[1:]):",
        "for extent in extents[1:]:",
        ("tests/ir/test_digits.py::test_digits_of_positions",),
    ),
    Fault(
        "the longer of two aligned loops is not taken",
        "ir/lowering/frame.py",
        "if extent.offset > known.offset:",
        "if extent.offset < known.offset:",
        _LOWER,
    ),
    Fault(
        "a shorter array in a downward loop is not moved",
        "ir/lowering/frame.py",
        "shift = loop.extent.offset - extent.offset",
        "shift = 0",
        _LOWER,
    ),
    Fault(
        "what a filter keeps may be as many as one row",
        "ir/lowering/frame.py",
        "pending += reversed(_input_shape(inner[0]))",
        "pending += _input_shape(inner[0])[-1:]",
        _LOWER,
    ),
    Fault(
        "two loops stand at one depth",
        "ir/lowering/frame.py",
        "if known.variable != extent.variable:",
        "if known.variable is None:",
        (f"{_VERIFY}::test_loops_over_different_extents",),
    ),
    Fault(
        "a loop needs what is made after it",
        "ir/lowering/arrange.py",
        "if any(makers.get(name) in late for name in wanted):",
        "if any(makers.get(name) in late and name == '' for name in wanted):",
        (_VERIFY,),
    ),
    Fault(
        "scatters are dead code",
        "ir/lowering/simplify.py",
        "if isinstance(statement, Write | Scatter))",
        "if isinstance(statement, Write))",
        _LOWER,
    ),
    Fault(
        "every backpermute stays inside",
        "ir/lowering/elementwise.py",
        "return _mapped(binding, source, operation.inputs, reads_inside(binding), statements, traversal, frame)",
        "return _mapped(binding, source, operation.inputs, True, statements, traversal, frame)",
        ("tests/ir/test_failures.py",),
    ),
    Fault(
        "a scatter writes what it is told to leave out",
        "ir/lowering/elementwise.py",
        "guard = names.kept(binding.label)\n        kept = OneToMaybe(guard,",
        "kept = OneToMaybe(names.kept(binding.label),",
        _LOWER,
    ),
    Fault(
        "a fold steps where nothing is",
        "ir/lowering/reductions.py",
        "step = ManyToOne(state.name, elements(operation.inputs, traversal), when=inner.guard)",
        "step = ManyToOne(state.name, elements(operation.inputs, traversal))",
        (_CLUSTERINGS, *_LOWER),
    ),
    Fault(
        "a scan from the right combines as one from the left",
        "ir/lowering/reductions.py",
        "return Function((*combine.parameters[half:], *combine.parameters[:half]), combine.body)",
        "return Function((*combine.parameters[:half], *combine.parameters[half:]), combine.body)",
        _LOWER,
    ),
    Fault(
        "a filter counts rows that are not there",
        "ir/lowering/reductions.py",
        "count_state = counter(elements((counts,), traversal)[0], False, row.guard)",
        "count_state = counter(elements((counts,), traversal)[0], False, None)",
        ("tests/ir/test_guards.py",),
    ),
    Fault(
        "a scan from the right runs upwards",
        "ir/lowering/cluster.py",
        "return LoopDirection.UP if end is Direction.LEFT else LoopDirection.DOWN",
        "return LoopDirection.UP",
        _LOWER,
    ),
    Fault(
        "inexact folds run in any direction",
        "ir/lowering/cluster.py",
        "case Fold(inputs=inputs, monoid=Monoid(exact=False)):",
        "case Fold(inputs=inputs, monoid=Monoid(exact=True)):",
        (f"{_VERIFY}::test_a_sum_that_would_run_backward",),
    ),
    Fault(
        "the evaluator combines the seed on the right",
        "ir/meaning/nest_run.py",
        "return total if self._seed is None else self._combine(self._seed, total)",
        "return total if self._seed is None else self._combine(total, self._seed)",
        (*_LOWER, _CLUSTERINGS),
    ),
    Fault(
        "the evaluator folds nothing to nothing",
        "ir/meaning/nest_run.py",
        "elif not state.running:",
        "elif state.running:",
        ("tests/ir/test_failures.py",),
    ),
    Fault(
        "the verifier lets streams out of their guards",
        "ir/verify.py",
        '_require(wanted is None or guard == wanted, f"{stream.name} is used where it need not exist")',
        "_require(True, stream.name)",
        (_VERIFY,),
    ),
    Fault(
        "the verifier lets a state be stepped twice",
        "ir/verify.py",
        "if stepped != Counter(state.name for state in states(nest)):",
        "if stepped.keys() != {state.name for state in states(nest)}:",
        (_VERIFY,),
    ),
    Fault(
        "the verifier forgets what scatters destroyed",
        "ir/verify.py",
        "visible -= gone",
        "visible -= set()",
        (_VERIFY,),
    ),
    Fault(
        "a read of a row counts the whole array",
        "ir/facts.py",
        "() if same else array.shape if self._is_own(array, index, extents) else extents",
        "() if same else array.shape",
        (_FACTS,),
    ),
    Fault(
        "elements that are dropped are written where no two are one",
        "ir/lowering/elementwise.py",
        "Write(array, outs, value, guard)",
        "Write(array, outs, value, at.guard)",
        ("tests/llvm/test_unique.py",),
    ),
)
