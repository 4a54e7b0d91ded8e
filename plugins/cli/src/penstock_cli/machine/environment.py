"""Commands for messages that work in the environment of this process: `pip`, and programs of packages.

The core and the packs write `pip install NAME`. That is not right everywhere: the `pip` that the user's shell
finds can be another environment's, and uv makes environments without pip. The command line therefore
passes what it prints through `in_this_environment`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Final

#: `pip install` and `pip uninstall`, where they do not say already which pip is meant.
_PIP: Final = re.compile(r"(?<![\w./\\-])(?<!uv )(?<!-m )pip (install|uninstall)\b")
#: A distribution of Penstock to install, with its extras, and quoted where it has some.
_OWN: Final = re.compile(r"""(?<=pip install )(["']?)(penstock[a-z0-9-]*(?:\[[\w,-]+\])?)\1(?=[\s,;)]|$)""")

#: What brings the packs that most graphs need. On PyPI `penstock` alone is another project.
FOR_MOST: Final = "; ".join(
    f"pip install {name}"
    for name in ("penstock-calculators", "penstock-stream-handlers", "penstock-executors")
)


def in_this_environment(text: str) -> str:
    """Return a text in which each `pip install` and `pip uninstall` works in this environment.

    In the editable environment of a clone the packs of Penstock are installed from their folders.
    """
    text = _OWN.sub(lambda found: _own(found[0], found[2]), text)
    return _PIP.sub(lambda found: _pip(found[1]), text)


def pip_command(*words: str) -> str:
    """Return a command that runs pip, or uv in its place, for this environment.

    Args:
        words: "install" or "uninstall", and its arguments.
    """
    return in_this_environment(f"pip {shlex.join(words)}")


def build_command(project: str) -> str:
    """Return a command that builds the wheel of a project into its directory `dist`.

    Args:
        project: its path, which begins with "./" where it is relative: pip takes a name alone for that of a
            distribution.
    """
    if _uses_uv():
        return uv_command("build", "--wheel", project)
    words = ("wheel", "--no-deps", "--wheel-dir", f"{project}/dist", project)
    return f"{_own_pip()} {shlex.join(words)}"


def uv_command(*words: str) -> str:
    """Return a command that runs uv with these words."""
    return f"{_uv() or 'uv'} {shlex.join(words)}"


def program(name: str) -> str:
    """Return how to run a program of a package of this environment: one that is installed, or will be.

    Args:
        name: of the program; it must also run as `python -m NAME`.
    """
    if is_in_uv_run():
        return uv_command("run", name)
    return name if _is_found(name) else f"{_python()} -m {name}"


def is_in_uv_run() -> bool:
    """Return whether `uv run` started this process: then the user's shell does not have this environment."""
    is_ours = Path(os.environ.get("VIRTUAL_ENV") or os.devnull).resolve() == Path(sys.prefix).resolve()
    return is_ours and "UV_RUN_RECURSION_DEPTH" in os.environ


def is_of_uv() -> bool:
    """Return whether uv installs into this environment, so that `uv sync` may uninstall what is in it."""
    return is_in_uv_run() or _uses_uv()


def _pip(action: str) -> str:
    """Return the words that stand for `pip install` or `pip uninstall`."""
    if _uses_uv():
        return f"{uv_command('pip', action, '--python')} {_python()}"
    ensured = "" if find_spec("pip") else f"{_python()} -m ensurepip && "
    return f"{ensured}{_own_pip()} {action}"


def _own(written: str, name: str) -> str:
    """Return what installs a distribution of Penstock: its folders in the clone, or what was written."""
    from penstock_cli.machine.clone import from_clone  # only for messages that say what to install

    return " ".join(f"-e {_quoted(folder)}" for folder in from_clone(name)) or written


def _quoted(folder: str) -> str:
    """Return a folder as a word of a command: as it is, or in double quotes, which every shell knows."""
    return f'"{folder}"' if re.search(r"[^\w./\\:-]", folder) else folder


def _uses_uv() -> bool:
    """Return whether uv, not pip, installs into this environment."""
    return not find_spec("pip") and (_uv() is not None or not find_spec("ensurepip"))


def _own_pip() -> str:
    found = shutil.which("pip", path=os.pathsep.join(_folders()))
    is_own = found is not None and _is_same(str(Path(found).parent), _scripts())
    return "pip" if is_own else f"{_python()} -m pip"


def _uv() -> str | None:
    """Return how the user's shell can run uv, or None if there is no uv."""
    if shutil.which("uv", path=os.pathsep.join(_folders())):
        return "uv"
    found = shutil.which("uv", path=_scripts()) or os.environ.get("UV")
    return None if found is None else shlex.quote(found)


def _is_found(name: str) -> bool:
    """Return whether the user's shell finds this environment's program, once it is installed."""
    for folder in _folders():
        if _is_same(folder, _scripts()):
            return True
        if shutil.which(name, path=folder):
            return False
    return False


def _folders() -> list[str]:
    """Return where the user's shell looks for programs, without the directory that `uv run` adds."""
    folders = os.get_exec_path()
    return [each for each in folders if not _is_same(each, _scripts())] if is_in_uv_run() else folders


def _is_same(folder: str, other: str) -> bool:
    return bool(folder) and Path(folder).resolve() == Path(other).resolve()


def _scripts() -> str:
    return sysconfig.get_path("scripts")


def _python() -> str:
    return shlex.quote(sys.executable or "python")
