"""The components of penstock_people by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "LandmarksToLabelledDetectionsCalculator": "penstock_people.labelled_detections:LandmarksToLabelledDetectionsCalculator",
    "PeopleResultsCalculator": "penstock_people.results:PeopleResultsCalculator",
    "RealTimePaceCalculator": "penstock_people.pace:RealTimePaceCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "FaceLandmarkFrontCpu": "penstock_people:face_landmark_front_cpu.pbtxt",
    "HandLandmarkTrackingCpu": "penstock_people:hand_landmark_tracking_cpu.pbtxt",
    "ParallelHandLandmarkCpu": "penstock_people:parallel_hand_landmark_cpu.pbtxt",
}
