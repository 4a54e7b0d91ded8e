"""Build what a release uploads, and check it.

    uv run --only-group release python scripts/release.py                         into dist/
    uv run --only-group release python scripts/release.py --compiled --out DIR    with compiled cores too

1. Looks at the changelog: a section for the version, and no fragment left; and for the addresses of the
   project (scripts/addresses.py). `--draft` goes on without them.
2. Copies each distribution, fills the addresses in, and builds the sdist and from it the wheel. Packs of
   contrib/ are left out: each has a version of its own. `--compiled` adds a wheel of the core with its engine
   compiled for each Python that is installed, beside the plain one: pip takes it where it fits.
3. Runs `twine check --strict` over all files.
4. Installs the wheels into an empty environment, and runs `penstock --version`, `penstock doctor` and a small
   graph there; with `--compiled` the core is installed again from the folder, and must be the compiled one.

Uploads nothing. docs/releasing.md says what comes before and after. Needs uv, twine and a package index, and
for `--compiled` a C compiler.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import compiled_wheel
from addresses import Addresses, addresses, stage
from members import ROOT, TRAIN, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What a former run may have left in the directory: removed before the build. Anything else is refused.
_OURS: Final = re.compile(r"penstock[\w.-]*\.(whl|tar\.gz)|\.gitignore|compiled")

_GRAPH: Final = """
import pathlib, sys
import penstock
from penstock.engine_form import engine_form

graph = '''
input_stream: "in"
output_stream: "out"
node { calculator: "TwoPassThroughSubgraph" input_stream: "in" output_stream: "out" }
'''
packets = penstock.run(graph, {"in": [(time, str(time)) for time in range(100)]})["out"]
assert [packet.payload for packet in packets] == [str(time) for time in range(100)], packets
assert pathlib.Path(penstock.__file__).is_relative_to(sys.prefix), penstock.__file__
print(f"a graph of {len(packets)} packets has run; engine: {engine_form()}")
"""


class ReleaseError(Exception):
    """A step failed; the message says which, and what to do."""


# --- what is released -----------------------------------------------------------------------------


def version() -> str:
    """Return the version that all distributions of the release share."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: str = tomllib.load(file)["project"]["version"]
    return found


def distributions() -> dict[str, Path]:
    """Return name → directory of each distribution of the release, in the order in which to upload them.

    Each comes after those that it requires, so `penstock`, which requires all, is last.
    """
    released = {each.name: each for each in members() if each.place in TRAIN}
    required = {
        name: {_required_name(line) for line in each.project.get("dependencies", ())} & released.keys()
        for name, each in released.items()
    }
    ordered = {name: released[name].path for name in TopologicalSorter(required).static_order()}
    return {**ordered, "penstock": ROOT}


def _required_name(line: str) -> str:
    return re.split(r"[^\w-]", line, maxsplit=1)[0]


def files_of(name: str) -> tuple[str, str]:
    """Return the file names of the sdist and of the plain wheel of a distribution."""
    stem = f"{name.replace('-', '_')}-{version()}"
    return f"{stem}.tar.gz", f"{stem}-py3-none-any.whl"


def unready(root: Path = ROOT) -> Iterator[str]:
    """Yield what is missing: of the changelog, and of the project's addresses."""
    left = sorted(path.name for path in (root / "changelog.d").iterdir() if path.name != "README.md")
    if left:
        yield f"changelog.d holds {left[0]}, {len(left)} in all; run: towncrier build --version {version()}"
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {version()} (" not in text:
        yield f"CHANGELOG.md has no section for {version()}; run: towncrier build --version {version()}"
    yield from addresses(root).lacks()


# --- the steps ------------------------------------------------------------------------------------


def _say(text: str) -> None:
    print(f"== {text}", flush=True)


def _run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command of ours, away from the environment that this script runs in.

    Raises:
        ReleaseError: it failed; its output has been printed.
    """
    environment = {
        name: text for name, text in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}
    }
    parts = [str(part) for part in command]
    if subprocess.run(parts, cwd=cwd, env=environment, check=False).returncode:  # noqa: S603
        raise ReleaseError(f"this command failed: {' '.join(parts[:6])}")


def _uv() -> str:
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        raise ReleaseError("uv is not installed; run: pip install uv")
    return found


def clear(out: Path) -> None:
    """Make the directory, or remove what a former run left in it.

    Raises:
        ReleaseError: something else is in it; nothing was removed.
    """
    out.mkdir(parents=True, exist_ok=True)
    there = sorted(out.iterdir())
    foreign = [path.name for path in there if not _OURS.fullmatch(path.name)]
    if foreign:
        raise ReleaseError(f"{out} holds {foreign[0]!r}, which no release wrote; choose another with --out")
    for path in there:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def stage_all(into: Path, found: Addresses) -> dict[str, Path]:
    """Copy every distribution, with the addresses of the project; return name → copy, in the same order."""
    staged = {}
    for name, folder in distributions().items():
        (into / name).mkdir()
        staged[name] = stage(folder, into / name, found, version())
    return staged


def build(out: Path, staged: Mapping[str, Path]) -> None:
    """Build the sdist and the plain wheel of each distribution.

    Raises:
        ReleaseError: a build failed, or its file is not what was expected.
    """
    for name, folder in staged.items():
        _say(f"build {name}")
        _run(_uv(), "build", "--quiet", "--python", sys.executable, "--out-dir", out, folder)
        missing = [file for file in files_of(name) if not (out / file).is_file()]
        if missing:
            raise ReleaseError(f"the build of {name} wrote no {missing[0]}; is its version {version()}?")


def build_compiled(out: Path, core: Path) -> list[Path]:
    """Build the core at a path with its engine compiled; return the wheels, one for each installed Python.

    Raises:
        ReleaseError: a build failed.
    """
    try:
        found = compiled_wheel.pythons()
        missing = [version for version in compiled_wheel.VERSIONS if version not in found]
        if missing:
            _say(f"no compiled core for Python {', '.join(missing)}, which is not installed")
        _say(f"build penstock-core, compiled for Python {', '.join(found)}")
        return compiled_wheel.build(out, core, list(found.values()), is_portable=True)
    except compiled_wheel.CompileError as error:
        raise ReleaseError(str(error)) from error


def check(files: Sequence[Path]) -> None:
    """Run twine's check over files.

    Raises:
        ReleaseError: it found fault, or is not installed.
    """
    _say("twine check")
    if importlib.util.find_spec("twine") is None:
        raise ReleaseError(
            "twine is not installed; run: uv run --only-group release python scripts/release.py"
        )
    _run(sys.executable, "-m", "twine", "check", "--strict", *files)


def smoke(wheels: Sequence[Path], compiled: Path | None) -> None:
    """Install wheels into an empty environment, and use them there.

    Args:
        wheels: the plain ones.
        compiled: a folder with a compiled core for this interpreter, which pip must take; None without.

    Raises:
        ReleaseError: something did not install, or failed.
    """
    with tempfile.TemporaryDirectory(prefix="penstock-release-") as name:
        home = Path(name)
        environment = home / "venv"
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        python = programs / "python"
        _say("install the wheels into an empty environment")
        _run(_uv(), "venv", "--quiet", "--python", sys.executable, environment, cwd=home)
        # Each by its path, so that none of ours is taken from an index.
        _run(_uv(), "pip", "install", "--quiet", "--python", environment, *wheels, cwd=home)
        _run(_uv(), "pip", "check", "--quiet", "--python", environment, cwd=home)
        _say("use them")
        _run(programs / "penstock", "--version", cwd=home)
        _run(programs / "penstock", "doctor", cwd=home)
        _run(python, "-W", "error", "-c", _GRAPH, cwd=home)
        if compiled is not None:
            install = ("pip", "install", "--quiet", "--no-deps", "--reinstall-package", "penstock-core")
            source = ("--no-index", "--find-links", compiled, f"penstock-core=={version()}")
            _run(_uv(), *install, "--python", environment, *source, cwd=home)
            is_compiled = "; assert engine_form().startswith('compiled'), engine_form()"
            _run(python, "-W", "error", "-c", _GRAPH.rstrip() + is_compiled, cwd=home)


def release(out: Path, *, with_compiled: bool, is_draft: bool) -> None:
    """Take all steps.

    Raises:
        ReleaseError: one failed.
    """
    for lack in unready():
        if not is_draft:
            raise ReleaseError(f"{lack} (or try the build with --draft)")
        _say(f"not ready: {lack}")
    clear(out)
    with tempfile.TemporaryDirectory(prefix="penstock-release-") as name:
        staged = stage_all(Path(name), addresses())
        build(out, staged)
        compiled = build_compiled(out, staged["penstock-core"]) if with_compiled else []
    wheels = [out / files_of(name)[1] for name in distributions()]
    sdists = [out / files_of(name)[0] for name in distributions()]
    check([*sdists, *wheels, *compiled])
    smoke(wheels, out if compiled else None)
    _say(f"{len(sdists)} sdists and {len(wheels) + len(compiled)} wheels of {version()} are in {out}")
    for wheel in compiled:
        _say(f"compiled: {wheel.name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check a release. Return the exit status."""
    parser = argparse.ArgumentParser(
        description="Build what a release uploads, and check it. Uploads nothing."
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="directory to write; default: dist")
    parser.add_argument(
        "--compiled", action="store_true", help="also compiled cores, one for each installed Python"
    )
    parser.add_argument("--draft", action="store_true", help="go on without a ready changelog and addresses")
    options = parser.parse_args(arguments)
    try:
        release(options.out.resolve(), with_compiled=options.compiled, is_draft=options.draft)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
