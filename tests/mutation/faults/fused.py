"""Faults of the stage `fusedast`: rules of fusion, signatures, trees, verifier, evaluator."""

from __future__ import annotations

from tests.mutation.fault import Fault

_RULES = "tests/fusedast/test_rules.py"
_VERIFY = "tests/fusedast/test_verify.py"
_CLUSTERINGS = "tests/ir/test_clusterings.py"

FAULTS = (
    Fault(
        "what is made in one order is read in another",
        "fusedast/rules.py",
        "if port.array in made:",
        "if port.array in made and port.traversal is None:",
        (_RULES,),
    ),
    Fault(
        "the second half makes what the first one reads",
        "fusedast/rules.py",
        "if any(port.array in later for port in first.inputs):",
        "if any(port.array in later and port in second.inputs for port in first.inputs):",
        (_RULES,),
    ),
    Fault(
        "halves without a common array are joined",
        "fusedast/rules.py",
        "if not fused and not shared:",
        "if not fused and not shared and not first.inputs:",
        (_RULES,),
    ),
    Fault(
        "what others need is discarded",
        "fusedast/rules.py",
        "kept = tuple(array for array in bound if array in needed)",
        "kept = tuple(array for array in bound if array in needed)[:0]",
        (_RULES, _CLUSTERINGS),
    ),
    Fault(
        "a gather reads its sources in its own order",
        "fusedast/ports.py",
        "at = {Role.STREAM: traversal, Role.SOURCE: Traversal(own, False)}",
        "at = {Role.STREAM: traversal, Role.SOURCE: traversal}",
        (_RULES, _CLUSTERINGS),
    ),
    Fault(
        "what is needed whole is made in the order of a gather",
        "fusedast/build.py",
        "if order is not None and port.array in needed and order not in whole:",
        "if order is not None and port.array not in needed and order not in whole:",
        (_RULES,),
    ),
    Fault(
        "the verifier takes any signature",
        "fusedast/verify.py",
        "if (node.signature.inputs, node.signature.outputs) != (merged.inputs, outputs):",
        "if node.signature.inputs != merged.inputs:",
        (_VERIFY,),
    ),
    Fault(
        "the verifier sees what was fused away",
        "fusedast/verify.py",
        "visible.update(results)",
        "visible.update(results, *(b.arrays for b in bindings))",
        (_VERIFY,),
    ),
    Fault(
        "the evaluator keeps what is fused away",
        "fusedast/interpret.py",
        "for array in made.difference(results):",
        "for array in made.difference(results, made):",
        ("tests/fusedast/test_verify.py",),
    ),
    Fault(
        "the evaluator takes the other branch",
        "fusedast/interpret.py",
        "branch = then if environment.arrays[condition].item() else orelse",
        "branch = orelse if environment.arrays[condition].item() else then",
        ("tests/ir/test_control.py",),
    ),
)
