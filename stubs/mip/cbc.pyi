"""CBC's own parameters: the part that accel uses."""

from mip import Solver

def cbc_set_parameter(model: Solver, param: str, value: str) -> None: ...

cbclib: object
