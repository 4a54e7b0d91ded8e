"""Graphs whose calculators and subgraphs read files: by the finder that is there anyway, or by one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock import STOP
from penstock.errors import NotFoundError
from penstock_formats import Tensor
from penstock_tensors import RESOURCES, FoundResource, ResourceFinder
from penstock_tensors.messages.inference_pb2 import InferenceCalculatorOptions
from penstock_testing import run_calculator, testing_registry

OF_SUBGRAPH = "mediapipe/framework/testdata/resource_subgraph.data"
OF_CALCULATOR = "mediapipe/framework/testdata/resource_calculator.data"


#: The calculators take their path, and the subgraph's constant its text, from the field of these options.
GIVEN = "options {{ [penstock.InferenceCalculatorOptions.ext] {{ model_path: {!r} }} }}"


def given(context):
    return context.options(InferenceCalculatorOptions).model_path


class Reads(penstock.Calculator):
    """Reads its file twice: into a side packet, and into a stream."""

    @classmethod
    def get_contract(cls, cc):
        cc.output_side_packets["SIDE_OUT"].set(bytes)
        cc.outputs["OUT"].set(bytes)
        cc.use_service(RESOURCES)

    def find(self, cc):
        return cc.service(RESOURCES).find(given(cc)).data

    def open(self, cc):
        cc.output_side_packets["SIDE_OUT"].set(self.find(cc))

    def process(self, cc):
        cc.outputs["OUT"].add(self.find(cc), 0)
        return STOP


class Constant(penstock.Calculator):
    """Makes the side packet that its options have."""

    @classmethod
    def get_contract(cls, cc):
        cc.output_side_packets["PACKET"].set(str)

    def open(self, cc):
        cc.output_side_packets["PACKET"].set(given(cc))


class ReadsInside(penstock.Subgraph):
    """Reads its file when the graph is loaded."""

    @classmethod
    def get_config(cls, sc):
        text = sc.service(RESOURCES).find(given(sc)).data.decode()
        return f"""
        output_side_packet: "SIDE_OUT:made"
        node {{ calculator: "Constant" output_side_packet: "PACKET:made" {GIVEN.format(text)} }}
        """


def run(finder=None, of_calculator=OF_CALCULATOR, of_subgraph=OF_SUBGRAPH):
    """Run a graph that reads files; return what the subgraph and the calculator have read."""
    graph = penstock.CalculatorGraph(
        f"""
        node {{
          calculator: "ReadsInside" output_side_packet: "SIDE_OUT:subgraph_side_out"
          {GIVEN.format(of_subgraph)}
        }}
        node {{
          calculator: "Reads"
          output_side_packet: "SIDE_OUT:calculator_side_out" output_stream: "OUT:calculator_out"
          {GIVEN.format(of_calculator)}
        }}
        """,
        registry=testing_registry(Reads, Constant),
        subgraphs={"ReadsInside": ReadsInside},
        services=None if finder is None else {RESOURCES: finder},
    )
    seen = []
    graph.observe_output_stream("calculator_out", lambda name, packet: seen.append(packet.payload))
    graph.run(timeout=60)
    sides = [graph.get_output_side_packet(f"{name}_side_out").payload for name in ("subgraph", "calculator")]
    return [sides[0].encode(), sides[1], *seen]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Two files below the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mediapipe/framework/testdata"
    folder.mkdir(parents=True)
    for name in ("subgraph", "calculator"):
        (folder / f"resource_{name}.data").write_bytes(f"File system {name} contents\n".encode())
    return folder


FROM_FILES = [b"File system subgraph contents\n", *2 * [b"File system calculator contents\n"]]


@pytest.mark.reference(
    "framework/calculator_graph_resources_test.cc",
    "CalculatorGraphResourcesTest.GraphAndContextsHaveDefaultResources",
)
@pytest.mark.reference(
    "framework/calculator_context_test.cc", "CalculatorContextTest.CanLoadResourcesThroughCalculatorContext"
)
@pytest.mark.reference(
    "framework/subgraph_test.cc", "SubgraphServicesTest.CanLoadResourcesThroughSubgraphContext"
)
def test_files_are_found_by_their_paths_where_nothing_is_said():
    assert run() == FROM_FILES


class Own(ResourceFinder):
    """Has a text for each of the two names, and reads no files."""

    def find(self, name, access=None):
        texts = {OF_SUBGRAPH: b"Custom subgraph contents", OF_CALCULATOR: b"Custom calculator contents"}
        if name not in texts:
            raise NotFoundError(f"resource {name!r} not found")
        return FoundResource(name, texts[name])


@pytest.mark.reference(
    "framework/calculator_graph_resources_test.cc",
    "CalculatorGraphResourcesTest.CustomResourcesCanBeSetOnGraph",
)
def test_a_graph_may_have_a_finder_of_the_application():
    assert run(Own()) == [b"Custom subgraph contents", *2 * [b"Custom calculator contents"]]


class Customized(ResourceFinder):
    """Writes something before what it finds."""

    def find(self, name, access=None):
        return FoundResource(name, b"Customized: " + super().find(name).data)


@pytest.mark.reference(
    "framework/calculator_graph_resources_test.cc",
    "CalculatorGraphResourcesTest.CustomResourcesUsingDefaultResourcesCanBeSetOnGraph",
)
def test_a_finder_of_the_application_may_change_what_is_found():
    assert run(Customized()) == [b"Customized: " + text for text in FROM_FILES]


@pytest.mark.reference(
    "framework/calculator_graph_resources_test.cc",
    "CalculatorGraphResourcesTest.DefaultResourcesWithMappingCanBeSetAndUsedOnGraph",
)
def test_a_finder_may_know_further_names():
    finder = ResourceFinder(names={"$CALCULATOR_PATH": OF_CALCULATOR, "$SUBGRAPH_PATH": OF_SUBGRAPH})

    assert run(finder, "$CALCULATOR_PATH", "$SUBGRAPH_PATH") == FROM_FILES


@pytest.mark.reference(
    "framework/resources_test.cc", "Resources.CanCreateDefaultResourcesAndReadFileContents"
)
def test_a_finder_reads_a_file_by_its_path():
    assert ResourceFinder().find(OF_CALCULATOR).data == b"File system calculator contents\n"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "resource_calculator.data",
            marks=pytest.mark.reference(
                "framework/resources_test.cc", "Resources.CanReadFileContentsByUnresolvedId"
            ),
        ),
        pytest.param(
            OF_CALCULATOR,
            marks=pytest.mark.reference(
                "framework/resources_test.cc",
                "Resources.CanReadFileContentsByResolvedIdWhenRootDirSpecified",
            ),
        ),
    ],
)
def test_a_finder_with_a_place_reads_a_file_by_its_name_there_and_by_its_path(name):
    finder = ResourceFinder(["mediapipe/framework/testdata"])

    assert finder.find(name).data == b"File system calculator contents\n"


class OneMore(ResourceFinder):
    """Has one text besides the files."""

    def find(self, name, access=None):
        if self.resolve(name) == "custom/resource/id":
            return FoundResource(name, b"Custom content.")
        return super().find(name)


@pytest.mark.reference(
    "framework/resources_test.cc",
    "Resources.CanCreateStringResource",
    "Resources.CanCreateCustomResourcesAndReuseDefault",
)
def test_a_finder_of_the_application_may_have_texts_besides_files():
    finder = OneMore()

    assert FoundResource("a name", b"Test string.").data == b"Test string."
    assert finder.find("custom/resource/id").data == b"Custom content."
    assert finder.find(OF_CALCULATOR).data == b"File system calculator contents\n"


@pytest.mark.reference(
    "framework/resources_test.cc",
    "Resources.CanCreateDefaultResourcesWithMappingAndReadFileContents",
    "Resources.CanResolveIdWithMapping",
    "Resources.CanResolveUnmappedIdWithMapping",
)
def test_a_further_name_stands_for_the_name_of_a_file_and_any_other_for_itself():
    finder = ResourceFinder(names={"$CUSTOM_ID": OF_CALCULATOR})

    assert finder.find("$CUSTOM_ID").data == b"File system calculator contents\n"
    assert finder.resolve("$CUSTOM_ID") == OF_CALCULATOR
    assert finder.resolve("$CUSTOM_ID_UNKNOWN") == "$CUSTOM_ID_UNKNOWN"
    with pytest.raises(NotFoundError, match=r"has not found '\$CUSTOM_ID_UNKNOWN'"):
        finder.find("$CUSTOM_ID_UNKNOWN")
    assert repr(finder).endswith(f"names={{'$CUSTOM_ID': {OF_CALCULATOR!r}}})")


@pytest.mark.reference("framework/resources_test.cc", "Resources.CanCreateCustomResourcesAndUseMapping")
def test_a_finder_of_the_application_may_have_further_names_too():
    finder = OneMore(names={"$CUSTOM_ID": "custom/resource/id"})

    assert finder.find(OF_CALCULATOR).data == b"File system calculator contents\n"
    assert finder.find("$CUSTOM_ID").data == b"Custom content."


def test_further_names_open_no_other_places_to_a_graph_of_strangers(files):
    finder = ResourceFinder(
        ["mediapipe"], only_places=True, names={"$INSIDE": "framework/testdata/resource_subgraph.data"}
    )

    assert finder.find("$INSIDE").data == b"File system subgraph contents\n"
    with pytest.raises(NotFoundError):
        finder.find(str(files / "resource_subgraph.data"))


def test_a_subgraph_of_a_graph_file_searches_beside_the_file_as_its_calculators_do(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "text.data").write_bytes(b"beside")
    file = folder / "graph.pbtxt"
    file.write_text(
        f"""
        node {{
          calculator: "ReadsInside" output_side_packet: "SIDE_OUT:found" {GIVEN.format("text.data")}
        }}
        """
    )
    graph = penstock.CalculatorGraph(
        file, registry=testing_registry(Constant), subgraphs={"ReadsInside": ReadsInside}
    )
    graph.run(timeout=60)

    assert graph.get_output_side_packet("found").payload == "beside"


# --- a graph inside a calculator --------------------------------------------------------------------------

MODEL = Path(__file__).parents[4] / "shared/data/reference/calculators/tensor/1x3_square_int32.tflite"
INSIDE = f"""
input_stream: "input" output_stream: "output"
executor {{ name: "" type: "ApplicationThreadExecutor" }}
node {{
  calculator: "InferenceCalculator" input_stream: "TENSOR:0:input" output_stream: "TENSOR:0:output"
  options {{ [mediapipe.InferenceCalculatorOptions.ext] {{ model_path: "{MODEL}" delegate {{}} }} }}
}}
"""


class RunsAGraph(penstock.Calculator):
    """Runs a model in a graph of its own, on the thread of the call."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["TENSORS"].set(Tensor)
        cc.outputs["TENSORS"].set(Tensor)

    def process(self, cc):
        graph = penstock.CalculatorGraph(INSIDE)
        made = []
        graph.observe_output_stream("output", lambda name, packet: made.append(packet))
        graph.start_run()
        graph.add_packet_to_input_stream("input", cc.inputs["TENSORS"].packet)
        graph.close(60)
        (packet,) = made
        cc.outputs["TENSORS"].add_packet(packet)


@pytest.mark.reference(
    "framework/nested_calculator_graph_test.cc",
    "NestedCalculatorGraphTest.ExecutedNestedGraphWithInferenceCalculator",
)
def test_a_calculator_runs_a_model_in_a_graph_of_its_own():
    pytest.importorskip("ai_edge_litert.interpreter", reason="no ai-edge-litert")
    if not MODEL.exists():
        pytest.skip(f"{MODEL} is not there")
    numbers = Tensor(np.array([[1, 2, 3]], np.int32))
    found = run_calculator(RunsAGraph, {"TENSORS": [(1, numbers)]}, outputs=["TENSORS"]).outputs

    assert [(packet.stamp, packet.payload.array.tolist()) for packet in found["TENSORS"]] == [
        (1, [[1, 4, 9]])
    ]
