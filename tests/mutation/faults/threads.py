"""Faults of what threads share: claims of chunks, copies of targets, chunks without a pool, and what is made once."""

from __future__ import annotations

from tests.mutation.fault import Fault

_CLAIMS = "backends/llvm/templates/chain_claims.py"
_COPIES = "backends/llvm/templates/copies.py"
_CHAINS = "tests/llvm/test_chains.py"
_TARGETS = "tests/llvm/test_copies.py"

FAULTS = (
    Fault(
        "chunks of a gap are taken twice",
        _CLAIMS,
        'f"select i1 {in_gap}, i64 {last}, i64 {code.emit(',
        'f"select i1 {in_gap}, i64 {low}, i64 {code.emit(',
        (_CHAINS,),
    ),
    Fault(
        "chunks behind all that are taken are taken twice",
        _CLAIMS,
        'code.emit(f"select i1 {in_gap}, i64 {number}, i64 {last}"),',
        'code.emit(f"select i1 {in_gap}, i64 {number}, i64 {first}"),',
        (_CHAINS,),
    ),
    Fault(
        "copies of targets begin with zeros",
        _COPIES,
        "unused = code.emit(f\"icmp eq i64 {routine.load('i64', routine.offset(line, 1))}, 0\")",
        "unused = code.emit(f\"icmp eq i64 {routine.load('i64', routine.offset(line, 1))}, 7\")",
        (_TARGETS,),
    ),
    Fault(
        "one thread combines what the targets hold with what is neutral",
        _COPIES,
        "with routine.when(code.emit(f\"and i1 {unused}, {code.emit(f'xor i1 {given}, true')}\")):",
        "with routine.when(unused):",
        (_TARGETS,),
    ),
    Fault(
        "the last copy of targets is not combined",
        _COPIES,
        'with routine.count("1", workers) as number:',
        'with routine.count("2", workers) as number:',
        (_TARGETS,),
    ),
    Fault(
        "two threads have the same copy of the targets",
        _COPIES,
        'routine.branch(code.emit(f"icmp eq i64 {before}, 0"), taken, next_)',
        'routine.branch(code.emit(f"icmp sge i64 {before}, 0"), taken, next_)',
        (_TARGETS,),
    ),
    Fault(
        "a worker says that it is done before what it has stored past the caches is seen",
        "backends/llvm/threads/worker_text.py",
        "  {fence}\n",
        "",
        ("tests/llvm/test_rows_from_lines.py::test_other_threads_see_what_went_past_the_caches",),
    ),
    Fault(
        "without a pool the last chunk is as long as others",
        "backends/llvm/threads/run_text.py",
        "%high = select i1 %short, i64 %top, i64 %n",
        "%high = select i1 %short, i64 %top, i64 %top",
        ("tests/llvm/test_without_pool.py", "tests/llvm/test_guard_pages.py"),
    ),
    Fault(
        "a copy on several threads goes on behind its end",
        "backends/llvm/threads/copy_text.py",
        "%end = select i1 %last, i64 %bytes, i64 %full",
        "%end = select i1 %last, i64 %full, i64 %full",
        ("tests/llvm/test_parts_of_copies.py",),
    ),
    Fault(
        "there is code for arguments of any number of layouts",
        "backends/llvm/calls/spread.py",
        "if spreads not in self._made and len(self._made) < MOST:",
        "if spreads not in self._made:",
        ("tests/llvm/test_spreads.py::test_there_is_code_for_a_few_layouts_only",),
    ),
    Fault(
        "code that was cut is code",
        "backends/llvm/calls/code.py",
        "if start != len(rest):",
        "if start < 0:",
        ("tests/run/test_kept_programs.py",),
    ),
    Fault(
        "what is made once is made by each thread that asks",
        "support/forks.py",
        "    def _fill(self) -> None:\n        if not self._made:",
        "    def _fill(self) -> None:\n        if True:",
        ("tests/test_once.py",),
    ),
)
