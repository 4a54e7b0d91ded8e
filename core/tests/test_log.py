from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from penstock.log import get_logger, place


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
