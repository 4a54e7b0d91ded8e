"""Loggers that import `logging` only where somebody could listen."""

import logging
import subprocess
import sys

from penstock.late_log import LateLogger
from penstock.late_log import place as late_place
from penstock.log import place


def test_it_says_what_the_logger_of_that_name_would(caplog):
    logger = LateLogger("somewhere")

    with caplog.at_level(logging.DEBUG, logger="penstock"):
        logger.debug("a %s", 1)
        logger.info("b", extra=late_place(node="gate", timestamp=4))
        logger.warning("c %s %s", 2, 3)
        try:
            int("lost")
        except ValueError:
            logger.exception("d")

    said = [(one.name, one.levelname, one.getMessage()) for one in caplog.records]
    assert said == [
        ("penstock.somewhere", "DEBUG", "a 1"),
        ("penstock.somewhere", "INFO", "b"),
        ("penstock.somewhere", "WARNING", "c 2 3"),
        ("penstock.somewhere", "ERROR", "d"),
    ]
    second = caplog.records[1]
    assert (second.node, second.stream, second.timestamp) == ("gate", None, 4)
    assert isinstance(caplog.records[3].exc_info[1], ValueError)
    assert {one.filename for one in caplog.records} == {"test_late_log.py"}
    assert caplog.records[0].funcName == "test_it_says_what_the_logger_of_that_name_would"


def test_places_are_those_of_the_other_loggers():
    assert late_place("a", "b", True) == place("a", "b", True)  # a timestamp may be any whole number
    assert late_place() == place()


def test_where_nobody_has_imported_logging_it_does_not_either_and_says_nothing_unless_configured():
    program = (
        "import sys; from penstock.late_log import LateLogger\n"
        "LateLogger('a').warning('lost'); assert 'logging' not in sys.modules\n"
        "import logging; LateLogger('a').warning('still silent')\n"
        "logging.basicConfig(format='%(name)s %(message)s'); LateLogger('a').warning('heard')\n"
    )

    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "penstock.a heard\n")
