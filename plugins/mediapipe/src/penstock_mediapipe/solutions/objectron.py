"""Objectron: boxes in space around objects of one kind, with their corners in the image and in space."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList
from penstock_mediapipe.model_places import check_separate_model
from penstock_mediapipe.python_errors import behind
from penstock_mediapipe.resource_util import finder
from penstock_mediapipe.solution_base import SolutionBase

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BOX_CONNECTIONS",
    "BoxLandmark",
    "CameraModel",
    "ChairModel",
    "CupModel",
    "Objectron",
    "ObjectronModel",
    "ObjectronOutputs",
    "ShoeModel",
    "get_model_by_name",
]


_MODULE: Final = "mediapipe/modules/objectron"
_GRAPH: Final = f"{_MODULE}/objectron_cpu.binarypb"
#: Finds the objects; the model of a kind then finds the corners.
_DETECTOR: Final = f"{_MODULE}/object_detection_ssd_mobilenetv2_oidv4_fp16.tflite"
_LIFT: Final = "Lift2DFrameAnnotationTo3DCalculator"


class BoxLandmark(enum.IntEnum):
    """The nine points of a box: its centre and its corners."""

    CENTER = 0
    BACK_BOTTOM_LEFT = 1
    FRONT_BOTTOM_LEFT = 2
    BACK_TOP_LEFT = 3
    FRONT_TOP_LEFT = 4
    BACK_BOTTOM_RIGHT = 5
    FRONT_BOTTOM_RIGHT = 6
    BACK_TOP_RIGHT = 7
    FRONT_TOP_RIGHT = 8


#: The twelve edges of a box: the numbers of their corners, less one, differ in one bit.
BOX_CONNECTIONS: Final = frozenset(
    (BoxLandmark(first + 1), BoxLandmark(first + 1 + bit))
    for bit in (1, 2, 4)
    for first in range(8)
    if not first & bit
)


@dataclass(frozen=True)
class ObjectronModel:
    """A model that finds the corners of one kind of object.

    Args:
        model_path: where MediaPipe has it.
        label_name: the label of the objects that it is for.
    """

    model_path: str
    label_name: str


@dataclass(frozen=True)
class ShoeModel(ObjectronModel):
    """The model for shoes."""

    model_path: str = f"{_MODULE}/object_detection_3d_sneakers.tflite"
    label_name: str = "Footwear"


@dataclass(frozen=True)
class ChairModel(ObjectronModel):
    """The model for chairs."""

    model_path: str = f"{_MODULE}/object_detection_3d_chair.tflite"
    label_name: str = "Chair"


@dataclass(frozen=True)
class CameraModel(ObjectronModel):
    """The model for cameras."""

    model_path: str = f"{_MODULE}/object_detection_3d_camera.tflite"
    label_name: str = "Camera"


@dataclass(frozen=True)
class CupModel(ObjectronModel):
    """The model for cups and mugs."""

    model_path: str = f"{_MODULE}/object_detection_3d_cup.tflite"
    label_name: str = "Coffee cup, Mug"


_MODELS: Final = {"Shoe": ShoeModel(), "Chair": ChairModel(), "Cup": CupModel(), "Camera": CameraModel()}


def get_model_by_name(name: str) -> ObjectronModel:
    """Return the model for "Shoe", "Chair", "Cup" or "Camera".

    Raises:
        ValueError: it is another name.
        FileNotFoundError: the models are nowhere; the message says from where they come.
    """
    if name not in _MODELS:
        words = f"{name} is not a valid model name for Objectron."
        raise InvalidArgumentError(behind(words, f"take one of {', '.join(_MODELS)}"))
    for path in (_DETECTOR, _MODELS[name].model_path):
        check_separate_model(path, finder())
    return _MODELS[name]


@dataclass
class ObjectronOutputs:
    """One object.

    Args:
        landmarks_2d: centre and corners; x and y are parts of the image's width and height.
        landmarks_3d: centre and corners in the camera's coordinates.
        rotation: (3, 3) float64, of the box in the camera's coordinates.
        translation: (3,) float64, of its centre.
        scale: (3,) float64, the lengths of its edges.
    """

    landmarks_2d: NormalizedLandmarkList
    landmarks_3d: LandmarkList
    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]
    scale: NDArray[np.float64]


class Objectron(SolutionBase):
    """Finds objects of one kind and their boxes in space, and follows them in the next images.

    MediaPipe's wheel has the graph but not the models, which its own Python package downloads.

    Args:
        static_image_mode: look for objects in each image as if it were the first, and follow none.
        max_num_objects: how many objects are looked for.
        min_detection_confidence: from which score on an object that was looked for counts, 0 to 1.
        min_tracking_confidence: from which score on an object that is followed counts, 0 to 1.
        model_name: "Shoe", "Chair", "Cup" or "Camera".
        focal_length: of the camera, x and y, in parts of half the image; in pixels with `image_size`.
        principal_point: of the camera, x and y, likewise.
        image_size: width and height in pixels.

    Raises:
        ValueError: there is no model of that name.
        FileNotFoundError: a model is nowhere; the message says from where it comes.
        Other errors are those of `SolutionBase`.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the reference's signature
        self,
        static_image_mode: bool = False,  # noqa: FBT001, FBT002
        max_num_objects: int = 5,
        min_detection_confidence: float = 0.5,
        min_tracking_confidence: float = 0.99,
        model_name: str = "Shoe",
        focal_length: tuple[float, float] = (1.0, 1.0),
        principal_point: tuple[float, float] = (0.0, 0.0),
        image_size: tuple[int, int] | None = None,
    ) -> None:
        focal, principal = _normalized(focal_length, principal_point, image_size)
        model = get_model_by_name(model_name)
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={
                "box_landmark_model_path": model.model_path,
                "allowed_labels": model.label_name,
                "max_num_objects": max_num_objects,
                "use_prev_landmarks": not static_image_mode,
            },
            calculator_params={
                "objectdetectionoidv4subgraph__TensorsToDetectionsCalculator.min_score_thresh": (
                    min_detection_confidence
                ),
                "boxlandmarksubgraph__ThresholdingCalculator.threshold": min_tracking_confidence,
                f"{_LIFT}.normalized_focal_x": focal[0],
                f"{_LIFT}.normalized_focal_y": focal[1],
                f"{_LIFT}.normalized_principal_point_x": principal[0],
                f"{_LIFT}.normalized_principal_point_y": principal[1],
            },
            outputs=["detected_objects"],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the boxes in an RGB image.

        Returns:
            An object with `detected_objects`, a list of `ObjectronOutputs`, or None without an object.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        results = super().process({"image": image})
        found = results.detected_objects
        results.detected_objects = [_outputs(one) for one in found.annotations] if found else None
        return results


def _normalized(
    focal: tuple[float, float], principal: tuple[float, float], image_size: tuple[int, int] | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return focal length and principal point in parts of half the image."""
    if image_size is None:
        return focal, principal
    half_width, half_height = (length / 2.0 for length in image_size)
    return (focal[0] / half_width, focal[1] / half_height), (
        -(principal[0] - half_width) / half_width,
        -(principal[1] - half_height) / half_height,
    )


def _outputs(annotation: Any) -> ObjectronOutputs:
    """Return what a program gets of one ObjectAnnotation."""
    in_image, in_space = NormalizedLandmarkList(), LandmarkList()
    for keypoint in annotation.keypoints:
        in_image.landmark.add(x=keypoint.point_2d.x, y=keypoint.point_2d.y)
        point = keypoint.point_3d
        in_space.landmark.add(x=point.x, y=point.y, z=point.z)
    return ObjectronOutputs(
        in_image,
        in_space,
        np.reshape(np.array(annotation.rotation), (3, 3)),
        np.array(annotation.translation),
        np.array(annotation.scale),
    )
