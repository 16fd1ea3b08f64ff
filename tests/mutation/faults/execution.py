"""Faults of running programs: settings, caches and their keys, files, places in errors."""

from __future__ import annotations

from tests.mutation.fault import Fault

_RUN = "tests/run/test_run.py"
_PLACES = "tests/run/test_places.py"
_SETTINGS = "tests/test_settings.py"
_DISK = "tests/test_disk.py"
_CHECKS = "tests/run/test_checks.py"
_NANS = "tests/run/test_nans.py"
_PROFILE = "tests/profiling/test_profile.py"
_PROGRESS = "tests/test_progress.py"

FAULTS = (
    Fault(
        "directories that others may write to hold plans",
        "support/disk.py",
        "if status.st_mode & 0o022:",
        "if status.st_mode & 0o002:",
        ("tests/test_disk.py",),
    ),
    Fault(
        "directories of others hold plans",
        "support/disk.py",
        "if status.st_uid != os.getuid():",
        "if False:",
        ("tests/test_disk.py",),
    ),
    Fault(
        "a fork waits for no compiler",
        "backends/llvm/machine/target.py",
        "with FORKS.lock:\n            module = self._module(text)\n            try:\n                if quick:",
        "if text:\n            module = self._module(text)\n            try:\n                if quick:",
        ("tests/llvm/test_fork.py",),
    ),
    Fault(
        "a cache has no bound",
        "support/cache.py",
        "if len(self._values) > self._capacity:",
        "if False:",
        ("tests/test_cache.py",),
    ),
    Fault(
        "what was used last is forgotten first",
        "support/cache.py",
        "key=lambda item: item[1].used)",
        "key=lambda item: -item[1].used)",
        ("tests/test_cache.py",),
    ),
    Fault(
        "errors are pickled without their place",
        "errors.py",
        "return _made_again, (type(self), *self.args), self.__dict__",
        "return _made_again, (type(self), *self.args), {}",
        ("tests/issues/test_errors_in_process_pools.py",),
    ),
    Fault(
        "small results keep large blocks",
        "backends/llvm/device.py",
        "return block is None or 2 * array.nbytes >= block.nbytes",
        "return block is None or block.nbytes >= array.nbytes",
        ("tests/run/test_results.py",),
    ),
    Fault(
        "programs with other names in their errors share code",
        "building.py",
        '        names(program, every=settings.checks == "all"),\n',
        "        (),\n",
        (_PLACES,),
    ),
    Fault(
        "programs that are checked for NaNs share the names of combinators",
        "building.py",
        'names(program, every=settings.checks == "all")',
        "names(program)",
        (_NANS,),
    ),
    Fault(
        "memory behind what a filter keeps is checked for NaNs",
        "backends/checks.py",
        "found[size] = int(device.scalar(_held(buffers[slot]), ScalarType.I64))",
        "found[size] = max(found)",
        (_NANS,),
    ),
    Fault(
        "a scatter is blamed for the NaN of its destination",
        "backends/checks.py",
        "            if known:",
        "            if False:",
        (_NANS,),
    ),
    Fault(
        "the division of a branch that is not taken is a fault",
        "labelled/meaning/divisions.py",
        "if operator is Operator.SELECT and not isinstance(operands[0], Undefined):",
        "if False:",
        (_CHECKS,),
    ),
    Fault(
        "extents may be divided by zero whatever is checked",
        "backends/instructions.py",
        "if isinstance(around, LooksAtExtents):",
        "if False:",
        (_CHECKS,),
    ),
    Fault(
        "targets may be given twice whatever is checked",
        "backends/checks.py",
        "if has_unique_targets(operation):",
        "if False:",
        (_CHECKS,),
    ),
    Fault(
        "a NaN of an operand is blamed on its reader",
        "labelled/meaning/nans.py",
        "if not any(has_nan(load(other)) for other in floats(read)):",
        "if True:",
        (_NANS,),
    ),
    Fault(
        "a filter's profile counts what it might keep",
        "profiling/clock.py",
        "known[size] = int(device.scalar(found, ScalarType.I64))",
        "known[size] = max(known)",
        (_PROFILE,),
    ),
    Fault(
        "a profile adds up its runs",
        "profiling/clock.py",
        "self._tallies = {label: Tally() for label in self._labels}",
        "self._tallies = self._tallies or {label: Tally() for label in self._labels}",
        (_PROFILE,),
    ),
    Fault(
        "forked children write lines of progress",
        "support/progress.py",
        'os.environ.get("ACCEL_PROGRESS") == "0" or FORKS.generation',
        'os.environ.get("ACCEL_PROGRESS") == "0"',
        (_PROGRESS,),
    ),
    Fault(
        "a line of progress stays",
        "support/progress.py",
        "os.write(self._terminal, f\"{' ' * len(text)}\\r\".encode())",
        "pass",
        (_PROGRESS,),
    ),
    Fault(
        "programs under other settings share code",
        "building.py",
        "        setting.key(settings),\n",
        "        setting.key(setting.Settings()),\n",
        (
            "tests/ilp/test_costs.py::test_what_was_compiled_for_a_function_is_found_again",
            _RUN,
            "tests/run/test_kept_code.py",
        ),
    ),
    Fault(
        "errors name the lines of an equal program",
        "execution.py",
        "raise error.moved(moves(known.program, _built(nodes, (), settings).program)) from error.__cause__",
        "raise",
        (_PLACES, "tests/run/test_rebuilt.py"),
    ),
    Fault(
        "results come back though an argument lies on a device",
        "execution.py",
        "if keep or any(",
        "if keep and any(",
        ("tests/run/test_device_arrays.py",),
    ),
    Fault(
        "programs under other settings share what is on disk",
        "kept_programs.py",
        "str(participants(settings.threads)), repr(values), structure]",
        "structure]",
        ("tests/run/test_kept_programs.py",),
    ),
    Fault(
        "programs with other numbers are one",
        "ast/tree/structure.py",
        "return _BITS.pack(value) if isinstance(value, float) else value",
        "return value",
        ("tests/ast/test_structure.py", "tests/run/test_rebuilt.py"),
    ),
    Fault(
        "which arrays are the same does not count",
        "ast/tree/structure.py",
        "uses.setdefault((part.types, *map(id, part.data))",
        "uses.setdefault((part.types, id(part))",
        ("tests/ast/test_structure.py",),
    ),
    Fault(
        "functions that read arrays are known without them",
        "ast/tree/structure.py",
        "        else:\n            return None\n    return tuple(key)",
        "        else:\n            key.append(type(node))\n    return tuple(key)",
        ("tests/ast/test_structure.py",),
    ),
    Fault(
        "a compiled function takes any dtype",
        "direct.py",
        "if type(argument) is not np.ndarray or argument.dtype is not dtype or argument.ndim != rank:",
        "if type(argument) is not np.ndarray or argument.ndim != rank:",
        ("tests/run/test_direct.py",),
    ),
    Fault(
        "a compiled function takes any rank",
        "direct.py",
        "if type(argument) is not np.ndarray or argument.dtype is not dtype or argument.ndim != rank:",
        "if type(argument) is not np.ndarray or argument.dtype is not dtype:",
        ("tests/run/test_direct.py",),
    ),
    Fault(
        "a compiled function ignores the settings around it",
        "execution.py",
        "if not kwargs and self._under is setting.innermost():",
        "if not kwargs:",
        (_RUN, _SETTINGS, "tests/run/test_direct.py", "tests/run/test_kept_code.py"),
    ),
    Fault(
        "arguments are not held against annotations",
        "execution.py",
        "if not demand.admits(kind):",
        "if not demand.admits(kind) and number < 0:",
        ("tests/run/test_annotations.py", _RUN),
    ),
    Fault(
        "an entry that was altered counts",
        "support/disk.py",
        "!= content[len(_MAGIC) : start]",
        '== b""',
        (_DISK, "tests/ilp/test_plan_cache.py"),
    ),
    Fault(
        "an entry for another key counts",
        "support/disk.py",
        "return rest[4 + length :] if rest[4 : 4 + length] == key else None",
        "return rest[4 + length :]",
        (_DISK,),
    ),
    Fault(
        "the most recently used entries go first",
        "support/disk.py",
        "files = sorted(self._files(), key=lambda file: file[2])",
        "files = sorted(self._files(), key=lambda file: -file[2])",
        (_DISK,),
    ),
    Fault(
        "a block's settings stay after it",
        "settings.py",
        "_CURRENT.reset(token)",
        "token.var.get()",
        (_SETTINGS,),
    ),
    Fault(
        "`1` is an answer to `duplicate`",
        "support/choices.py",
        "if not any(type(value) is type(choice) and value == choice for choice in choices):",
        "if not any(value == choice for choice in choices):",
        (_SETTINGS,),
    ),
    Fault(
        "errors point into NumPy",
        "errors.py",
        'os.path.dirname(os.path.realpath(__file__)) + "/", NUMPY, contextlib.__file__,',
        'os.path.dirname(os.path.realpath(__file__)) + "/", contextlib.__file__,',
        ("tests/errors/test_errors.py", "tests/ast/test_use.py", "tests/issues/test_raw_errors_of_python.py"),
    ),
)
