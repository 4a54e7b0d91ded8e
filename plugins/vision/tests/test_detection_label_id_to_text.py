"""DetectionLabelIdToTextCalculator: ids become labels."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection, LabelMapItem
from penstock_testing import run_calculator
from penstock_vision.detections.detection_label_id_to_text import DetectionLabelIdToTextCalculator
from penstock_vision.detections.label_file import RESOURCES, labels_of
from penstock_vision.messages.detection_label_id_to_text_pb2 import DetectionLabelIdToTextCalculatorOptions


def labeled(*detections, **options):
    run = run_calculator(
        DetectionLabelIdToTextCalculator,
        {0: [(1, list(detections))]},
        outputs=[0],
        options=DetectionLabelIdToTextCalculatorOptions(**options),
    )
    (packet,) = run.outputs[0]
    return packet.payload


class Files:
    """A finder that has one file."""

    def __init__(self, data):
        self.data = data

    def find(self, name, access):
        assert name == "labels.txt"
        return self


def test_known_ids_become_labels_and_go():
    given = Detection(label_id=[1, 0], score=[0.5, 0.25])

    assert labeled(given, label=["a", "b"]) == [Detection(label=["b", "a"], score=[0.5, 0.25])]
    assert list(given.label_id) == [1, 0]


def test_ids_stay_where_that_is_asked_for():
    (found,) = labeled(Detection(label_id=[1]), label=["a", "b"], keep_label_id=True)

    assert (list(found.label), list(found.label_id)) == (["b"], [1])


def test_unknown_ids_stay_unless_one_of_the_detection_is_known():
    both = labeled(Detection(label_id=[7]), Detection(label_id=[7, 0]), label=["a"])

    assert both == [Detection(label_id=[7]), Detection(label=["a"])]


def test_items_give_display_names_where_they_have_them():
    items = {3: LabelMapItem(name="cup", display_name="Tasse"), 4: LabelMapItem(name="can")}

    (found,) = labeled(Detection(label_id=[3, 4]), label_items=items)

    assert (list(found.label), list(found.display_name)) == (["cup", "can"], ["Tasse"])


def test_no_detections_give_an_empty_list():
    assert labeled(label=["a"]) == []


def test_labels_of_a_file_are_its_lines():
    config = """
        input_stream: "in" output_stream: "out"
        node {
          calculator: "DetectionLabelIdToTextCalculator" input_stream: "in" output_stream: "out"
          options { [penstock.DetectionLabelIdToTextCalculatorOptions.ext] { label_map_path: "labels.txt" } }
        }
    """
    graph, seen = CalculatorGraph(config), []
    graph.set_service(RESOURCES, Files(b"cup\r\ncan\n"))
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet([Detection(label_id=[1])], 1))
    graph.close(60)

    assert seen == [[Detection(label=["can"])]]


@pytest.mark.reference(
    "calculators/util/detection_label_id_to_text_calculator_test.cc",
    "DetectionLabelIdToTextCalculator.WorksForLabelMapFile",
)
def test_a_name_that_only_the_finder_knows_is_asked_of_it():
    class Finder:
        data = b"label1\nlabel2\nlabel3"

        def find(self, name, access):
            assert name == "$LABEL_MAP_PROVIDED_BY_TEST_RESOURCES"
            return self

    config = """
        input_stream: "in" output_stream: "out"
        node {
          calculator: "DetectionLabelIdToTextCalculator" input_stream: "in" output_stream: "out"
          options {
            [mediapipe.DetectionLabelIdToTextCalculatorOptions.ext] {
              label_map_path: "$LABEL_MAP_PROVIDED_BY_TEST_RESOURCES"
            }
          }
        }
    """
    graph, seen = CalculatorGraph(config), []
    graph.set_service(RESOURCES, Finder())
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    given = [Detection(label_id=[i], detection_id=1000 * i) for i in range(3)]
    graph.add_packet_to_input_stream("in", Packet(given, 0))
    graph.close(60)

    assert seen == [[Detection(label=[f"label{i + 1}"], detection_id=1000 * i) for i in range(3)]]


@pytest.mark.parametrize(
    ("data", "labels"),
    [(b"a\nb", ["a", "b"]), (b"a\r\rb\n", ["a", "", "b"]), (b"a\n\n", ["a", ""]), ("ü\n".encode(), ["ü"])],
)
def test_a_last_empty_line_is_no_label(data, labels):
    assert labels_of(Files(data), "labels.txt") == labels


@pytest.mark.parametrize(
    ("data", "message"), [(b"", "is empty, but has one label"), (b"\xff", "no text in UTF-8")]
)
def test_a_file_without_labels_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        labels_of(Files(data), "labels.txt")


def test_without_the_pack_that_finds_files_the_error_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "penstock_tensors.models.resource_finder", None)

    with pytest.raises(RuntimeError, match="penstock-tensors, which finds files of models, is not installed"):
        RESOURCES.create()


def test_labels_are_given_in_one_way_only():
    with pytest.raises((GraphConfigError, GraphRunError), match="label_map_path and label are set, but"):
        labeled(label=["a"], label_map_path="b")
