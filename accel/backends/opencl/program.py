"""The OpenCL C of a whole loop program: all kernels of all its nests in one text, because building costs most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import NestKernels, Scaffold
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.loops.gpu.row_series import SeriesKernels
from accel.backends.opencl.loops.schedule import kernels, series_kernels
from accel.backends.opencl.machine.features import Features
from accel.backends.opencl.machine.positions import spelled, typedefs
from accel.schedule.templates.ways import ProgramSchedules
from accel.support.dataclass import dataclass

PLAIN = Features(fp64=True, rounded_division=True, atomics64=True)
"""A device that has everything: the one that `explain` shows code for where none is there."""


_INTEL = """#ifdef cl_intel_vec_len_hint
#define SERIAL __attribute__((intel_vec_len_hint(1)))
#define ONES(type) ((type)(get_global_offset(2) - 1))
#define UNSEEN(type, x) ((x) ^ (type)get_global_offset(2))
#else
#define SERIAL
#define ONES(type) ((type)-1)
#define UNSEEN(type, x) (x)
#endif"""
"""What Intel's compiler for CPUs must be told. SERIAL stands before kernels whose work-items walk far apart: it would make
vectors of neighbours, and only gathers. It stands before kernels with a `while` loop that divides integers, too: making vectors
of some of those, it ends the process (2026.2). Where it makes no vectors, minima and maxima of 32 and 64 bits come out wrong
beside complements (also `-1 - x`) on processors with AVX-512. ONES are all bits, and UNSEEN is a number, behind the offset in a
dimension that no launch has: it is 0, which it cannot know, so it sees neither a complement nor, in `a < UNSEEN(b) ? a : b`, a
minimum."""


@dataclass(frozen=True, slots=True)
class Translation:
    """All functions, what was made of each nest, in their order, and of those series whose rows local memory has room for."""

    text: str
    nests: Sequence[NestKernels]
    series: Sequence[SeriesKernels]


def translate(schedules: ProgramSchedules, features: Features) -> Translation:
    """All nests of a program, and its series."""
    context = Context(features, Prelude())
    made = [
        kernels(Scaffold(each.nest, f"nest{number}", context), each.ways) for number, each in enumerate(schedules.nests)
    ]
    together = [series_kernels(each, f"series{number}_rows", context) for number, each in enumerate(schedules.series)]
    series = [each for each in together if each is not None]
    texts = []
    for what, every in (("nest", made), ("series", [each.made for each in series])):
        for number, each in enumerate(every):
            texts.append(f"// {what}{number}: {each.schedule}")
            texts += [kernel.text for kernel in each.kernels]
    return Translation("\n".join([context.prelude.text, *texts]), made, series)


def unit(functions: Iterable[str], features: Features, *, narrow: bool = False) -> str:
    """A compilation unit: pragmas, then functions. No contraction of a * b + c, on any device."""
    extensions = ["cl_khr_fp64"] if features.fp64 else []
    if features.atomics64:
        extensions += ["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"]
    head = [f"#pragma OPENCL EXTENSION {name} : enable" for name in extensions]
    head += ["#pragma OPENCL FP_CONTRACT OFF", _INTEL, *typedefs(features, narrow=narrow)]
    return "\n".join([*head, spelled("\n".join([*functions, ""]), features)])


def opencl_text(schedules: ProgramSchedules, features: Features = PLAIN) -> str:
    """The OpenCL C of a program; a line before each nest says how it runs."""
    return unit([translate(schedules, features).text], features, narrow=features.narrow_positions is not None)
