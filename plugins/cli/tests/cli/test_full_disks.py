"""Files that a command cannot write: an error with the path, and nothing half written."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of POSIX"),
]
GRAPH = """
input_side_packet: "n"
node { calculator: "CountingSourceCalculator" input_side_packet: "MAX_COUNT:n" output_stream: "numbers" }
"""
#: The command, and the file that it writes.
COMMANDS = {
    "trace": (("run", "g.pbtxt", "--side", "n=3000", "--trace"), "t.json"),
    "perfetto": (("run", "g.pbtxt", "--side", "n=3000", "--trace"), "t.pftrace"),
    "report": (("report", "whole.json", "-o"), "r.html"),
    "mermaid": (("show", "large.pbtxt", "-o"), "g.mmd"),
    "dot": (("show", "large.pbtxt", "-o"), "g.dot"),
    "json": (("show", "large.pbtxt", "-o"), "g.json"),
    "svg": (("show", "large.pbtxt", "-o"), "g.svg"),
    "demo": (("demo", "--no-gpu", "--frames", "60", "-o"), "d.mp4"),
}
#: What keeps a file from being written → the path, given the usual one.
PLACES = {
    "a full disk": lambda path: path,
    "a missing folder": lambda path: f"missing/{path}",
    "a folder in its place": lambda path: f"folder/{path}",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "g.pbtxt").write_text(GRAPH)
    nodes = "".join(
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{n}" output_stream: "s{n + 1}" }}\n'
        for n in range(40)
    )
    (tmp_path / "large.pbtxt").write_text(f'input_stream: "s0"\n{nodes}')
    for _, path in COMMANDS.values():
        (tmp_path / "folder" / path).mkdir(parents=True)
    command = [sys.executable, "-m", "penstock_cli", "run", "g.pbtxt", "--side", "n=50", "--quiet"]
    subprocess.run([*command, "--trace", "whole.json"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_cannot_be_written_is_named(folder, name, place):
    if (name, place) == ("demo", "a folder in its place"):
        pytest.skip("a folder, whatever its name, takes the frames as pictures")
    words, path = COMMANDS[name]
    target = PLACES[place](path)
    before = sorted(one.name for one in folder.iterdir())
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)); " * (
        place == "a full disk"
    )
    code = f"{limit}import sys; sys.argv[0] = 'penstock'; from penstock_cli.main import main; main()"
    # Without -B Python before 3.12.8 keeps bytecode that the limit cut, and every later process fails.
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *words, target],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode in {1, 2, 4}, done.stderr
    assert target in done.stderr
    assert "Traceback" not in done.stderr
    left = sorted({one.name for one in folder.iterdir()} - set(before))
    assert all(".partial" in one for one in left), left
