"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from penstock import Components, hookimpl
from penstock_video.components import CALCULATORS, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck
    from penstock_cli.api import RunningCommand

#: Loaded where there is a command line, and only there.
_COMMAND_LINE: Final = "penstock_video.streaming.command_line"


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and options by name."""
    return Components(calculators=CALCULATORS, options=OPTIONS)


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check the FFmpeg libraries and their encoders."""
    from penstock_video.health import checks  # only when the doctor runs

    return checks()


@hookimpl
def penstock_run_options(command: RunningCommand) -> None:
    """Add `--publish`."""
    from penstock_video.streaming.command_line import options, prepare  # only for the command line

    command.params += options()
    command.preparations.append(prepare)


@hookimpl
def penstock_run_prepared(graph: Any) -> None:
    """Take the frames of streams that the command publishes."""
    if _COMMAND_LINE in sys.modules:
        sys.modules[_COMMAND_LINE].observe(graph)
