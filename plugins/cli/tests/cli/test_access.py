"""`--sandbox`, `--allow-...`, `--force`, and `penstock show GRAPH --access`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.heavy

CALCULATORS = """
import penstock
from penstock.access import ACCESS

@penstock.register_calculator
class Copies(penstock.Calculator):
    "Copies a file."

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets["FROM"].set(str).optional()
        cc.input_side_packets["TO"].set(str)
        cc.outputs[0].set(int)
        fixed = [] if cc.input_side_packets.count("FROM") else ["secret.txt"]
        cc.declare(
            reads=[*fixed, cc.input_side_packets["FROM"]],
            writes=[cc.input_side_packets["TO"]],
            connects=["10.0.0.5:9092"],
        )

    def open(self, cc):
        access, sides = cc.service(ACCESS), cc.input_side_packets
        path = sides["FROM"].get(str) if "FROM" in sides else "secret.txt"
        with access.open(path) as file:
            access.writing(sides["TO"].get(str)).write_bytes(file.read())

    def process(self, cc):
        cc.output.add(1, 0)
        return penstock.STOP
"""
GRAPH = """
node { calculator: "Copies" output_stream: "out" input_side_packet: "FROM:from" input_side_packet: "TO:to" }
node { calculator: "PassThroughCalculator" input_stream: "out" output_stream: "end" }
"""
FIXED = 'node { calculator: "Copies" output_stream: "out" input_side_packet: "TO:to" }'


@pytest.fixture
def run(command, tmp_path):
    """Run a command on the graph, in a folder with files."""
    (tmp_path / "copies.py").write_text(CALCULATORS)
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    (tmp_path / "fixed.pbtxt").write_text(FIXED)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "in" / "b.txt").write_text("b")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "out").mkdir()

    def call(*words, graph="graph.pbtxt"):
        return command(words[0], graph, "--import", "copies.py", *words[1:])

    return call


SIDES = ("--side", "from=in/a.txt", "--side", "to=out/a.txt")
ALLOWED = ("--sandbox", "--allow-read", "in", "--allow-write", "out", "--allow-connect", "10.0.0.5")


def test_a_sandbox_allows_what_is_named(run, tmp_path):
    done = run("run", *SIDES, *ALLOWED)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "a.txt").read_text() == "a"


@pytest.mark.parametrize("words", [("run",), ("why",), ("top", "--once")], ids=lambda words: words[0])
def test_each_command_that_runs_a_graph_keeps_to_it(run, tmp_path, words):
    done = run(*words, *SIDES, "--sandbox")
    assert done.returncode == 3, done.stderr
    assert "may not connect to '10.0.0.5:9092'" in done.stderr
    (tmp_path / "out" / "a.txt").write_text("precious")
    done = run(*words, *SIDES)
    assert done.returncode == 1, done.stderr
    assert "exists; name another one" in done.stdout + done.stderr
    assert (tmp_path / "out" / "a.txt").read_text() == "precious"
    done = run(*words, *SIDES, "--force")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ("--sandbox",),
            3,
            "1:0: node 'Copies': this graph may not connect to '10.0.0.5:9092'; allowed: none",
        ),
        (("--sandbox", "--allow-connect", "10.0.0.5:9092"), 1, "may not read 'in/a.txt'; allowed: none"),
        (
            ("--sandbox", "--allow-connect", "10.0.0.5", "--allow-read", "out"),
            1,
            "may not read 'in/a.txt'; allowed: only '",
        ),
        (("--sandbox", "--allow-connect", "10.0.0.5", "--allow-read", "in"), 1, "may not write 'out/a.txt'"),
        (("--allow-read", "in"), 2, "--allow-read is for --sandbox"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_would_allow_it(run, tmp_path, words, code, said):
    done = run("run", *SIDES, *words)
    assert done.returncode == code
    assert said.replace("1:0", "2:1") in done.stderr
    assert not (tmp_path / "out" / "a.txt").exists()


def test_validate_finds_what_the_file_itself_names(run):
    assert run("validate", graph="fixed.pbtxt").returncode == 0
    done = run("validate", "--sandbox", "--allow-connect", "10.0.0.5", graph="fixed.pbtxt")
    assert done.returncode == 3
    assert "this graph may not read 'secret.txt'" in done.stdout + done.stderr


def test_a_file_that_exists_is_replaced_with_force_only(run, tmp_path):
    assert run("run", *SIDES).returncode == 0
    again = run("run", *SIDES)
    assert again.returncode == 1
    assert "the file 'out/a.txt' exists; name another one" in again.stderr
    assert "--force" in again.stderr
    assert run("run", "--force", *SIDES).returncode == 0
    assert run("run", *ALLOWED, *SIDES).returncode == 1
    assert run("run", "--force", *ALLOWED, *SIDES).returncode == 0
    assert (tmp_path / "out" / "a.txt").read_text() == "a"


def test_each_run_of_a_folder_has_the_same_limits(run, tmp_path):
    each = ("run", "--each", "in/*.txt", "--side", "from={file}", "--side", "to=out/{name}")
    assert run(*each, *ALLOWED[:-1], "10.0.0.6").returncode == 3
    narrow = run(
        *each, "--sandbox", "--allow-connect", "10.0.0.5", "--allow-read", "in/a.txt", "--allow-write", "out"
    )
    assert narrow.returncode == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.txt"]
    assert run(*each, *ALLOWED).returncode == 1  # a.txt exists
    done = run(*each, *ALLOWED, "--force")
    assert done.returncode == 0, done.stdout
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_show_lists_what_a_graph_touches(run, command):
    done = run("show", "--access")
    assert done.stdout == (
        "Copies\n  read the file that side packet FROM names\n  write the file that side packet TO names\n"
        "  connect to '10.0.0.5:9092' (options)\n"
    )
    found = json.loads(run("show", "--access", "--json").stdout)
    assert found["Copies"][2] == {
        "kind": "connects", "what": "10.0.0.5:9092", "source": "options", "is_searched": False,
    }  # fmt: skip
    refused = command("show", "PassThroughCalculator", "--access")
    assert refused.returncode == 2
    assert "--access is for graph files" in refused.stderr


def test_show_says_where_a_graph_touches_nothing(command, tmp_path):
    (tmp_path / "g.pbtxt").write_text('input_stream: "in"')
    assert "no node says that it touches" in command("show", "g.pbtxt", "--access").stdout
