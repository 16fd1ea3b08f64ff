"""Makes OpenCL implementations visible that the system's loader would not find by itself.

In: nothing. Out: a context in which the loader, asked for the first time, finds the system's implementations first, then an
NVIDIA driver that was installed without its `.icd` file, then Intel's CPU runtime from the wheels `intel-opencl-rt` and
`intel-cmplr-lib-rt` (it runs on AMD processors as well). The loader reads a directory of one-line `.icd` files; ours lives
as long as the question. On other systems than Linux the loader is left alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from accel.errors import AccelDeviceError

VARIABLE = "OCL_ICD_VENDORS"
"""What the loaders (ocl-icd and Khronos's) read instead of the system's directory. A user who sets it is obeyed."""

SYSTEM = Path("/etc/OpenCL/vendors")

_NVIDIA = "libnvidia-opencl.so.1"


INTEL_PLATFORM = "Intel(R) OpenCL"
"""How the runtime of Intel's wheel calls its platform."""


@contextmanager
def visible() -> Iterator[bool]:
    """While this holds, the loader's first question finds everything there is. Later questions repeat the first answer.

    Gives whether Intel's platform comes from the wheel. Raises `AccelDeviceError` where no directory can be written.
    """
    if sys.platform != "linux" or os.environ.get(VARIABLE):
        yield False
        return
    found = _registered(SYSTEM)
    extra = _unregistered(found)
    if not extra:
        yield False
        return
    with _naming([*found, *extra]) as directory:
        # Not left behind: child processes must not look into a directory that is gone.
        os.environ[VARIABLE] = directory
        try:
            yield any("libintelocl" in library for library in extra)
        finally:
            del os.environ[VARIABLE]


@contextmanager
def _naming(libraries: Sequence[str]) -> Iterator[str]:
    """A directory of `.icd` files that name these libraries, in this order."""
    with ExitStack() as stack:
        try:
            made = TemporaryDirectory(prefix="accel-opencl-", ignore_cleanup_errors=True)
            directory = stack.enter_context(made)
            for number, library in enumerate(libraries):
                Path(directory, f"{number:02}.icd").write_text(library + "\n")
        except OSError as error:
            message = f"OpenCL's loader finds no drivers: the files that name them cannot be written: {error}"
            hint = "set the environment variable TMPDIR to a directory that has room, or use backend='llvm'"
            raise AccelDeviceError(message, hint=hint) from error
        yield directory


def _registered(directory: Path) -> list[str]:
    """The libraries that the system's `.icd` files name."""
    try:
        files = sorted(directory.glob("*.icd"))
        return [text for file in files if (text := file.read_text().strip())]
    except OSError:
        return []


def _unregistered(found: list[str]) -> list[str]:
    """The libraries that can be loaded and that no `.icd` file names, by full path where there is one."""
    extra = []
    if not any("nvidia" in library for library in found) and _loads(_NVIDIA):
        extra.append(_NVIDIA)
    intel = _intel_wheel()
    if intel is not None and not any("libintelocl" in library for library in found) and _loads(intel):
        extra.append(intel)
    return extra


def _intel_wheel() -> str | None:
    """The runtime's library in this environment; the `.icd` file in its wheel names a placeholder instead."""
    path = Path(sys.prefix, "lib", "libintelocl.so")
    return str(path) if path.is_file() else None


def _loads(library: str) -> bool:
    """Whether the library loads. Loaded by its full path first, it finds its companions beside it; not globally, because
    its symbols would hide those of other implementations."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
