from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from penstock import (
    Calculator,
    CalculatorContext,
    CalculatorContract,
    CalculatorGraph,
    GraphRunError,
    Packet,
)
from penstock.log import FIELDS, get_logger, place
from penstock_testing import testing_registry


def test_loggers_are_below_penstock_whatever_form_the_name_has() -> None:
    assert get_logger("plugins").name == "penstock.plugins"
    assert get_logger("penstock.config").name == "penstock.config"
    assert get_logger("penstock").name == "penstock"
    assert get_logger("penstock_image.color").name == "penstock.penstock_image.color"


def test_the_place_of_a_record_is_data(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="penstock"):
        get_logger("engine").info("late", extra=place(node="gate", stream="video", timestamp=40))
        get_logger("engine").info("later", extra=place(node="gate"))

    first, second = caplog.records
    assert (first.node, first.stream, first.timestamp) == ("gate", "video", 40)
    assert (second.node, second.stream, second.timestamp) == ("gate", None, None)


def test_a_format_with_defaults_shows_the_place() -> None:
    formatter = logging.Formatter("%(node)s %(message)s", defaults={"node": "-"})
    logger = get_logger("engine")

    def text(extra) -> str:
        record = logger.makeRecord(logger.name, logging.INFO, "f", 1, "late", (), None, extra=extra)
        return formatter.format(record)

    assert (text(place(node="gate")), text(None)) == ("gate late", "- late")


SCRIPT = """
import logging, sys
{setup}
from penstock.log import get_logger
get_logger("plugins").warning("a warning")
assert logging.getLogger("penstock").level == logging.NOTSET
assert logging.getLogger("penstock").propagate
"""


@pytest.mark.parametrize(
    ("setup", "said"),
    [("", ""), ("logging.basicConfig(format='%(name)s %(message)s')", "penstock.plugins a warning")],
)
def test_nothing_is_said_unless_the_application_configures_logging(setup: str, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(setup=setup)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (0, "", said)


def test_every_record_has_the_fields_also_where_its_writer_left_them_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="penstock"):
        get_logger("somewhere.new").info("plain")
        get_logger("somewhere.new").info("half", extra={"stream": "video"})

    assert [[getattr(record, field) for field in FIELDS] for record in caplog.records] == [
        [None, None, None],
        [None, "video", None],
    ]
    assert len(logging.getLogger("penstock.somewhere.new").filters) == 1


def test_the_start_and_end_of_a_run_are_logged_with_the_place_of_each_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class LogsBadly(Calculator):
        @classmethod
        def get_contract(cls, cc: CalculatorContract) -> None:
            cc.inputs[0].set(int)

        def process(self, cc: CalculatorContext) -> None:
            raise ValueError(cc.input.payload)

    registry = testing_registry()
    registry.add("calculator", "LogsBadly", LogsBadly)
    text = 'input_stream: "in" node { calculator: "LogsBadly" input_stream: "in" }'
    graph = CalculatorGraph(text, registry=registry)
    with caplog.at_level(logging.INFO, logger="penstock"):
        graph.start_run()
        graph.close_all_packet_sources()
        graph.wait_until_done()
        graph.start_run()
        graph.add_packet_to_input_stream("in", Packet(7, 40))
        with pytest.raises(GraphRunError):
            graph.wait_until_done(10)

    started, ended, _, failed = caplog.records
    assert (started.getMessage(), ended.getMessage()) == (
        "the run starts; number of nodes: 1",
        "the run has ended",
    )
    assert failed.getMessage().startswith("the run has ended with INVALID_ARGUMENT: the graph run failed: ")
    assert [getattr(failed, field) for field in FIELDS] == ["LogsBadly", None, 40]
