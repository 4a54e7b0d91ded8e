"""What the pack contributes, by name; none of its modules is imported until a graph or a command uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and the subgraphs."""
    return Components(
        calculators={
            "LandmarksToLabelledDetectionsCalculator": (
                "penstock_people.labelled_detections:LandmarksToLabelledDetectionsCalculator"
            ),
            "PeopleResultsCalculator": "penstock_people.results:PeopleResultsCalculator",
            "RealTimePaceCalculator": "penstock_people.pace:RealTimePaceCalculator",
        },
        subgraphs={
            "FaceLandmarkFrontCpu": "penstock_people:face_landmark_front_cpu.pbtxt",
            "HandLandmarkTrackingCpu": "penstock_people:hand_landmark_tracking_cpu.pbtxt",
            "ParallelHandLandmarkCpu": "penstock_people:parallel_hand_landmark_cpu.pbtxt",
        },
    )


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the commands `hands`, `faces` and `pose`."""
    from penstock_people.commands import (  # only for the command line
        faces_command,
        hands_command,
        pose_command,
    )

    for command in (hands_command, faces_command, pose_command):
        group.add_command(command)
