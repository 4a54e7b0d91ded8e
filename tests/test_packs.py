"""A stranger's pack: written by the installed command, tested, built, installed, run, broken on purpose.

Run with `-m wheels`: all of it happens in environments that hold wheels and nothing of the workspace.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path
from time import monotonic

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.wheels, pytest.mark.timeout(600)]

#: What a program with packs needs of ours.
BASE = ("core", "executors", "graphs", "monitor", "stream_handlers", "testing", "views", "cli")

#: Feeds 1.0, 3.0, 5.0 to NUMBER (and BASELINE) of the named calculator; prints what OUT carries.
RUN = """
import json, sys
import penstock

name, ports, out = sys.argv[1:]
inputs = " ".join(f'input_stream: "{port}:in"' for port in ports.split(","))
graph = f'''
input_stream: "in"
output_stream: "out"
node {{ calculator: "{name}" {inputs} output_stream: "{out}:out" }}
'''
seen = []
try:
    with penstock.CalculatorGraph(graph) as running:
        running.observe_output_stream("out", lambda name, packet: seen.append(packet.payload))
        running.start_run()
        for timestamp, number in enumerate([1.0, 3.0, 5.0]):
            running.add_packet_to_input_stream("in", penstock.Packet(number, timestamp))
except penstock.GraphConfigError as error:
    print(json.dumps({"error": str(error)}))
else:
    print(json.dumps({"seen": seen}))
"""

#: Prints how many frames two films have, and how light each is on average, 0 to 255.
LOOK = """
import json, sys
import av

def look(path):
    with av.open(path) as film:
        means = [float(frame.to_ndarray(format="rgb24").mean()) for frame in film.decode(video=0)]
    return len(means), sum(means) / len(means)

print(json.dumps([look(path) for path in sys.argv[1:]]))
"""


# --- packs, environments --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(built):
    """Return the wheels that a program with packs needs of ours."""
    return [path for name in BASE for path in built.glob(f"penstock_{name}-*.whl")]


@pytest.fixture(scope="module")
def soil(call, installed, tmp_path_factory):
    """Write a pack with the installed command, in an empty directory; return the pack's."""
    here = tmp_path_factory.mktemp("author")
    call(installed / "penstock", "new", "pack", "soil", cwd=here)
    return here / "penstock-soil"


@pytest.fixture(scope="module")
def wheel(call, uv, tmp_path_factory):
    """Return a function that builds a copy of a pack, with texts changed in files; it returns the wheel."""

    def build(pack, **changes):
        copy = tmp_path_factory.mktemp("build") / pack.name
        shutil.copytree(pack, copy, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__", ".*"))
        for name, (old, new) in changes.items():
            (path,) = [found for found in copy.rglob(f"{name}.*") if found.suffix in {".py", ".toml"}]
            text = path.read_text(encoding="utf-8")
            assert old in text
            path.write_text(text.replace(old, new), encoding="utf-8")
        call(uv, "build", "--wheel", "--out-dir", copy / "dist", cwd=copy)
        (found,) = (copy / "dist").glob("*.whl")
        return found

    return build


@pytest.fixture(scope="module")
def site(call, uv, wheel, tmp_path_factory):
    """Return a function that installs a changed pack into a directory of its own, for PYTHONPATH."""

    def install(pack, **changes):
        directory = tmp_path_factory.mktemp("site")
        call(uv, "pip", "install", "--no-deps", "--target", directory, wheel(pack, **changes), cwd=directory)
        return directory

    return install


@pytest.fixture(scope="module")
def workshop(environment_of, base, soil):
    """Install the pack as its author does, editable and with what its tests need; and the linters of ours."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    tools = [line for line in (*groups["lint"], *groups["types"]) if str(line).startswith(("ruff", "mypy"))]
    return environment_of("workshop", *base, "-e", f"{soil}[testing]", *tools)


@pytest.fixture(scope="module")
def soil_wheel(wheel, soil):
    return wheel(soil)


@pytest.fixture(scope="module")
def programs(environment_of, base, soil_wheel):
    """Install the pack as its users do; return the programs of their environment."""
    return environment_of("user", *base, soil_wheel)


@pytest.fixture(scope="module")
def loam(call, programs, tmp_path_factory):
    """Write a second pack with the command of the user's environment."""
    here = tmp_path_factory.mktemp("other_author")
    call(programs / "penstock", "new", "pack", "loam", cwd=here)
    return here / "penstock-loam"


class User:
    """Runs graphs and asks for plugins in an environment."""

    def __init__(self, call, programs, here):
        self._call = call
        self._programs = programs
        self._here = here

    def run(self, name, ports="NUMBER", out="OUT", **variables):
        """Run a graph of one node; return what came out, or the error."""
        program = (self._programs / "python", "-W", "error", "-c", RUN)
        return json.loads(self._call(*program, name, ports, out, cwd=self._here, **variables))

    def plugins(self, **variables):
        """Return the records of all plugins by name, as the command prints them."""
        command = (self._programs / "penstock", "plugins", "--json")
        records = json.loads(self._call(*command, cwd=self._here, **variables))
        assert len({record["name"] for record in records}) == len(records)
        return {record["name"]: record for record in records}


@pytest.fixture
def user(call, programs, tmp_path):
    return User(call, programs, tmp_path)


DEVIATION = {"name": "SoilDeviationSubgraph", "ports": "NUMBER", "out": "DEVIATION"}
DIFFERENCE = {"name": "SoilDifference", "ports": "NUMBER,BASELINE"}
MEAN = {"name": "SoilMeanCalculator", "out": "MEAN"}


# --- its author -----------------------------------------------------------------------------------


def test_the_new_pack_passes_its_own_tests(call, workshop, soil):
    printed = call(workshop / "python", "-W", "error", "-m", "pytest", "-q", cwd=soil)

    assert "7 passed" in printed


def test_the_new_pack_is_valid(call, workshop, soil):
    printed = call(workshop / "penstock", "validate-pack", cwd=soil)

    assert printed.splitlines()[0].startswith("penstock-soil 0.1.0, plugin 'soil', loaded in ")
    assert printed.splitlines()[1:] == ["2 calculators, 1 subgraph: fine"]


def test_the_new_pack_satisfies_ruff_and_mypy(call, workshop, soil):
    call(workshop / "ruff", "check", "--isolated", ".", cwd=soil)
    call(workshop / "ruff", "format", "--isolated", "--check", ".", cwd=soil)
    call(workshop / "python", "-m", "mypy", "--strict", "-p", "penstock_soil", cwd=soil)
    call(workshop / "python", "-m", "mypy", "--strict", "tests", cwd=soil)


# --- its users ------------------------------------------------------------------------------------


def test_the_wheel_is_found_where_it_is_installed(user):
    record = user.plugins()["soil"]

    assert (record["state"], record["distribution"], record["version"]) == (
        "loaded",
        "penstock-soil",
        "0.1.0",
    )
    assert record["components"] == {"calculator": 2, "subgraph": 1}


def test_the_wheel_holds_what_the_pack_needs_and_graphs_run_on_it(user):
    assert user.run(**DEVIATION) == {"seen": [0.0, 1.0, 2.0]}
    assert user.run(**MEAN) == {"seen": [1.0, 2.0, 3.0]}


def test_blocked_by_name_it_is_kept_out_and_the_error_says_so(user):
    assert user.plugins(PENSTOCK_BLOCK_PLUGINS="soil")["soil"]["state"] == "blocked"
    assert (
        "no calculator 'SoilMeanCalculator' is registered\n"
        "  plugins that are not loaded: soil (blocked by name, see PENSTOCK_BLOCK_PLUGINS)"
    ) in user.run(**MEAN, PENSTOCK_BLOCK_PLUGINS="soil")["error"]


def test_broken_it_is_reported_and_hurts_no_other(user, site, soil, loam):
    broken = site(soil, plugin=("from penstock import", "raise OSError('no probe')\nfrom penstock import"))
    path = os.pathsep.join([str(broken), str(site(loam))])

    records = user.plugins(PYTHONPATH=path)
    assert (records["soil"]["state"], records["soil"]["reason"]) == ("failed", "OSError: no probe")
    assert "plugin.py" in records["soil"]["traceback"]
    assert records["loam"]["state"] == "loaded"
    assert user.run("LoamMeanCalculator", out="MEAN", PYTHONPATH=path) == {"seen": [1.0, 2.0, 3.0]}
    error = user.run(**MEAN, PYTHONPATH=path)["error"]
    assert "no calculator 'SoilMeanCalculator' is registered" in error
    assert "plugins that are not loaded: soil (OSError: no probe)" in error


def test_a_name_that_two_packs_claim_is_an_error_only_where_it_is_used(user, site, loam):
    rival = site(loam, plugin=('"LoamDifference"', '"SoilDifference"'))

    records = user.plugins(PYTHONPATH=rival)
    assert [records[name]["state"] for name in ("loam", "soil")] == ["loaded", "loaded"]
    assert user.run(**MEAN, PYTHONPATH=rival) == {"seen": [1.0, 2.0, 3.0]}
    assert (
        "calculator 'SoilDifference' is claimed by penstock-loam (plugin 'loam', "
        "penstock_loam.difference:difference) and by penstock-soil (plugin 'soil', "
        "penstock_soil.difference:difference); rename one, or block a plugin: PENSTOCK_BLOCK_PLUGINS=soil"
    ) in user.run(**DIFFERENCE, PYTHONPATH=rival)["error"]
    assert user.run(**DIFFERENCE, PYTHONPATH=rival, PENSTOCK_BLOCK_PLUGINS="loam") == {
        "seen": [0.0, 0.0, 0.0]
    }


#: Version 0.2.0 doubles the difference.
NEWER = {
    "pyproject": ('version = "0.1.0"', 'version = "0.2.0"'),
    "difference": ("return number - baseline", "return 2 * (number - baseline)"),
}


def test_of_two_versions_on_the_path_the_first_is_used_and_counts_once(user, site, soil):
    path = site(soil, **NEWER)

    record = user.plugins(PYTHONPATH=path)["soil"]

    assert (record["state"], record["version"]) == ("loaded", "0.2.0")
    assert user.run(**DEVIATION, PYTHONPATH=path) == {"seen": [0.0, 2.0, 4.0]}
    assert user.plugins()["soil"]["version"] == "0.1.0"
    assert user.run(**DEVIATION) == {"seen": [0.0, 1.0, 2.0]}


@pytest.fixture
def upgrade(call, uv, programs, wheel, soil_wheel):
    """Return a function that installs a changed pack in place; it is taken back after the test."""
    install = (uv, "pip", "install", "--no-deps", "--reinstall", "--python", programs.parent)
    yield lambda pack, **changes: call(*install, wheel(pack, **changes), cwd=programs)
    call(*install, soil_wheel, cwd=programs)


def test_an_upgrade_in_place_takes_effect(user, upgrade, soil):
    upgrade(soil, **NEWER)

    assert user.plugins()["soil"]["version"] == "0.2.0"
    assert user.run(**DEVIATION) == {"seen": [0.0, 2.0, 4.0]}


# --- a newcomer -----------------------------------------------------------------------------------


def test_from_nothing_to_a_calculator_of_ones_own_on_video_in_five_minutes(
    call, timed_installation, tmp_path, capsys
):
    programs, seconds = timed_installation
    began = monotonic()

    call(programs / "penstock", "demo", "--frames", "60", "-o", "in.mp4", cwd=tmp_path)
    example = (ROOT / "examples" / "own_calculator.py").read_text(encoding="utf-8")
    (tmp_path / "own_calculator.py").write_text(example, encoding="utf-8")
    call(programs / "python", "-W", "error", "own_calculator.py", cwd=tmp_path)
    seconds += monotonic() - began

    before, after = json.loads(call(programs / "python", "-c", LOOK, "in.mp4", "out.mp4", cwd=tmp_path))
    with capsys.disabled():
        print(f"\nfrom an empty directory to an own calculator on video: {seconds:.1f} s")  # noqa: T201  # a claim
    assert before[0] == after[0] == 60
    assert before[1] + after[1] == pytest.approx(255, abs=4)
    assert seconds < 5 * 60
