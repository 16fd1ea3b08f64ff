"""The program's text in every stage, and the text of one nest in the last ones; made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.nodes import ArrayNode
from accel.ast.tree.text import text as ast_text
from accel.compile import Stages
from accel.explanation.why.lazy import Lazy
from accel.ilp.optimise import asked, models
from accel.ilp.problem.build import build as build_graph
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.text import graph_text, model_text
from accel.ir import nodes as ir
from accel.ir.text import nest_text
from accel.labelled.nodes import Program
from accel.passes import Step
from accel.schedule.machine import PROCESSOR, Machine, WorkItems
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import ProgramSchedules
from accel.schedule.templates.ways import text as schedules_text
from accel.support.forks import load


def texts(
    nodes: Sequence[ArrayNode], program: Program, staged: Stages, steps: Mapping[str, Step], options: Options
) -> Mapping[str, str]:
    """Stage name to text: `ast labelled graph model fusedast ir schedule llvm opencl`.

    program: what was planned, with `options`; its graph and model are those of the search, in which stencils take nothing in.
    From `labelled` on, what the plan recomputes stands in the program. The text of `ast` is made at once: nodes hold the
    user's arrays, explanations are kept.
    """
    of_nodes = ast_text(tuple(nodes))

    def graph() -> Graph:
        return build_graph(program, options.recomputes)

    return Lazy(
        {
            "ast": lambda: of_nodes,
            "labelled": steps["plan"].show,
            "graph": lambda: graph_text(graph()),
            "model": lambda: _model(graph(), options),
            "fusedast": steps["fusedast"].show,
            "ir": steps["ir"].show,
            "schedule": steps["schedule"].show,
            "llvm": lambda: _llvm(staged.loops, staged.schedules),
            "opencl": lambda: _opencl(staged.loops, staged.schedules),
        }
    )


def _model(graph: Graph, options: Options) -> str:
    """The integer linear programs in LP format, for each part that can be clustered by itself and each level of the cost."""
    options = options.stored
    if options.model is None:
        return "\\ a cost function has no model"
    problem = asked(graph, options.model, Weights(graph, options.extents), options)
    if problem.facts is None:
        return "\\ too large for a model: clustered by greedy"
    lines = []
    for part, model in models(problem, options):
        for number, level in enumerate(problem.model):
            title = f"\\ {', '.join(f'%{label}' for label in part)}; level {number + 1}: {level}"
            lines.append(f"{title}\n{model_text(model, number)}")
    return "\n\n".join(lines) or "\\ there is nothing to decide"


def code(nest: ir.Nest, machine: Machine) -> Mapping[str, str]:
    """One nest as `ir`, `schedule`, `llvm` and `opencl`: the program that is this nest alone. `machine`: of its schedules."""
    alone = ir.Program((), (ir.Launch(nest),), ())
    made = program_schedules(alone, machine)
    return Lazy(
        {
            "ir": lambda: nest_text(nest),
            "schedule": lambda: schedules_text(made),
            "llvm": lambda: _llvm(alone, made),
            "opencl": lambda: _opencl(alone, made),
        }
    )


def _on(machine: Machine, loops: ir.Program, made: ProgramSchedules) -> ProgramSchedules:
    """The schedules for a machine, given those for one."""
    return made if made.machine == machine else program_schedules(loops, machine)


def _llvm(loops: ir.Program, made: ProgramSchedules) -> str:
    load("accel.backends.llvm.backend")
    from accel.backends.llvm.backend import llvm_text  # llvmlite is loaded only for those who ask

    return llvm_text(_on(PROCESSOR, loops, made))


def _opencl(loops: ir.Program, made: ProgramSchedules) -> str:
    load("accel.backends.opencl.program")
    from accel.backends.opencl.program import opencl_text

    return opencl_text(_on(WorkItems(), loops, made))
