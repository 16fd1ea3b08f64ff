"""`python -m accel explain FILE:FUNCTION`, and `python -m accel explain FILE`, which lists the functions of a file."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from accel.ast.handles.acc import Acc
from accel.ast.handles.habits.values import is_function
from accel.commands.programs import programs
from accel.errors import AccelError
from accel.explanation.explain import explain as explanation_of
from accel.explanation.explanation import Explanation
from accel.support.choices import Strategy
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """What to print: a stage's text, or the graph in some language; else the report. html: where to write the page."""

    stage: str | None = None
    graph: str | None = None
    html: str | None = None


class _Wrong(Exception):
    """What is wrong with the arguments, in a line."""


def explain(target: str, strategy: Strategy, shown: Shown) -> int:
    """Print how a function in a file is fused; its `Acc` parameters must be annotated, for there are no arguments here.

    Of a file alone, print what in it can be explained.
    """
    try:
        if Path(target).is_file() and shown == Shown():
            print(_list(target))
        else:
            print(_output(_explained(target, strategy), shown))
    except _Wrong as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _list(path: str) -> str:
    """The programs of a file, and how to choose one."""
    found = programs(_imported(path))
    if not found:
        raise _Wrong(f"{path} has nothing to explain: no function of it has a parameter that is annotated as an `Acc`")
    named = next((each.name for each in found if not each.problem), found[0].name)
    choice = f"python -m accel explain {path}:{named}"
    return "\n".join([f"{path} has", "", *map(str, found), "", f"To explain one of them: {choice}"])


def _explained(target: str, strategy: Strategy) -> Explanation:
    if Path(target).is_file():
        known = [each.name for each in programs(_imported(target)) if not each.problem]
        raise _Wrong(
            f"which function of {target}? Write {' or '.join(f'{target}:{name}' for name in known) or 'its name'}"
        )
    path, _, name = target.rpartition(":")
    if not path or not name or not Path(path).is_file():
        raise _Wrong(f"{target!r} does not name a file and a function in it, as examples/dotp.py:dotp does")
    module = _imported(path)
    if not hasattr(module, name):
        others = ", ".join(each.name for each in programs(module))
        raise _Wrong(f"{path} has no {name!r}{others and f'; it has {others}'}")
    program = getattr(module, name)
    if not is_function(program) and not isinstance(program, Acc | tuple):
        raise _Wrong(f"{name} in {path} is no function: it is of type {type(program).__name__}")
    try:
        return explanation_of(program, strategy=strategy)
    except AccelError:
        raise
    except Exception as error:  # the user's function runs to be explained
        raise _Wrong(f"{name} raised {_told(error, path)}") from None


def _output(explanation: Explanation, shown: Shown) -> str:
    """What is to be printed; the page is written."""
    if shown.stage is not None and shown.stage not in explanation.stages:
        raise _Wrong(f"there is no stage {shown.stage!r}; there are {', '.join(explanation.stages)}")
    if shown.html is not None:
        explanation.to_html(shown.html)
    if shown.stage is not None:
        return explanation.stages[shown.stage]
    match shown.graph:
        case "dot":
            return explanation.to_dot()
        case "mermaid":
            return explanation.to_mermaid()
        case "svg":
            return explanation.to_svg()
        case _:
            return str(explanation) if shown.html is None else f"{shown.html} explains {explanation.name}"


def _imported(path: str) -> ModuleType:
    """The file as a module, which finds what lies beside it, as if Python ran it."""
    spec = importlib.util.spec_from_file_location(f"explained.{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise _Wrong(f"{path} is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # annotations are looked up there
    beside = str(Path(path).resolve().parent)
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _Wrong(f"{path} cannot be imported: it raised {_told(error, path)}") from None
    finally:
        sys.path.remove(beside)
    return module


def _told(error: BaseException, path: str) -> str:
    """An exception in a line: what, where in the user's file, and its text."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    text = str(error)
    return f"{type(error).__name__}{f' at line {lines[-1]}' if lines else ''}{f': {text}' if text else ''}"
