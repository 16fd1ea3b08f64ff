"""`python -m accel explain FILE:FUNCTION`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from accel.explanation.explain import explain as explanation_of
from accel.ilp.options import Strategy


def explain(target: str, strategy: Strategy, stage: str | None) -> int:
    """Print how a function in a file is fused; its `Acc` parameters must be annotated, for there are no arguments here."""
    path, _, name = target.rpartition(":")
    if not path or not Path(path).is_file():
        print(f"{target!r} does not name a file and a function in it, as examples/dotp.py:dotp does", file=sys.stderr)
        return 1
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None, "a .py file has a loader"
    assert spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # annotations are looked up there
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        print(f"{path} has no {name!r}", file=sys.stderr)
        return 1
    report = explanation_of(getattr(module, name), strategy=strategy)
    if stage is not None and stage not in report.stages:
        print(f"there is no stage {stage!r}; there are {', '.join(report.stages)}", file=sys.stderr)
        return 1
    print(report if stage is None else report.stages[stage])
    return 0
