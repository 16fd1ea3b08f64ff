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
        "later calls write to arrays that they read",
        "calling/writing.py",
        "or np.may_share_memory(room, other)",
        "or False",
        (_OUTPUTS,),
    ),
    Fault(
        "later calls take what they read elsewhere",
        "calling/writing.py",
        "or np.may_share_memory(given, other)",
        "or False",
        ("tests/run/test_donations.py",),
    ),
    Fault(
        "an array that an argument gives is written while it is read",
        "execution.py",
        "share(rooms, given)",
        "share(rooms, found.constants)",
        (_OUTPUTS,),
    ),
    Fault(
        "an array among the parts of another argument may be donated",
        "calling/donations.py",
        "if other != number and share([array], flatten(argument)):",
        "if other != number and share([array], [argument]):",
        (_DONATIONS,),
    ),
    Fault(
        "an array that another argument gives is taken",
        "execution.py",
        "for n in own if not share(hosts[n].data, others))",
        "for n in own)",
        (_DONATIONS,),
    ),
)
