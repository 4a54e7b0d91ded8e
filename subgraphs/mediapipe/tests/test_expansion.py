"""The subgraphs: each can be used, and MediaPipe's shipped graphs expand as the reference expands them.

What the reference makes of each graph is beside the repository, in `../shared/cases/door`. The graphs are
in the wheel `mediapipe==0.10.21` or the folder that PENSTOCK_MEDIAPIPE_MODELS names. Where either is
missing, the tests that need it skip and say so.
"""

from __future__ import annotations

import os
import zipfile
from importlib import resources
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool, message_factory

from penstock.config import build_plan, read_graph
from penstock.plugins.default_registry import default_registry
from penstock_subgraphs_mediapipe.plugin import penstock_components

SUBGRAPHS = penstock_components().subgraphs
EXPANDED = Path(__file__).resolve().parents[3].parent / "shared" / "cases" / "door" / "expanded"
GRAPHS = (
    "face_detection_full_range_cpu",
    "face_detection_short_range_cpu",
    "face_landmark_front_cpu",
    "hand_landmark_tracking_cpu",
    "holistic_landmark_cpu",
    "objectron_cpu",
    "pose_landmark_cpu",
    "selfie_segmentation_cpu",
)


def test_all_subgraphs_of_the_shipped_graphs_are_there():
    assert len(SUBGRAPHS) == 42
    files = {path.name for path in resources.files("penstock_subgraphs_mediapipe").iterdir()}
    named = {place.partition(":")[2] for place in SUBGRAPHS.values()}
    assert named == {name for name in files if name.endswith(".pbtxt")}


@pytest.mark.parametrize("name", sorted(SUBGRAPHS))
def test_a_subgraph_has_its_own_name_and_says_what_it_does(name):
    file = SUBGRAPHS[name].partition(":")[2]
    text = (resources.files("penstock_subgraphs_mediapipe") / file).read_text(encoding="utf-8")

    assert text.startswith("# ")
    assert f'\ntype: "{name}"\n' in text


@pytest.fixture(scope="session")
def shipped(tmp_path_factory):
    """Return a function: the name of a shipped graph → its file."""
    named = os.environ.get("PENSTOCK_MEDIAPIPE_MODELS")
    if not named:
        pytest.skip("PENSTOCK_MEDIAPIPE_MODELS does not name the wheel of mediapipe==0.10.21")
    folder = tmp_path_factory.mktemp("graphs")

    def find(name):
        if Path(named).is_dir():
            return next(Path(named).rglob(f"{name}.binarypb"))
        with zipfile.ZipFile(named) as wheel:
            member = next(one for one in wheel.namelist() if one.endswith(f"/{name}.binarypb"))
            (folder / f"{name}.binarypb").write_bytes(wheel.read(member))
        return folder / f"{name}.binarypb"

    return find


@pytest.mark.skipif(not EXPANDED.is_dir(), reason="the records are not here: no ../shared/cases/door")
@pytest.mark.parametrize("name", GRAPHS)
def test_a_shipped_graph_expands_to_the_nodes_of_the_reference(name, shipped):
    registry = default_registry()
    recorded = read_graph(EXPANDED / f"{name}.expanded.pbtxt", registry).node

    plan = build_plan(shipped(name), registry)

    found = {facts_of_plan(plan, node): node for node in plan.nodes}
    wanted = {facts_of_message(node): node for node in recorded}
    assert set(found) == set(wanted)
    assert len(plan.nodes) == len(recorded)
    for facts, node in wanted.items():
        for options in options_of(node):
            assert found[facts].options.get(type(options)) == options, facts


def facts_of_message(node):
    """Return a node's type, name if it has one, and ports with the names of what they carry."""
    ports = (node.input_stream, node.output_stream, node.input_side_packet, node.output_side_packet)
    return (
        node.calculator,
        node.name if "__" in node.name else "",  # others are not prefixed
        *(tuple(sorted(map(port_of_text, found))) for found in ports),
        tuple(sorted(info.tag_index for info in node.input_stream_info if info.back_edge)),
    )


def port_of_text(text):
    """Return tag and name; the ports of one tag are told apart by their names."""
    parts = text.split(":")
    return (parts[0] if len(parts) > 1 and not parts[0].isdigit() else "", parts[-1])


def facts_of_plan(plan, node):
    streams = [stream.name for stream in plan.streams]
    return (
        node.calculator,
        node.name if "__" in node.name else "",
        tuple(sorted((port.tag, streams[port.stream]) for port in node.inputs)),
        tuple(sorted((port.tag, streams[port.stream]) for port in node.outputs)),
        tuple(sorted((port.tag, port.name) for port in node.input_side_packets)),
        tuple(sorted((port.tag, port.name) for port in node.output_side_packets)),
        tuple(sorted(port.tag for port in node.inputs if port.back_edge)),
    )


def options_of(node):
    """Return the options messages of a node of the records."""
    found = [value for field, value in node.options.ListFields() if field.is_extension]
    for packed in node.node_options:
        cls = message_class(packed.type_url.rpartition("/")[2])
        found.append(cls.FromString(packed.value))
    return found


def message_class(full_name):
    pool = descriptor_pool.Default()
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(full_name))
