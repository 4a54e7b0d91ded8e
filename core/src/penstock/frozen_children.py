"""Further processes of this program: a module run as a program, also where the program is frozen.

Ordinarily Python runs the module, and imports from where this process does, be it an archive. A frozen
program has no Python beside it: there the process is the program itself, with arguments that say which module
to run. Such a program calls `freeze_support` before anything else; what PyInstaller makes does so before its
script, by a hook of ours. Without that call the process would be the whole program again, so none is started.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

from penstock.errors import FailedPreconditionError

#: The first argument of a further process, before the module and its own arguments.
MARK: Final = "--penstock-child"
#: With which `multiprocessing` starts processes of a frozen program.
_SPAWNED: Final = "--multiprocessing-fork"
#: What `multiprocessing` has such processes execute, after "-c".
_HELPERS: Final = (
    "from multiprocessing.forkserver import main",
    "from multiprocessing.resource_tracker import main",
    "import sys; from multiprocessing.forkserver import main",
)
#: The environment variable with the path of the program whose script calls `freeze_support` itself.
_SCRIPT: Final = "PENSTOCK_FREEZE_SUPPORT"
#: Runs a module in Python: paths to import from, and its name.
_CODE: Final = (
    "import sys; sys.path[:] = {0!r}; sys.argv[0] = {1!r}; from importlib import import_module; "
    "sys.exit(import_module({1!r}).main())"
)


class _Support:
    is_given = False


def is_frozen() -> bool:
    """Return whether this program was made by PyInstaller, cx_Freeze, Nuitka or their like."""
    return bool(getattr(sys, "frozen", False)) or hasattr(sys.modules.get("__main__"), "__compiled__")


def frozen_program_folders() -> list[str]:
    """Return the folders of a frozen program: the one it lies in, and the one of its data if that differs.

    Of a program in one file, the second is where it was unpacked. Empty for a program that is not frozen.
    """
    if not is_frozen():
        return []
    main = sys.modules["__main__"]
    data = getattr(sys, "_MEIPASS", "")
    if not data and hasattr(main, "__compiled__"):
        data = os.path.dirname(getattr(main, "__file__", None) or "")  # noqa: PTH120  # pathlib costs more here
    folders = [os.path.dirname(_program()), data]  # noqa: PTH120
    return [*dict.fromkeys(os.path.realpath(folder) for folder in folders if folder)]


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module as a program, in a process of its own.

    Args:
        module: its full name. It has a function `main` without arguments, which is called.
        arguments: `sys.argv` of the module, behind its first.

    Raises:
        FailedPreconditionError: the program is frozen, and has not called `freeze_support`.
    """
    if not is_frozen():
        paths = [path for path in sys.path if path]
        return [sys.executable, "-P", "-c", _CODE.format(paths, module), *arguments]
    if not _Support.is_given:
        raise FailedPreconditionError(
            f"{module} runs in a process of its own, and a frozen program is such a process only if it asks: "
            "call penstock.packs.freeze_support() before anything else"
        )
    return [_program(), MARK, module, *arguments]


def freeze_support() -> None:
    """Run what this process was started for, if a frozen program has started it for a part of its work.

    Programs that are frozen call it first, below `if __name__ == "__main__":`, as they do with
    `multiprocessing.freeze_support`, whose work it does too. In any other process, and in a program that is
    not frozen, it does nothing. A program of PyInstaller works without the call; with it, worker processes
    also know the calculators that its script itself defines.

    Raises:
        SystemExit: the process has done what it was started for.
    """
    if is_frozen():
        os.environ[_SCRIPT] = _program()
        _serve(of_script=True)


def serve_before_script() -> None:
    """Do the same before the script of a program runs, whether it calls `freeze_support` or not.

    Raises:
        SystemExit: the process has done what it was started for.
    """
    _serve(of_script=False)


def _serve(*, of_script: bool) -> None:
    _Support.is_given = True
    given = sys.argv[1:]
    if given[:1] == [MARK] and len(given) > 1:
        sys.argv[:] = given[1:]
        sys.exit(import_module(given[1]).main())  # what is compiled cannot be run by `runpy`
    is_helper = len(given) > 1 and given[-2] == "-c" and given[-1].startswith(_HELPERS)
    is_spawned = given[:1] == [_SPAWNED]
    if not is_helper and not is_spawned:
        return
    if not of_script:
        if os.environ.get(_SCRIPT) == _program():
            return  # the script calls `freeze_support` when it has defined what workers may need
        _leave_script_out()
    if is_helper:
        exec(given[-1], {})  # noqa: S102  # of `multiprocessing`, as Python's own "-c" does
        sys.exit()
    _be_spawned(given[1:])


def _be_spawned(given: list[str]) -> None:
    """Be a process of `multiprocessing`, and end; the arguments are "name=number"."""
    from multiprocessing import spawn

    pairs = (each.split("=", 1) for each in given)
    named: dict[str, Any] = {name: None if value == "None" else int(value) for name, value in pairs}
    spawn.spawn_main(**named)
    sys.exit()


def _leave_script_out() -> None:
    """Keep `multiprocessing` from running the script in this process: a frozen program has no file of it."""
    from multiprocessing import spawn

    spawn._fixup_main_from_path = lambda main_path: None  # type: ignore[attr-defined]  # noqa: ARG005, SLF001  # it has no switch


def _program() -> str:
    """Return the path of this program; Nuitka names a Python that is not there."""
    from pathlib import Path  # a first graph does without

    return sys.executable if Path(sys.executable or "").is_file() else str(Path(sys.argv[0]).resolve())
