"""Faults of arrays of the caller's that results are written to: `out` and `donate`."""

from __future__ import annotations

from tests.mutation.fault import Fault

_OUTPUTS = "tests/run/test_outputs.py"
_DONATIONS = "tests/run/test_donations.py"

FAULTS = (
    Fault(
        "an array among the parts of an argument may be written to",
        "calling/outputs.py",
        "if share([array], flatten(argument)):",
        "if share([array], [argument]):",
        (_OUTPUTS,),
    ),
    Fault(
        "results are written to arrays that are read",
        "calling/known.py",
        "if np.may_share_memory(room, other):",
        "if False:",
        (_OUTPUTS,),
    ),
    Fault(
        "what is read elsewhere is taken",
        "calling/known.py",
        "if np.may_share_memory(given, other):",
        "if False:",
        (_DONATIONS,),
    ),
    Fault(
        "an array among the parts of another argument may be donated",
        "calling/asked.py",
        "if other != number and share([array], flatten(argument)):",
        "if other != number and share([array], [argument]):",
        (_DONATIONS,),
    ),
    Fault(
        "an array that another argument gives is taken, or written to while it is read",
        "calling/kinds.py",
        "        else:\n            return None\n",
        "        else:\n            kinds.append((np.asarray(argument).dtype, 1))\n",
        (_DONATIONS, _OUTPUTS),
    ),
    Fault(
        "what a call with an array on a device gives lies on the host",
        "calling/known.py",
        "any(on_device(kind) for kind in kinds)",
        "False",
        ("tests/run/test_later_calls.py",),
    ),
    Fault(
        "an array on a device is one of NumPy's",
        "calling/kinds.py",
        "kinds.append((argument.element, argument.ndim, records_of(argument.element)))",
        "kinds.append((argument.dtype, argument.ndim))",
        ("tests/run/test_later_calls.py",),
    ),
    Fault(
        "arrays on a device are told apart by what is computed alone",
        "calling/kinds.py",
        "argument.ndim, records_of(argument.element)",
        "argument.ndim, None",
        ("tests/run/test_later_calls.py",),
    ),
    Fault(
        "what is donated is taken before arrays for the results were looked at",
        "calling/asked.py",
        "if self.out is not None:\n            return (self.out,)",
        "if self.out is not None and not self.donate:\n            return (self.out,)",
        (_DONATIONS,),
    ),
    Fault(
        "a call takes what others have found under their settings",
        "execution.py",
        "        return ways[0]  # whatever",
        "        return self._ways[0]  # whatever",
        ("tests/run/test_later_calls.py",),
    ),
)
