"""The same by CuPy and PyTorch, where they are installed and see a GPU: seconds on the device, by its own events."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from benchmarks.gpu.cases import Arrays

NAMES = ("cupy", "torch")

_ROUNDS = 6


def present() -> list[ModuleType]:
    """Those that can be asked."""
    found = []
    for name in NAMES:
        try:
            module = import_module(name)
            there = module.cuda.is_available() if name == "torch" else module.cuda.runtime.getDeviceCount() > 0
        except Exception:  # not installed, or for another driver: each has errors of its own
            continue
        if there:
            found.append(module)
    return found


def seconds(module: ModuleType, function: Callable[..., object], arrays: Arrays) -> float:
    """The quickest of some calls, on arrays that are on the device already."""
    is_torch = module.__name__ == "torch"
    there = [module.from_numpy(array).cuda() if is_torch else module.asarray(array) for array in arrays]
    return min(_once(module, is_torch, lambda: function(module, *there)) for _ in range(_ROUNDS))


def _once(module: ModuleType, is_torch: bool, call: Callable[[], object]) -> float:
    given: dict[str, Any] = {"enable_timing": True} if is_torch else {}  # Any: arguments of the module's
    begin, end = module.cuda.Event(**given), module.cuda.Event(**given)
    begin.record()
    call()
    end.record()
    end.synchronize()
    elapsed: float = begin.elapsed_time(end) if is_torch else module.cuda.get_elapsed_time(begin, end)
    return elapsed * 1e-3
