"""ResourceProviderCalculator, TfLiteModelCalculator, TfLiteCustomOpResolverCalculator."""

from __future__ import annotations

import pickle

import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_tensors import RESOURCES, FoundResource, Model, OpResolver, ResourceFinder
from penstock_tensors.inference.custom_op_resolver import TfLiteCustomOpResolverCalculator
from penstock_tensors.inference.tflite_model import TfLiteModelCalculator
from penstock_tensors.messages.custom_op_resolver_pb2 import TfLiteCustomOpResolverCalculatorOptions
from penstock_tensors.models.installed_operations import standard_operations
from penstock_testing import run_calculator

FILE = b"\x1c\0\0\0TFL3 and more"


def provided(tmp_path, node, **sides):
    (tmp_path / "a.tflite").write_bytes(FILE)
    (tmp_path / "b.txt").write_bytes(b"b")
    graph = penstock.CalculatorGraph(f'node {{ calculator: "ResourceProviderCalculator" {node} }}')
    graph.set_service(RESOURCES, ResourceFinder([tmp_path], only_places=True))
    with graph:
        graph.start_run(sides)
        graph.wait_until_done(20)
        return [graph.get_output_side_packet(name).payload for name in ("one", "two")]


IDS = """node_options {{ [type.googleapis.com/{}ResourceProviderCalculatorOptions] {{
    resource_id: "a.tflite" resource_id: "b.txt" }} }}"""
OUTPUTS = 'output_side_packet: "RESOURCE:0:one" output_side_packet: "RESOURCE:1:two" '


def test_models_files_and_operations_go_to_other_processes():
    def there_and_back(payload):
        return pickle.loads(pickle.dumps(payload, protocol=5))  # noqa: S301  # made here

    model = there_and_back(Model("a.tflite", FILE))
    resource = there_and_back(FoundResource("a.tflite", FILE))
    resolver = there_and_back(standard_operations())

    assert (model.name, model.data) == (resource.name, resource.data) == ("a.tflite", FILE)
    assert resolver.names() == standard_operations().names()
    assert all(resolver.find(*one) is standard_operations().find(*one) for one in resolver.names())


@pytest.mark.parametrize("package", ["mediapipe.", "penstock."])
def test_files_of_the_options_are_given_in_order(tmp_path, package):
    one, two = provided(tmp_path, OUTPUTS + IDS.format(package))

    assert (one.name, one.data) == ("a.tflite", FILE)
    assert (two.name, two.data) == ("b.txt", b"b")


def test_names_may_come_as_side_packets(tmp_path):
    sides = 'input_side_packet: "RESOURCE_ID:0:x" input_side_packet: "RESOURCE_ID:1:y" '
    ports = 'input_side_packet: "x" input_side_packet: "y" node { calculator: "ResourceProviderCalculator" '
    graph = penstock.CalculatorGraph(ports + sides + OUTPUTS + "}")
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    graph.set_service(RESOURCES, ResourceFinder([tmp_path], only_places=True))
    with graph:
        graph.start_run({"x": "b", "y": "a"})
        graph.wait_until_done(20)
        assert graph.get_output_side_packet("one").payload.data == b"2"
        assert graph.get_output_side_packet("two").payload.data == b"1"


@pytest.mark.reference(
    "calculators/util/resource_provider_calculator_test.cc",
    "ResourceProviderCalculatorTest.CanGetSingleResourceUsingOptions",
    "ResourceProviderCalculatorTest.CanGetMultipleResourcesUsingOptions",
    "ResourceProviderCalculatorTest.CanGetSingleResourceUsingSidePacket",
    "ResourceProviderCalculatorTest.CanGetMultipleResourcesUsingSidePackets",
)
@pytest.mark.parametrize("names", [["$RES_ID"], ["$RES_ID0", "$RES_ID1", "$RES_ID2"]])
@pytest.mark.parametrize("by_side_packets", [False, True])
def test_files_in_memory_are_given_by_any_name(names, by_side_packets):
    class InMemory:
        def find(self, name, access):
            return FoundResource(name, b"Some file blob " + name.removeprefix("$RES_ID").encode())

    outputs = [f'output_side_packet: "RESOURCE:{i}:resource{i}"' for i in range(len(names))]
    sides, node = {}, "".join(f'resource_id: "{name}" ' for name in names)
    node = (
        f"node_options {{ [type.googleapis.com/mediapipe.ResourceProviderCalculatorOptions] {{ {node} }} }}"
    )
    if by_side_packets:
        sides = {f"res_id{i}": name for i, name in enumerate(names)}
        node = " ".join(f'input_side_packet: "RESOURCE_ID:{i}:{side}"' for i, side in enumerate(sides))
    declared = " ".join(f'input_side_packet: "{side}"' for side in sides)
    config = f'{declared} node {{ calculator: "ResourceProviderCalculator" {node} {" ".join(outputs)} }}'
    graph = penstock.CalculatorGraph(config)
    graph.set_service(RESOURCES, InMemory())
    with graph:
        graph.start_run(sides)
        graph.wait_until_done(20)
        found = [graph.get_output_side_packet(f"resource{i}").payload.data for i in range(len(names))]

    assert found == [b"Some file blob " + name.removeprefix("$RES_ID").encode() for name in names]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (OUTPUTS, "0 names of files and 2 outputs RESOURCE, but needs as many"),
        ('output_side_packet: "RESOURCE:one" ' + IDS.format(""), "2 names of files and 1 outputs"),
        (
            'input_side_packet: "RESOURCE_ID:x" ' + OUTPUTS + IDS.format(""),
            "come from 1 side packets .* and from 2",
        ),
    ],
)
def test_names_and_outputs_must_fit(tmp_path, node, message):
    node = node.replace("googleapis.com/R", "googleapis.com/penstock.R")
    with pytest.raises(GraphConfigError, match=message):
        provided(tmp_path, node)


@pytest.mark.parametrize(
    ("tag", "given"),
    [
        ("MODEL_RESOURCE", FoundResource("file", FILE)),
        ("MODEL_BLOB", FILE),
        ("MODEL_SPAN", memoryview(FILE)),
        ("MODEL_SPAN", bytearray(FILE)),
    ],
)
@pytest.mark.parametrize("output", ["MODEL", "SHARED_MODEL"])
def test_a_model_is_made_of_bytes(tag, given, output):
    done = run_calculator(TfLiteModelCalculator, side_packets={tag: given}, output_side_packets=[output])

    model = done.output_side_packets[output]
    model = getattr(model, "payload", model)
    assert (model.data, model.name) == (FILE, "file" if tag == "MODEL_RESOURCE" else tag)


def test_a_model_is_read_from_a_part_of_an_open_file(tmp_path):
    (tmp_path / "all").write_bytes(b"12345" + FILE + b"6789")
    with (tmp_path / "all").open("rb") as file:
        place = (file.fileno(), 5, len(FILE))
        done = run_calculator(
            TfLiteModelCalculator, side_packets={"MODEL_FD": place}, output_side_packets=["MODEL"]
        )
        model = done.output_side_packets["MODEL"]
        assert getattr(model, "payload", model).data == FILE
        with pytest.raises(
            GraphRunError, match=r"the \.tflite model's MODEL_FD has 19 bytes, but its size says 99"
        ):
            run_calculator(
                TfLiteModelCalculator,
                side_packets={"MODEL_FD": (file.fileno(), 7, 99)},
                output_side_packets=["MODEL"],
            )
    with pytest.raises(GraphRunError, match=r"MODEL_FD is \(-1, 0, 4\), which cannot be read"):
        run_calculator(
            TfLiteModelCalculator, side_packets={"MODEL_FD": (-1, 0, 4)}, output_side_packets=["MODEL"]
        )


def test_bytes_that_are_no_model_are_refused():
    with pytest.raises(
        GraphRunError, match="failed to load the TfLite model 'MODEL_BLOB': its 4 bytes are of no kind"
    ):
        run_calculator(
            TfLiteModelCalculator, side_packets={"MODEL_BLOB": b"none"}, output_side_packets=["MODEL"]
        )


@pytest.mark.parametrize(
    ("given", "outputs", "message"),
    [
        ({}, ["MODEL"], "input side packets none; connect exactly one"),
        ({"MODEL_BLOB": FILE, "MODEL_SPAN": FILE}, ["MODEL"], "MODEL_BLOB, MODEL_SPAN; connect exactly one"),
        ({"MODEL_BLOB": FILE}, ["MODEL", "SHARED_MODEL"], "MODEL, SHARED_MODEL; connect exactly one"),
    ],
)
def test_a_model_has_one_source_and_one_output(given, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(TfLiteModelCalculator, side_packets=given, output_side_packets=outputs)


@pytest.mark.parametrize("port", ["OP_RESOLVER", 0])
def test_the_custom_operations_are_given(port):
    done = run_calculator(
        TfLiteCustomOpResolverCalculator,
        output_side_packets=[port],
        options=TfLiteCustomOpResolverCalculatorOptions(use_gpu=True),
    )

    found = done.output_side_packets[port]
    found = getattr(found, "payload", found)
    assert isinstance(found, OpResolver)
    assert ("TransformTensorBilinear", 2) in found.names()
    more = found.with_operations({("Own", 1): dict})
    assert more.find("Own", 1) is dict
    assert found.find("Own", 1) is None
