"""What package installers call accel, how its extras are installed, and which version this is.

The import is `accel`. The distribution has another name, because `accel` is another project on the package index.
"""

from __future__ import annotations

import os.path  # `pathlib` takes longer to import

from accel.support.forks import load

DISTRIBUTION = "accel-array"
"""The name that pip installs; pyproject.toml says the same."""

UNKNOWN = "0+unknown"
"""The version of a copy that comes without metadata and without its pyproject.toml."""


def pip_install(extra: str) -> str:
    """The command that installs what an extra needs, for hints."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def version() -> str:
    """The version of the accel that runs; `UNKNOWN` where nothing says it. Raises nothing.

    In a checkout pyproject.toml says it, whatever else is installed; elsewhere the metadata of the installed distribution.
    """
    try:
        return _of_the_checkout() or _of_the_metadata() or UNKNOWN
    except (
        Exception
    ):  # files that cannot be read, broken metadata, a finaliser amidst the imports: never worth an error
        return UNKNOWN


def _of_the_checkout() -> str | None:
    """What the pyproject.toml beside the package says, if there is one and it is accel's."""
    file = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "pyproject.toml")
    if not os.path.isfile(file):
        return None
    load("tomllib")
    import tomllib

    with open(file, "rb") as content:
        found = tomllib.load(content)
    match found.get("project"):
        case {"name": name, "version": str(version)} if name == DISTRIBUTION:
            return version
        case _:
            return None


def _of_the_metadata() -> str | None:
    load("importlib.metadata")
    from importlib.metadata import PackageNotFoundError, version  # slow

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return None
