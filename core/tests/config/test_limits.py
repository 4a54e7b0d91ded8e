"""Each limit has an override by the application, and graph files that would stop the machine meet one."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import textwrap
from inspect import getsource

import pytest

import penstock
from penstock import limits
from penstock.config import CalculatorGraphConfig, build_plan, read_graph
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    ResourceExhaustedError,
    StatusCode,
    UnknownNameError,
)
from penstock.limits import Limits
from penstock.port_tags import TagMap
from penstock.shown import clipped, printable, quoted

HUGE = "x" * 1_000_000


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in Limits._fields:
        monkeypatch.delenv(limits.variable(name), raising=False)


@pytest.fixture(autouse=True)
def end_calculator(declare):
    declare("EndCalculator", lambda cc: None)


def refused(source, registry, **more):
    with pytest.raises(ResourceExhaustedError) as raised:
        build_plan(source, registry, **more)
    return raised.value


# --- what limits there are ------------------------------------------------------------------------


def test_every_limit_has_a_default_that_large_graphs_are_far_from() -> None:
    assert limits.current() == Limits()
    assert Limits().nodes >= 10 * 1000
    assert Limits().file_bytes >= 10_000 * 1000
    assert len(
        re.findall(r"^    #: [^\n]+\n(?:    #: [^\n]+\n)*    \w+: int", getsource(Limits), re.MULTILINE)
    ) == len(Limits())


def test_an_environment_variable_overrides_one_limit(monkeypatch) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_NODES", "7")

    assert limits.current() == Limits(nodes=7)


@pytest.mark.parametrize("value", ["", "0", "-1", "91", "many", "1.5", "٣", "9" * 30])
def test_a_variable_that_is_no_number_is_an_error_that_names_it(monkeypatch, value) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_DEPTH", value)

    with pytest.raises(InvalidArgumentError) as raised:
        limits.current()

    said = repr(int(value)) if value in {"0", "91"} else repr(value)
    assert str(raised.value) == f"PENSTOCK_MAX_DEPTH is {said}: a limit must be a whole number from 1 to 90"


def test_an_override_holds_inside_its_block_and_goes_before_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_NODES", "7")
    monkeypatch.setenv("PENSTOCK_MAX_PORTS", "8")

    with limits.override(nodes=70) as outer:
        with limits.override(depth=3) as inner:
            assert inner == limits.current() == Limits(nodes=70, ports=8, depth=3)
        assert outer == limits.current() == Limits(nodes=70, ports=8)
    assert limits.current() == Limits(nodes=7, ports=8)


def test_an_override_ends_with_an_exception_too() -> None:
    with pytest.raises(KeyError), limits.override(quoted=3):
        raise KeyError

    assert limits.current() == Limits()
    assert quoted("abcdef") == "'abcdef'"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"notes": 3}, "there is no limit 'notes'; there are file_bytes, tokens, depth, nodes, "),
        ({"depth": 91}, "limit 'depth' is 91: a limit must be a whole number from 1 to 90"),
        ({"nodes": 0}, "limit 'nodes' is 0: a limit must be a whole number from 1 to 9999"),
        ({"nodes": 1.5}, "limit 'nodes' is 1.5: a limit must be a whole number from 1"),
    ],
)
def test_an_override_that_makes_no_sense_is_refused(given, words) -> None:
    with pytest.raises(InvalidArgumentError) as raised, limits.override(**given):
        pass

    assert str(raised.value).startswith(words)


def test_the_error_names_limit_value_and_override_and_survives_pickling() -> None:
    limits.check("nodes", 10_000, "as many as there may be")
    with pytest.raises(ResourceExhaustedError) as raised:
        limits.check("nodes", 10_001, "the graph has 10001 nodes")

    again = pickle.loads(pickle.dumps(raised.value))  # noqa: S301  # what this test wrote
    for error in (raised.value, again):
        assert (error.limit, error.code) == ("nodes", StatusCode.RESOURCE_EXHAUSTED)
        assert str(error) == (
            "the graph has 10001 nodes, more than the limit 'nodes' of 10000; an application that means this "
            "raises the limit by PENSTOCK_MAX_NODES or by penstock.limits.override(nodes=...)"
        )


def test_limits_can_be_used_without_an_import_of_their_own() -> None:
    code = "import penstock\nwith penstock.limits.override(nodes=3) as found: print(found.nodes)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "3\n"


# --- files ------------------------------------------------------------------------------------------

RUN = """
import resource, sys
from pathlib import Path
from penstock import config
from penstock.errors import PenstockError
from penstock.registry import Registry

registry = Registry()
registry.add("input stream handler", "DefaultInputStreamHandler", type("Handler", (), {}))
registry.add("executor", "ThreadPoolExecutor", type("Executor", (), {}))
End = type("EndCalculator", (), {"get_contract": classmethod(lambda cls, cc: None)})
registry.add("calculator", "EndCalculator", End)
config.build_plan('node { calculator: "EndCalculator" }', registry)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 256 * 2**20,) * 2)
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
try:
    SOURCE
except PenstockError as error:
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before
    assert spent < 10, spent  # a moment on a quiet machine; what has no limit is killed after 20
    print(error.code.name, getattr(error, "limit", None), error)
"""


def ended(source):
    """Return what a graph that is made in a small process ends with."""
    code = RUN.replace("    SOURCE", textwrap.indent(source, "    "))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")


@linux
@pytest.mark.parametrize("suffix", [".pbtxt", ".binarypb", ".json"])
def test_a_file_that_never_ends_is_not_read(tmp_path, suffix) -> None:
    path = tmp_path / f"graph{suffix}"
    path.symlink_to("/dev/zero")

    said = ended(f"config.build_plan(Path({str(path)!r}), registry)")

    assert said.startswith(
        f"INVALID_ARGUMENT None graph file {str(path)!r} is a device or a pipe; read it, and "
    )


@linux
def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path) -> None:
    path = tmp_path / "graph.pbtxt"
    os.mkfifo(path)

    assert "is a device or a pipe" in ended(f"config.build_plan(Path({str(path)!r}), registry)")
    binary = f"config.build_plan(None, registry, binary_graph_path={str(path)!r})"
    assert "is a device or a pipe" in ended(binary)


@linux
@pytest.mark.parametrize("suffix", [".pbtxt", ".binarypb", ".json"])
def test_a_file_longer_than_the_limit_is_not_read_to_its_end(tmp_path, suffix) -> None:
    path = tmp_path / f"graph{suffix}"
    with path.open("wb") as file:
        file.truncate(2**40)

    said = ended(f"config.build_plan(Path({str(path)!r}), registry)")

    assert said.startswith("RESOURCE_EXHAUSTED file_bytes graph file ")
    assert f"{str(path)!r} has too many bytes, more than the limit 'file_bytes' of 16777216" in said


def test_a_link_to_a_file_is_read_and_a_missing_one_not_found(tmp_path, registry) -> None:
    (tmp_path / "real.pbtxt").write_text('node { calculator: "EndCalculator" }')
    link = tmp_path / "link.pbtxt"
    link.symlink_to(tmp_path / "real.pbtxt")

    assert len(read_graph(link, registry).node) == 1
    with pytest.raises(NotFoundError, match="there is no graph file"):
        read_graph(tmp_path / "missing.pbtxt", registry)
    (tmp_path / "folder.pbtxt").mkdir()
    with pytest.raises(PenstockError, match="cannot be read: Is a directory"):
        read_graph(tmp_path / "folder.pbtxt", registry)


def test_a_file_of_just_the_allowed_size_is_read(tmp_path, registry) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { calculator: "EndCalculator" }')

    with limits.override(file_bytes=path.stat().st_size):
        assert len(read_graph(path, registry).node) == 1
    with limits.override(file_bytes=path.stat().st_size - 1):
        assert refused(path, registry).limit == "file_bytes"


def test_graph_text_has_the_same_limit(registry) -> None:
    assert refused(" " * 20_000_000, registry).limit == "file_bytes"


@linux
@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("tokens", "'{' * 16_000_000"),
        ("tokens", "'a{}' * 5_000_000"),
        ("tokens", "'node{}' * 1_500_000"),
        ("nodes", "'node{}' * 90_000"),
        ("file_bytes", "' ' * 17_000_000"),
    ],
)
def test_text_of_many_parts_is_refused_before_they_take_the_memory(limit, text) -> None:
    code = RUN.replace("SOURCE", f"config.build_plan({text}, registry)")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stderr == ""
    assert done.stdout.startswith(f"RESOURCE_EXHAUSTED {limit} ")


@linux
@pytest.mark.parametrize(
    ("limit", "data"),
    [
        ("nodes", "b'\\x0a\\0' * (8 * 2**20 - 10)"),  # empty nodes
        ("tokens", "b'\\x72\\0' * (8 * 2**20 - 10)"),  # empty executors
        ("tokens", "b'\\x52\\0' * (8 * 2**20 - 10)"),  # names of input streams
    ],
)
def test_bytes_of_many_parts_are_refused_before_they_take_the_memory(limit, data, tmp_path) -> None:
    path = tmp_path / "g.binarypb"
    said = ended(f"""
path = Path({str(path)!r})
path.write_bytes({data})
config.build_plan(path, registry)
""")
    assert said.startswith(f"RESOURCE_EXHAUSTED {limit} ")


def test_bytes_that_are_large_and_legal_are_read(tmp_path, registry) -> None:
    graph = CalculatorGraphConfig()
    for number in range(3000):
        graph.node.add(calculator="EndCalculator", name=f"node_{number:040}")
    path = tmp_path / "large.binarypb"
    path.write_bytes(graph.SerializeToString())
    assert path.stat().st_size > 2**17
    assert len(read_graph(path, registry).node) == 3000
    path.write_bytes(graph.SerializeToString()[:-7])
    with pytest.raises(GraphParseError, match="are no serialized CalculatorGraphConfig"):
        read_graph(path, registry)


@linux
@pytest.mark.parametrize(
    "text",
    [r"""'"' + '\\"' * 1_000_000""", r"""'node { name: "' + '\\"' * 1_000_000""", "'\"' + 'x' * 8_000_000"],
)
def test_a_string_that_is_never_closed_takes_no_longer_than_its_length(text) -> None:
    said = ended(f"config.build_plan({text}, registry)")

    assert said.startswith("INVALID_ARGUMENT None line 1, column ")
    assert len(said) < 1000


# --- nodes ------------------------------------------------------------------------------------------


@linux
def test_subgraphs_of_two_of_the_next_are_counted_before_they_are_expanded() -> None:
    said = ended("""
graphs = {f"S{i}": f'node {{ calculator: "S{i + 1}" }} ' * 2 for i in range(24)}
graphs["S24"] = 'node { calculator: "EndCalculator" }'
config.build_plan('node { calculator: "S0" }', registry, subgraphs=graphs)
""")

    words = "with its subgraphs expanded the graph has 16777216 nodes, more than the limit 'nodes' of 10000"
    assert said.startswith(f"RESOURCE_EXHAUSTED nodes {words}")


@linux
def test_subgraphs_that_are_made_for_each_use_are_counted_as_they_are_expanded() -> None:
    said = ended("""
from penstock import Subgraph, limits
def doubles(i):
    class Two(Subgraph):
        @classmethod
        def get_config(cls, sc):
            return f'node {{ calculator: "S{i + 1}" }} ' * 2
    return Two
classes = {f"S{i}": doubles(i) for i in range(24)}
with limits.override(nodes=2000):
    config.build_plan('node { calculator: "S0" }', registry, subgraphs=classes)
""")

    assert said.startswith("RESOURCE_EXHAUSTED nodes with its subgraphs expanded the graph has 2001 nodes, ")


@linux
def test_what_one_use_of_a_subgraph_has_made_is_counted_before_the_next_is_made() -> None:
    said = ended("""
from penstock import Subgraph
class Made(Subgraph):
    uses = 0
    @classmethod
    def get_config(cls, sc):
        cls.uses += 1
        return 'node { calculator: "S0" }'
graphs = {f"S{i}": f'node {{ calculator: "S{i + 1}" }} ' * 2 for i in range(24)}
graphs["S24"] = 'node { calculator: "EndCalculator" }'
graphs["Made"] = Made
try:
    config.build_plan('node { calculator: "Made" } ' * 1000, registry, subgraphs=graphs)
finally:
    print(Made.uses)
""")

    uses, _, error = said.partition("\n")
    assert uses == "1"
    words = "with its subgraphs expanded the graph has 16778215 nodes, more than the limit 'nodes' of 10000"
    assert error.startswith(f"RESOURCE_EXHAUSTED nodes {words}")


@linux
def test_long_names_are_not_repeated_for_each_node_of_a_subgraph() -> None:
    said = ended("""
inner = 'node { calculator: "EndCalculator" } ' * 1000
name = "n" * 1_000_000
config.build_plan(f'node {{ calculator: "Inner" name: "{name}" }}', registry, subgraphs={"Inner": inner})
""")

    words = "the nodes inside of subgraphs have too long names and options, more than the limit 'text'"
    assert said.startswith(f"RESOURCE_EXHAUSTED text {words} of 67108864")


def test_a_graph_of_as_many_nodes_as_allowed_is_loaded_and_one_more_is_refused(registry) -> None:
    nodes = "".join(f'node {{ calculator: "EndCalculator" name: "n{i}" }} ' for i in range(30))
    inner = {"Ten": 'node { calculator: "EndCalculator" } ' * 10}

    with limits.override(nodes=30):
        assert len(build_plan(nodes, registry).nodes) == 30
        assert len(build_plan('node { calculator: "Ten" } ' * 3, registry, subgraphs=inner).nodes) == 30
    with limits.override(nodes=29):
        assert refused(nodes, registry).limit == "nodes"
        assert (
            refused(CalculatorGraphConfig(node=[{"calculator": "EndCalculator"}] * 30), registry).limit
            == "nodes"
        )
        assert refused('node { calculator: "Ten" } ' * 3, registry, subgraphs=inner).limit == "nodes"


def test_a_subgraph_that_contains_itself_twice_is_a_circle_and_not_too_many_nodes(registry) -> None:
    with pytest.raises(GraphConfigError, match="contains itself: Self → Self"):
        build_plan(
            'node { calculator: "Self" }', registry, subgraphs={"Self": 'node { calculator: "Self" } ' * 2}
        )


def test_subgraphs_deeper_than_the_limit_are_refused_with_their_place(registry) -> None:
    graphs = {f"S{i}": f'node {{ calculator: "S{i + 1}" }}' for i in range(4)}
    graphs["S4"] = 'node { calculator: "EndCalculator" }'

    with limits.override(depth=5):
        assert len(build_plan('node { calculator: "S0" }', registry, subgraphs=graphs).nodes) == 1
    with limits.override(depth=4):
        error = refused('node { calculator: "S0" }', registry, subgraphs=graphs)
    assert error.limit == "depth"
    assert "<subgraph S3>:1:8: used by node " in str(error)
    assert "(S4) is inside of 4 subgraphs, more than the limit 'depth' of 4" in str(error)


def test_a_node_with_more_ports_than_the_limit_is_a_fault() -> None:
    TagMap(f"IN:{i}:s{i}" for i in range(10_000))
    with pytest.raises(ResourceExhaustedError, match="a node has a list of 10001 ports, more than"):
        TagMap("s" for _ in range(10_001))
    with limits.override(ports=20_000):
        assert len(TagMap(f"IN:{i}:s{i}" for i in range(20_000))) == 20_000


# --- messages ---------------------------------------------------------------------------------------


def message_of(source, registry):
    with pytest.raises(PenstockError) as raised:
        build_plan(source, registry)
    return str(raised.value)


@pytest.mark.parametrize(
    "source",
    [
        f'node {{ calculator: "{HUGE}" }}',
        f'node {{ calculator: "EndCalculator" name: "{HUGE}" executor: "{HUGE}" input_stream: "{HUGE}" }}',
        f'node {{ calculator: "EndCalculator" input_stream: "{HUGE} {HUGE}" }}',
        f'node {{ calculator: "EndCalculator" input_stream: "A:5:{HUGE}" }}',
        f'node {{ calculator: "EndCalculator" output_stream: "{HUGE}" output_stream: "{HUGE}" }}',
        f'node {{ calculator: "EndCalculator" option_value: "{HUGE}:{HUGE}" }}',
        f'node {{ calculator: "EndCalculator" input_stream_handler {{ input_stream_handler: "{HUGE}" }} }}',
        f'node {{ calculator: "EndCalculator" input_stream_info {{ tag_index: "{HUGE}" }} }}',
        f'executor {{ name: "{HUGE}" type: "{HUGE}" }} executor {{ name: "{HUGE}" }}',
        f'executor {{ name: "__{HUGE}" }}',
        f'input_stream: "{HUGE}" input_stream: "{HUGE}"',
        f"{HUGE}: 1",
        f'"{HUGE}"',
        f"max_queue_size: {HUGE}",
        f"max_queue_size: {'9' * 1_000_000}",
        f"node {{ {HUGE}: 1 }}",
        f"node {{ options {{ [penstock.{HUGE}.ext] {{ }} }} }}",
        f"node {{ node_options {{ [type.googleapis.com/{HUGE}.X] {{ }} }} }}",
    ],
    ids=lambda source: str(source)[:60],
)
def test_a_message_does_not_repeat_a_long_value_of_the_file(registry, source) -> None:
    message = message_of(source, registry)

    assert len(message) < 2500
    assert "characters)" in message or "Couldn't" in message or message.count("x") < 300


def test_a_long_value_is_quoted_by_its_beginning_and_its_length() -> None:
    assert quoted("short") == "'short'"
    assert quoted("x" * 200) == repr("x" * 200)
    assert quoted("x" * 201) == f"{'x' * 200!r}… (201 characters)"
    assert clipped("x" * 201) == f"{'x' * 200}… (201 characters)"
    with limits.override(quoted=3):
        assert (quoted("abcd"), clipped("abc")) == ("'abc'… (4 characters)", "abc")


def test_the_environment_says_how_long_a_quoted_value_may_be(monkeypatch, registry) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_QUOTED", "5")

    assert "no calculator 'Unkno'… (7 characters) is registered" in message_of(
        'node { calculator: "Unknown" }', registry
    )


def test_a_message_lists_the_first_faults_and_how_many_more_there_are(registry) -> None:
    graph = "".join(f'node {{ calculator: "Unknown{i}" }}\n' for i in range(1000))

    with pytest.raises(GraphConfigError) as raised:
        build_plan(graph, registry)

    head, *lines = str(raised.value).splitlines()
    assert head == "the graph cannot run, 1000 faults:"
    assert [line.partition(":")[0] for line in lines[:20]] == [f"  line {i}, column 8" for i in range(1, 21)]
    assert lines[20:] == ["  and 980 more"]
    assert len(raised.value.faults) == 1000
    assert all(isinstance(fault, UnknownNameError) for fault in raised.value.faults)

    with limits.override(faults=1000):
        assert len(message_of(graph, registry).splitlines()) == 1001


@pytest.mark.parametrize(
    "error",
    [
        PenstockError("half \ud800"),
        InvalidArgumentError("half \ud800"),
        GraphParseError("half \ud800", file="\udcff.pbtxt"),
        InvalidArgumentError("fine").placed("\udcff.pbtxt: "),
        UnknownNameError("calculator", "half \ud800"),
        GraphConfigError([PenstockError("half \ud800")], file="\udcff.pbtxt"),
        penstock.GraphRunError([PenstockError("half \ud800")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_message_with_half_of_a_character_can_be_printed(error) -> None:
    assert "\\ud" in str(error)
    str(error).encode()
    repr(error).encode()


def test_other_characters_of_a_message_stay_as_they_are() -> None:
    assert str(PenstockError("größer → 😀")) == "größer → 😀"


def test_a_message_that_a_calculator_makes_as_long_as_the_file_is_cut(registry, declare) -> None:
    def contract(cc):
        raise InvalidArgumentError(f"{HUGE}; take some away")

    declare("LongCalculator", contract)
    with pytest.raises(GraphConfigError) as raised:
        build_plan('node { calculator: "LongCalculator" }', registry)
    assert len(str(raised.value)) < 25_000
    assert "characters are left out" in str(raised.value)
    assert str(raised.value).endswith("take some away")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31m\r\x07\x7f\x9b", r"\x1b[31m\r\x07\x7f\x9b"),
        ("für \u202egnp.exe", r"für \u202egnp.exe"),
        ("\ud800", r"\ud800"),
    ],
)
def test_messages_hold_nothing_that_changes_a_terminal(text, shown) -> None:
    assert printable(text) == shown
    assert str(PenstockError(text)) == shown
