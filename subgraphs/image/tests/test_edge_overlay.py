"""EdgeOverlaySubgraph: compared with the flat chain, with options, and as a graph of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.packs import default_registry
from penstock_formats import ImageFormat, ImageFrame

CANNY = "low_threshold: 40 high_threshold: 90 aperture_size: 5 l2_gradient: true line_width: 3"
PAINT = "color { r: 255 b: 7 } alpha: 0.5 darkening: 0.6 region { xmin: 0.5 width: 0.5 }"
WITH_SUBGRAPH = """
input_stream: "frames"
node {
  calculator: "EdgeOverlaySubgraph"
  input_stream: "VIDEO:frames"
  output_stream: "VIDEO:painted"
  output_stream: "EDGES:edges"
  OPTIONS
}
"""
FLAT = """
input_stream: "frames"
node { calculator: "ColorConvertCalculator" input_stream: "RGB_IN:frames" output_stream: "GRAY_OUT:gray" }
node {
  calculator: "CannyEdgeCalculator"
  input_stream: "VIDEO:gray"
  output_stream: "VIDEO:edges"
  node_options { [type.googleapis.com/penstock.CannyEdgeCalculatorOptions] { CANNY } }
}
node {
  calculator: "ImageOverlayCalculator"
  input_stream: "VIDEO:frames"
  input_stream: "MASK:edges"
  output_stream: "VIDEO:painted"
  node_options { [type.googleapis.com/penstock.ImageOverlayCalculatorOptions] { PAINT } }
}
"""


def with_subgraph(canny: str = "", paint: str = "") -> str:
    """Return a graph whose only node is the subgraph, with these options."""
    given = [
        f"node_options {{ [type.googleapis.com/penstock.{name}CalculatorOptions] {{ {fields} }} }}"
        for name, fields in (("CannyEdge", canny), ("ImageOverlay", paint))
        if fields
    ]
    return WITH_SUBGRAPH.replace("OPTIONS", " ".join(given))


def flat(canny: str = "", paint: str = "") -> str:
    return FLAT.replace("{ CANNY }", f"{{ {canny} }}").replace("{ PAINT }", f"{{ {paint} }}")


@pytest.fixture(scope="module")
def frames():
    """Return five frames of soft noise, with edges of all strengths."""
    generator = np.random.default_rng(7)
    soft = [generator.integers(0, 256, (6, 8, 3)).astype(np.uint8) for _ in range(5)]
    return [ImageFrame(np.repeat(np.repeat(one, 8, axis=0), 8, axis=1)) for one in soft]


def run(config, frames, painted="painted", edges="edges", entry="frames"):
    """Return the painted frames and the edges, each as (timestamp, format, pixels)."""
    seen = {painted: [], edges: []}

    def note(name, packet):
        frame = packet.payload
        seen[name].append((int(packet.timestamp), frame.format, frame.array.tobytes()))

    with penstock.CalculatorGraph(config) as graph:
        for stream in seen:
            graph.observe_output_stream(stream, note)
        graph.start_run()
        for number, frame in enumerate(frames):
            graph.add_packet_to_input_stream(entry, penstock.Packet(frame, 40_000 * number))
    return {"painted": seen[painted], "edges": seen[edges]}


def test_without_options_it_is_the_flat_chain_packet_for_packet(frames):
    seen = run(with_subgraph(), frames)

    assert seen == run(flat(), frames)
    assert [at for at, _, _ in seen["painted"]] == [0, 40_000, 80_000, 120_000, 160_000]
    assert {kind for _, kind, _ in seen["painted"]} == {ImageFormat.SRGB}
    assert {kind for _, kind, _ in seen["edges"]} == {ImageFormat.GRAY8}


@pytest.mark.parametrize(
    ("canny", "paint"),
    [
        ("low_threshold: 40", ""),
        ("high_threshold: 600", ""),
        ("aperture_size: 5", ""),
        ("l2_gradient: true", ""),
        ("line_width: 3", ""),
        ("", "color { r: 255 b: 7 }"),
        ("", "alpha: 0.5"),
        ("", "darkening: 0.6"),
        ("", "region { xmin: 0.5 width: 0.5 }"),
    ],
)
def test_each_option_reaches_the_node_inside_and_changes_the_result(frames, canny, paint):
    seen = run(with_subgraph(canny, paint), frames)

    assert seen == run(flat(canny, paint), frames)
    assert seen != run(with_subgraph(), frames)


def test_all_options_together_are_those_of_the_flat_chain(frames):
    assert run(with_subgraph(CANNY, PAINT), frames) == run(flat(CANNY, PAINT), frames)


def test_two_of_them_in_one_graph_keep_their_own_options(frames):
    second = with_subgraph().replace('input_stream: "frames"\n', "", 1)
    two = with_subgraph("low_threshold: 10") + second.replace("painted", "second").replace(
        "edges", "second_edges"
    )

    assert run(two, frames) == run(with_subgraph("low_threshold: 10"), frames)
    assert run(two, frames, "second", "second_edges") == run(with_subgraph(), frames)


def test_the_file_is_a_graph_of_its_own(frames):
    file = default_registry().find("subgraph", "EdgeOverlaySubgraph")
    assert isinstance(file, Path)

    assert run(file, frames, entry="frame") == run(with_subgraph(), frames)


def test_it_comes_from_this_distribution_and_names_the_type_that_it_is_registered_by():
    registry = default_registry()
    text = registry.find("subgraph", "EdgeOverlaySubgraph").read_text(encoding="utf-8")

    assert 'type: "EdgeOverlaySubgraph"' in text.splitlines()
    assert registry.origin("subgraph", "EdgeOverlaySubgraph").distribution == "penstock-subgraphs-image"


def test_invalid_thresholds_are_refused_with_the_node_inside(frames):
    wrong = with_subgraph("low_threshold: 300")

    with pytest.raises(penstock.GraphRunError, match="low_threshold is 300 and high_threshold 200") as caught:
        run(wrong, frames)
    assert caught.value.errors[0].node == "edgeoverlaysubgraph__CannyEdgeCalculator"


def test_an_unknown_port_is_refused_with_the_known_ones():
    with pytest.raises(penstock.GraphConfigError, match="FRAMES") as caught:
        penstock.CalculatorGraph(with_subgraph().replace("VIDEO:frames", "FRAMES:frames"))
    assert "'VIDEO'" in str(caught.value)
