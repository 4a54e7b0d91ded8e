"""What the page asks once: the last minute, and all that is known of a node."""

from __future__ import annotations

import json
import logging

import pytest

import penstock
from penstock.errors import NotFoundError
from penstock.log import get_logger, place
from penstock_live.journal import Journal
from penstock_live.log_lines import LogLines
from penstock_live.node_pages import NodePages, without_secrets


@penstock.register_calculator
class DialsForAbout(penstock.Calculator):
    """Dials a place.

    It says nothing more.
    """

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(str)

    def process(self, cc):
        pass


def pages(text):
    return NodePages(penstock.CalculatorGraph(text).binary_config)


def test_a_nodes_page_has_its_config_and_its_calculators_text_and_ports():
    found = pages("""
        input_stream: "in"
        node { calculator: "DialsForAbout" name: "dial" input_stream: "in" output_stream: "out" }
    """).of("dial")
    assert found["calculator"] == "DialsForAbout"
    assert found["summary"] == "Dials a place."
    assert "It says nothing more." in found["body"]
    assert 'input_stream: "in"' in found["config"]
    assert "unknown" not in found


def test_passwords_in_options_are_not_on_the_page():
    found = pages("""
        node {
          calculator: "ConstantSidePacketCalculator" name: "camera" output_side_packet: "PACKET:address"
          options {
            [mediapipe.ConstantSidePacketCalculatorOptions.ext] {
              packet { string_value: "rtsp://ann:hush@10.0.0.5/cam" }
            }
          }
        }""").of("camera")
    assert "hush" not in found["config"]
    assert "rtsp://ann:***@10.0.0.5/cam" in found["config"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r'api_key: "a\"b" name: "c"', 'api_key: "***" name: "c"'),
        ('model_token : 3 token: "x"', 'model_token : 3 token: "***"'),
        ('PASSWORD:"hush"', 'PASSWORD:"***"'),
        ('input_stream: "tokens"', 'input_stream: "tokens"'),
    ],
)
def test_values_of_fields_that_are_secrets_are_not_shown(text, shown):
    assert without_secrets(text) == shown


def test_an_unknown_node_is_an_error_with_the_nearest_name(hand):
    with pytest.raises(
        NotFoundError, match=r"^there is no page of a node 'secund' \(did you mean 'second'\?\)$"
    ):
        pages(hand.GRAPH).of("secund")


def test_log_lines_are_kept_by_node_and_without_passwords():
    lines = LogLines(["camera", "other"])
    logger = get_logger("about_test")
    try:
        logger.warning("lost rtsp://ann:hush@10.0.0.5/cam", extra=place(node="camera"))
        logger.warning("of nobody")
        logger.warning("of a stranger", extra=place(node="stranger"))
        for number in range(60):
            logger.error("number %d", number, extra=place(node="other"))
    finally:
        lines.close()
    logger.warning("too late", extra=place(node="camera"))
    (line,) = lines.of("camera")
    assert (line.level, line.words) == ("WARNING", "lost rtsp://ann:***@10.0.0.5/cam")
    assert [one.words for one in lines.of("other")][::49] == ["number 10", "number 59"]
    assert lines.of("stranger") == []


def test_a_server_that_is_closed_hears_no_log(hand, monitor):
    before = list(logging.getLogger("penstock").handlers)
    with hand.serve(monitor) as server:
        assert len(logging.getLogger("penstock").handlers) == len(before) + 1
        client = hand.Client(server.url)
        get_logger("about_test").error("it broke", extra=place(node="second"))
        status, _, body = client.request("/node?name=second")
        assert status == 200
        assert [one["words"] for one in json.loads(body)["log"]] == ["it broke"]
    assert logging.getLogger("penstock").handlers == before


def test_of_an_unknown_node_the_answer_says_that(client):
    status, _, body = client.request("/node?name=nope")
    assert (status, body.decode()) == (404, "there is no page of a node 'nope'\n")


def test_the_last_minute_and_the_events_of_a_journal_are_served(hand, stack):
    journal, monitor = Journal(), hand.Monitor()
    client = hand.Client(stack.enter_context(hand.serve(monitor, journal=journal)).url)
    assert json.loads(client.request("/minute")[2]) == {"now_s": 0.0, "samples": []}
    journal.take(hand.READING, {})
    said = json.loads(client.request("/minute")[2])
    assert said["now_s"] == 3.3
    assert said["samples"] == [
        [
            3.3,
            {
                "first": {"steps_per_s": 29.9, "busy": 0.45, "queued": 3},
                "second": {"steps_per_s": 29.9, "busy": None, "queued": 3},
            },
        ]
    ]
    connection, answer = client.open("/events")
    with connection:
        found = hand.events(answer)
        assert next(found)[0] == "message"
        kind, data = next(found)
    assert kind == "journal"
    assert [one["kind"] for one in json.loads(data)["events"]] == ["run", "drop", "drop"]


def test_the_pictures_of_the_first_screen_are_drawn_in_both_ways_with_groups_closed(hand, stack):
    graph = """
        input_stream: "in"
        node { calculator: "PassThroughCalculator" name: "box__a" input_stream: "in" output_stream: "x" }
        node { calculator: "PassThroughCalculator" name: "box__b" input_stream: "x" output_stream: "y" }
    """
    client = hand.Client(stack.enter_context(hand.serve(hand.Monitor(), graph)).url)
    for layout in ("down", "across"):
        status, _, body = client.request(f"/graph.svg?layout={layout}")
        assert status == 200
        assert 'data-group="box"' in body.decode()
        assert 'data-node="box__a"' not in body.decode()
    opened = client.request("/graph.svg?layout=down&open=box")[2].decode()
    assert 'data-node="box__a"' in opened
    assert client.request("/graph.svg?layout=sideways")[0] == 400
    assert client.request("/graph.svg?layout=down" + "&open=x" * 201)[0] == 400


def test_sizes_of_pictures_are_few(client):
    for query in ("pixels=5000", "large=in&large_pixels=1"):
        status, _, body = client.request(f"/thumbnails?stream=in&{query}")
        assert status == 400
        assert "must be one of 160, 320, 640, 1280" in body.decode()
