"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Components, hookimpl
from penstock_detect.components import CALCULATORS, SUBGRAPHS

if TYPE_CHECKING:
    import click

#: What adapters make.
_DETECTIONS: Final = "builtins.list[penstock_formats.messages.detection_pb2.Detection]"
#: Type → the calculator and the function that it is made of.
_ADAPTERS: Final = {
    "supervision.detection.core.Detections": (
        "SupervisionAdapterCalculator",
        "penstock_detect.interop.adapters:supervision_to_detections",
    ),
    "ultralytics.engine.results.Results": (
        "UltralyticsAdapterCalculator",
        "penstock_detect.interop.adapters:ultralytics_to_detections",
    ),
}


@hookimpl
def penstock_components() -> Components:
    """Return the calculators, subgraphs and adapters by name."""
    return Components(
        calculators={**CALCULATORS, **dict(_ADAPTERS.values())},
        subgraphs=SUBGRAPHS,
        adapters={f"{source}->{_DETECTIONS}": target for source, (_, target) in _ADAPTERS.items()},
    )


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `detect`."""
    from penstock_detect.detect_command import detect_command  # only for the command line

    group.add_command(detect_command)
