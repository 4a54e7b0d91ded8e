"""`penstock bundle`: what it takes along, that a bare Python runs it, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock_cli.bundle import distributions, writing
from penstock_cli.failures import RunFailed, WrongUsage
from penstock_cli.main import penstock_command

#: Outside of every environment: it has no package.
PYTHON = getattr(sys, "_base_executable", sys.executable)
#: Required by parts of the command line that these runs do not need; what they weigh makes the tests slow.
LEAN = ("--without", "numpy", "--without", "pygments")
GATE = """
from pathlib import Path

import bundle_test_helper
import penstock


@penstock.register_calculator
class BundledNumbers(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        if self.count == 3:
            return penstock.STOP
        cc.outputs[0].add(self.count, self.count)
        self.count += 1


@penstock.calculator
def bundled_writer(number: int, *, path: penstock.SidePacket[str]) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{bundle_test_helper.twice(number)} ")
"""
GRAPH = """
input_side_packet: "path"
node { calculator: "BundledNumbers" output_stream: "number" }
node { calculator: "PassedSubgraph" input_stream: "number" output_stream: "passed" }
node { calculator: "BundledWriter" input_stream: "NUMBER:passed" input_side_packet: "PATH:path" }
"""
SIMPLE = """
input_side_packet: "given"
node { calculator: "SidePacketToStreamCalculator" input_side_packet: "given" output_stream: "AT_ZERO:out" }
"""
PASSED = """
type: "PassedSubgraph"
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }
"""


def write_graph(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bundle_test_gate.py").write_text(GATE)
    (folder / "bundle_test_helper.py").write_text("def twice(number): return 2 * number\n")
    (folder / "graph.pbtxt").write_text(GRAPH)
    (folder / "passed.pbtxt").write_text(PASSED)
    (folder / "other.pbtxt").write_text(PASSED.replace("PassedSubgraph", "OtherSubgraph"))
    return folder


def penstock(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "penstock_cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def bare(bundle: Path, *arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a bundle by a Python without any environment."""
    command = [PYTHON, str(bundle), *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, check=False, timeout=120
    )


def called(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(penstock_command, ["bundle", *map(str, arguments)], prog_name="penstock")
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle that is a folder, beside the graph that it was made of."""
    source = write_graph(tmp_path_factory.mktemp("bundle") / "source")
    done = penstock(
        "bundle", "graph.pbtxt", "-o", "app", "--import", "./bundle_test_gate.py", *LEAN, cwd=source
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("written: app (")
    return source / "app"


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    """Return a graph file that needs packs only."""
    file = tmp_path / "simple.pbtxt"
    file.write_text(SIMPLE)
    return file


# --- what runs ------------------------------------------------------------------------------------


def test_a_python_without_packages_runs_the_graph_with_subgraph_and_own_code(folder, tmp_path) -> None:
    done = bare(folder, "--side", "path=numbers.txt", "--quiet", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "numbers.txt").read_text() == "0 2 4 "


def test_a_bundle_has_what_the_graph_needs_and_not_more(folder) -> None:
    about = json.loads((folder / "bundle.json").read_text())
    lock = (folder / "requirements.lock").read_text().splitlines()
    packages = {path.name for path in (folder / "site").iterdir()}

    assert about["graph"] == "graph.pbtxt"
    assert about["subgraphs"] == {"PassedSubgraph": "subgraphs/PassedSubgraph.pbtxt"}
    assert about["imports"] == ["bundle_test_gate.py"]
    assert {path.name for path in (folder / "code").glob("*.py")} == {
        "bundle_test_gate.py",
        "bundle_test_helper.py",
    }
    assert f"click=={distributions._found('click').version}" in lock
    assert any(line.startswith("penstock-calculators==") for line in lock)
    assert {"penstock", "penstock_calculators", "penstock_executors", "penstock_cli"} <= packages
    assert not {"penstock_image", "penstock_video", "cv2", "numpy", "pytest"} & packages


def test_nothing_in_a_bundle_tells_where_it_was_made(folder) -> None:
    metadata = [*folder.glob("*.*"), *folder.glob("site/*.dist-info/*"), *folder.glob("site/*.pth")]
    place = str(Path(__file__).parents[4])

    assert [file.name for file in metadata if file.is_file() and place in file.read_text("utf-8")] == []


def test_what_is_in_a_bundle_is_told_by_any_python(folder, tmp_path) -> None:
    done = bare(folder, "--bundle-info", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        f"graph: graph.pbtxt\npython: {sys.version_info[0]}.{sys.version_info[1]}\n"
    )
    assert "\nclick==" in done.stdout


def test_another_command_runs_with_what_is_in_the_bundle(folder, tmp_path) -> None:
    done = bare(folder, "penstock", "plugins", "--json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    names = {one["name"] for one in json.loads(done.stdout)}
    assert {"calculators", "executors"} <= names
    assert "video" not in names


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("python", "3.1", "this bundle was made for cpython 3.1, and this is cpython"),
        ("platform", "plan9", "this bundle was made for plan9, and this is"),
    ],
)
def test_a_python_that_does_not_fit_is_refused(folder, tmp_path, field, value, words) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "__main__.py").write_text((folder / "__main__.py").read_text())
    about = json.loads((folder / "bundle.json").read_text())
    (copy / "bundle.json").write_text(json.dumps({**about, field: value}))

    done = bare(copy, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {words}")


@pytest.mark.heavy  # packs, unpacks and compiles 9 MB
def test_an_archive_is_unpacked_once_and_runs(tmp_path) -> None:
    source = write_graph(tmp_path / "source")
    made = penstock("bundle", "graph.pbtxt", "--import", "./bundle_test_gate.py", "--json", *LEAN, cwd=source)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["file"] == "graph.pyz"
    cache = tmp_path / "cache"

    for _ in range(2):
        done = bare(
            source / "graph.pyz", "--side", "path=n.txt", "--quiet", cwd=tmp_path, PENSTOCK_BUNDLES=str(cache)
        )
        assert (done.returncode, done.stderr) == (0, "")
    (unpacked,) = cache.iterdir()
    assert unpacked.name.startswith("graph-")
    assert (tmp_path / "n.txt").read_text() == "0 2 4 0 2 4 "

    (tmp_path / "file").write_text("no folder")
    refused = bare(source / "graph.pyz", cwd=tmp_path, PENSTOCK_BUNDLES=str(tmp_path / "file"))
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: the bundle cannot be unpacked: ")
    assert "set PENSTOCK_BUNDLES to a folder that can be written" in refused.stderr


# --- what is refused ------------------------------------------------------------------------------


def test_what_cannot_run_is_not_bundled(tmp_path) -> None:
    graph = write_graph(tmp_path) / "graph.pbtxt"

    code, output = called(tmp_path / "nothing.pbtxt")
    assert (code, "graph file" in output, "does not exist" in output) == (4, True, True)
    code, output = called(graph)
    assert code == 3
    assert "'BundledNumbers'" in output
    (tmp_path / "passed.pbtxt").unlink()
    code, output = called(graph)
    assert code == 3
    assert "'PassedSubgraph'" in output
    graph.write_text(PASSED)
    code, output = called(graph)
    assert code == 2
    assert "has input streams that a bundle cannot feed: 'in'; add source nodes" in output
    assert [path.name for path in tmp_path.iterdir() if "pyz" in path.name or path.name.startswith(".")] == []


def test_a_model_that_is_not_there_is_named(tmp_path, monkeypatch) -> None:
    pytest.importorskip("penstock_tensors", reason="penstock-tensors is not installed")
    monkeypatch.setattr("penstock_cli.bundle.distributions.closure", lambda *_: {})  # the runtime is large
    graph = tmp_path / "graph.pbtxt"
    node = """
    input_side_packet: "s"
    node { calculator: "SidePacketToStreamCalculator" input_side_packet: "s" output_stream: "AT_ZERO:t" }
    node {
      calculator: "InferenceCalculator" input_stream: "TENSORS:t" output_stream: "TENSORS:u"
      options { [mediapipe.InferenceCalculatorOptions.ext] { model_path: "%s" } }
    }
    """
    graph.write_text(node % "models/none.tflite")
    code, output = called(graph, "-o", tmp_path / "app")
    assert code == 4
    assert "the resource finder has not found 'models/none.tflite'" in output

    graph.write_text(node % "/models/none.tflite")
    code, output = called(graph, "-o", tmp_path / "app")
    assert code == 1
    assert "name it relative to that" in output

    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "none.tflite").write_bytes(b"a model")
    graph.write_text(node % "models/none.tflite")
    code, output = called(graph, "-o", tmp_path / "app")
    assert code == 0, output
    assert (tmp_path / "app" / "graph" / "models" / "none.tflite").read_bytes() == b"a model"
    assert json.loads((tmp_path / "app" / "bundle.json").read_text())["models"] == ["models/none.tflite"]


RESOURCES = """
    input_side_packet: "given"
    node {
      calculator: "SwitchContainer"
      output_side_packet: "PACKET:chosen"
      options { [mediapipe.SwitchContainerOptions.ext] {
        select: 1
        contained_node { calculator: "ConstantSidePacketCalculator"
          options { [mediapipe.ConstantSidePacketCalculatorOptions.ext] {
            packet { string_value: "far.txt" } } } }
        contained_node { calculator: "ConstantSidePacketCalculator"
          options { [mediapipe.ConstantSidePacketCalculatorOptions.ext] {
            packet { string_value: "near.txt" } } } }
      } }
    }
    node {
      calculator: "ConstantSidePacketCalculator"
      output_side_packet: "PACKET:0:number"
      output_side_packet: "PACKET:1:name"
      options { [mediapipe.ConstantSidePacketCalculatorOptions.ext] {
        packet { int_value: 3 } packet { string_value: "models/one.tflite" } } }
    }
    node {
      name: "finds"
      calculator: "ResourceProviderCalculator"
      input_side_packet: "RESOURCE_ID:0:name"
      input_side_packet: "RESOURCE_ID:1:chosen"
      output_side_packet: "RESOURCE:0:a"
      output_side_packet: "RESOURCE:1:b"
    }
    node { name: "asks" calculator: "ResourceProviderCalculator" input_side_packet: "RESOURCE_ID:given"
      output_side_packet: "RESOURCE:c" }
    node { name: "opens" calculator: "LocalFileContentsCalculator" input_side_packet: "FILE_PATH:name"
      output_side_packet: "CONTENTS:d" }
"""


def test_files_that_constants_name_through_side_packets_come_along(tmp_path, monkeypatch) -> None:
    pytest.importorskip("penstock_tensors", reason="penstock-tensors is not installed")
    monkeypatch.setattr("penstock_cli.bundle.distributions.closure", lambda *_: {})
    graph, out = tmp_path / "graph.pbtxt", tmp_path / "app"
    graph.write_text(RESOURCES)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.tflite").write_bytes(b"a model")
    (tmp_path / "near.txt").write_bytes(b"near")

    code, output = called(graph, "-o", out)

    assert code == 0, output
    assert sorted(json.loads((out / "bundle.json").read_text())["models"]) == [
        "models/one.tflite",
        "near.txt",
    ]
    assert (out / "graph" / "near.txt").read_bytes() == b"near"
    assert output.splitlines()[:-1] == [
        "known only in the run: asks: read the file that side packet RESOURCE_ID names",
        "not in the bundle: opens: read 'models/one.tflite'",
        "not in the bundle: finds: read 'far.txt'",
    ]
    (tmp_path / "models" / "one.tflite").unlink()
    code, output = called(graph, "-o", out, "--force")
    assert code == 4
    assert "the resource finder has not found 'models/one.tflite'" in output


def test_what_is_there_is_replaced_only_by_force_and_if_it_is_a_bundle(simple, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("penstock_cli.bundle.distributions.closure", lambda *_: {})
    out = tmp_path / "app"
    assert called(simple, "-o", out)[0] == 0
    (out / "old").write_text("of before")

    code, output = called(simple, "-o", out)
    assert (code, "exists; --force writes it there" in output) == (2, True)
    assert (out / "old").exists()
    assert called(simple, "-o", out, "--force")[0] == 0
    assert not (out / "old").exists()

    foreign = tmp_path / "foreign"
    foreign.mkdir()
    code, output = called(simple, "-o", foreign, "--force")
    assert (code, "is no bundle: it has no bundle.json" in output) == (2, True)
    code, output = called(simple, "-o", tmp_path / "no" / "app")
    assert (code, "does not exist; make it first" in output) == (4, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app", "foreign", "simple.pbtxt"]


def test_ctrl_c_leaves_nothing_behind_and_the_old_bundle_as_it_was(simple, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("penstock_cli.bundle.distributions.closure", lambda *_: {})
    out = tmp_path / "app"
    assert called(simple, "-o", out)[0] == 0
    (out / "old").write_text("of before")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_describe", interrupted)
    code, output = called(simple, "-o", out, "--force")

    assert (code, "interrupted" in output) == (130, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app", "simple.pbtxt"]
    assert (out / "old").read_text() == "of before"


def test_distributions_that_are_not_there_are_refused() -> None:
    with pytest.raises(
        RunFailed, match="the graph requires the distribution 'no-such-pack', which is not installed; install"
    ):
        distributions.closure(["no-such-pack"])
    with pytest.raises(
        WrongUsage, match=r"--with no-such-pack: distribution 'no-such-pack' is not installed"
    ):
        distributions.closure(["penstock-core"], ["no-such-pack"])
    with pytest.raises(
        WrongUsage, match=r"--with \[x\]: .*; write the name of a distribution, such as NAME or NAME\[EXTRA\]"
    ):
        distributions.closure(["penstock-core"], ["[x]"])
    with pytest.raises(
        WrongUsage, match="--without flask: no distribution requires it; leave the option out"
    ):
        distributions.closure(["penstock-core"], without=["flask"])


def test_extras_come_along_where_all_of_them_is_installed(tmp_path, monkeypatch) -> None:
    metadata = {
        "bundle-one": (
            "Requires-Dist: bundle-two[deep]; extra == 'whole'\nProvides-Extra: whole\n"
            "Requires-Dist: bundle-two[bare]; extra == 'torn'\nProvides-Extra: torn\n"
            "Requires-Dist: bundle-none; extra == 'lost'\nProvides-Extra: lost\n"
            "Requires-Dist: pytest; extra == 'testing'\nProvides-Extra: testing\n"
        ),
        "bundle-two": (
            "Requires-Dist: bundle-three; extra == 'deep'\nProvides-Extra: deep\n"
            "Requires-Dist: bundle-none; extra == 'bare'\nProvides-Extra: bare\n"
        ),
        "bundle-three": "",
    }
    for name, lines in metadata.items():
        info = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{lines}")
    monkeypatch.syspath_prepend(tmp_path)

    assert list(distributions.closure(["bundle-one"])) == ["bundle-one", "bundle-three", "bundle-two"]
    with pytest.raises(RunFailed, match="bundle-two requires the distribution 'bundle-none', which is not"):
        distributions.closure(["bundle-three"], ["bundle-one[torn]"])


def test_requirements_come_along_and_those_of_authors_do_not() -> None:
    found = distributions.closure(["penstock_core"])

    assert list(found) == ["attrs", "penstock-core", "pluggy", "protobuf"]
    assert "pytest" in distributions.closure(["penstock-core"], ["penstock-core[testing]"])
