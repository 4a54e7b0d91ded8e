"""The tox environments that follow from the members of the workspace, so that no list names them.

`dist-<directory>` holds one distribution with its declared dependencies only, and `penstock-core`
with its testing extra: an import of something undeclared fails there, while it passes wherever the
whole workspace is installed. The environments in `WHOLE` get all members, editable; there the tests
of `contrib` do not run. A pack of `contrib` is tested as a stranger's: its wheel is built and installed
before each run of its `dist-<directory>`, with what it needs beside it.

What a member requires of the workspace uv finds there, editable too (the sources in `pyproject.toml`). Such a
requirement is built once for all environments, while one that is named here is built for each: so only
those are named that nothing else brings.
"""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tox.config.loader.memory import MemoryLoader
from tox.config.types import Command
from tox.plugin import impl

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))
import members  # scripts are files that run, not a package

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tox.config.sets import ConfigSet
    from tox.session.state import State

ROOT_PROJECT: Final = tomllib.loads((members.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MEMBERS: Final = {each.name: each for each in members.members()}
#: Environments of tox.ini that work on the whole workspace.
WHOLE: Final = (
    "py311",
    "py312",
    "py313",
    "py314",
    "compiled",
    "types",
    "arrows",
    "docs",
    "bench",
    "fuzz",
    "models",
    "differential",
)
#: Where packs are tested as installed wheels, and what builds them.
CONTRIBUTED: Final = "contrib"
BUILD_TOOLS: Final = ("uv>=0.5",)
#: What each distribution alone is tested with: the first that is here. CI's first step tests the workspace
#: with the oldest, so the tests of each distribution run on both, and `py313` need not repeat them.
PYTHONS: Final = ("py313", "py3")
#: Which tests run where a distribution is alone: a missing declaration shows in any of them, and already when
#: they are collected. So MediaPipe's own tests, which are many, run in CI's first step only.
ALONE: Final = ("-m", "not heavy and not slow and not timing and not wheels and not reference")
#: What every test needs: pytest, a time limit for each test, and a second try where CI asks for it.
TEST_TOOLS: Final = ("pytest>=8", "pytest-rerunfailures>=15", "pytest-timeout>=2.3")
#: Which tests get a second try: `.ci/run` says so, whose machine does other work beside.
RERUNS: Final = shlex.split(os.environ.get("PENSTOCK_RERUNS", ""))
#: Pythons without the interpreter's lock, and which libraries have no wheel for them. Packs that need one are
#: left out there.
FREE: Final = {
    "py313t": ("av", "msgpack", "msgspec", "opencv-python-headless", "pyyaml", "zstandard"),
    "py314t": ("opencv-python-headless", "zstandard"),
}
#: What is tested there before the packs.
FREE_ENGINE: Final = ("core/tests", "tests/conformance", "tests/test_stress.py")
#: Packs that can be installed there, on 3.14t, while their tests cannot run: the tests of penstock-cli want
#: penstock-image, which needs OpenCV; the tests of penstock-video want its extra for browsers.
FREE_UNTESTED: Final = ("penstock-cli", "penstock-video")
#: What tests of these packs take beside pytest.
FREE_TOOLS: Final = ("hypothesis>=6.100", "pillow>=10")


def _env_name(member: members.Member) -> str:
    return "core" if member.place == "core" else f"dist-{member.short_name}"


def _extras(name: str, tested: str) -> list[str]:
    """Return the extras that a member comes with: the core and the tested one have `testing`."""
    has_it = "testing" in MEMBERS[name].project.get("optional-dependencies", {})
    return ["testing"] if has_it and name in {"penstock-core", tested} else []


def _editable(names: Iterable[str], tested: str = "penstock-core") -> list[str]:
    """Return the requirement lines of members; the core and what is tested come with `testing`."""
    return [f"-e {MEMBERS[name].folder}{members.extras_text(_extras(name, tested))}" for name in names]


def _dist_deps(member: members.Member) -> str:
    """Return what the environment of one distribution is made with."""
    named = dict.fromkeys(("penstock-core", member.name))
    if member.place != CONTRIBUTED:
        return "\n".join([*TEST_TOOLS, *_editable(named, member.name)])
    lines = [*member.project["dependencies"], *member.project["optional-dependencies"]["testing"]]
    required = (canonicalize_name(Requirement(line).name) for line in lines)
    others = dict.fromkeys(("penstock-core", *(name for name in required if name in MEMBERS)))
    return "\n".join([*TEST_TOOLS, *BUILD_TOOLS, *_editable(others)])


def _whole_deps() -> str:
    """Return what an environment of all members is made with."""
    required = {canonicalize_name(Requirement(line).name) for line in ROOT_PROJECT["dependencies"]}
    others = [name for name in MEMBERS if name not in required or MEMBERS[name].dev_extras]
    lines = [f"-e {MEMBERS[name].folder}{members.extras_text(MEMBERS[name].dev_extras)}" for name in others]
    return "\n".join([*lines, "-e ."])


def _dist_commands(member: members.Member) -> list[Command]:
    """Return what runs in it: the tests; for a contributed pack its wheel is built and installed before."""
    tests = Command(["pytest", *RERUNS, *ALONE, member.folder])
    if member.place != CONTRIBUTED:
        return [tests]
    # Not among the dependencies: those are installed again only when their names change.
    fresh = ["--reinstall-package", member.name, f"./{member.folder}"]
    return [Command(["uv", "pip", "install", "--quiet", *fresh]), tests]


def _free_deps(lacking: Collection[str]) -> str:
    """Return what an environment without the interpreter's lock is made with."""
    return "\n".join(
        [
            "--only-binary :all:",  # the newest release that has a wheel, not the newest
            *TEST_TOOLS,
            *FREE_TOOLS,
            *(f"-e {member.folder}" for member in members.without(lacking)),
        ]
    )


def _free_commands(lacking: Collection[str], given: Collection[str] | None) -> list[Command]:
    """Return what runs in it: what is given behind `--`, else the tests of the engine and of the packs."""
    check = Command(["python", "-c", "import sys; assert not sys._is_gil_enabled()"])
    if given:
        return [check, Command(["pytest", *RERUNS, *given])]
    untested = ("penstock-core", *FREE_UNTESTED)
    packs = [each.folder for each in members.without(lacking) if each.name not in untested]
    return [
        check,
        Command(["pytest", *RERUNS, *FREE_ENGINE]),
        Command(["pytest", *RERUNS, "-rs", *ALONE, *packs]),
    ]


@impl
def tox_extend_envs() -> Iterable[str]:
    """Name one environment for each distribution."""
    return tuple(_env_name(member) for member in MEMBERS.values())


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:  # noqa: ARG001  # tox's signature
    """Say what is installed where."""
    loaders = state.conf.memory_seed_loaders
    for name, member in MEMBERS.items():
        loaders[_env_name(member)].append(
            MemoryLoader(
                description=f"{name} with its declared dependencies only",
                runner="uv-venv-runner",
                base_python=list(PYTHONS),
                skip_install=True,
                dependency_groups=set(),
                deps=_dist_deps(member),
                commands=_dist_commands(member),
                labels={"ci"},
            )
        )
    for name in WHOLE:
        loaders[name].append(MemoryLoader(deps=_whole_deps()))
    for name, lacking in FREE.items():
        commands = _free_commands(lacking, state.conf.pos_args(members.ROOT))
        loaders[name].append(MemoryLoader(deps=_free_deps(lacking), commands=commands))
