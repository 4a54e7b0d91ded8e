"""The default looks of landmarks and connections, for `drawing_utils.draw_landmarks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_mediapipe.solutions import face_mesh_connections as face
from penstock_mediapipe.solutions import hands_connections as hand
from penstock_mediapipe.solutions.drawing_utils import DrawingSpec
from penstock_mediapipe.solutions.hands import HandLandmark
from penstock_mediapipe.solutions.pose import PoseLandmark

if TYPE_CHECKING:
    from collections.abc import Iterable

_Color = tuple[int, int, int]

# Blue, green, red.
_RED: Final = (48, 48, 255)
_GREEN: Final = (48, 255, 48)
_BLUE: Final = (192, 101, 21)
_YELLOW: Final = (0, 204, 255)
_GRAY: Final = (128, 128, 128)
_PURPLE: Final = (128, 64, 128)
_PEACH: Final = (180, 229, 255)
_WHITE: Final = (224, 224, 224)
_CYAN: Final = (192, 255, 48)
_MAGENTA: Final = (192, 48, 255)
_LEFT: Final = (0, 138, 255)
_RIGHT: Final = (231, 217, 0)

_FILLED: Final = -1
_DOT_RADIUS: Final = 5

#: Color of a finger, what the names of its landmarks begin with, and its connections.
_FINGERS: Final = (
    (_PEACH, "THUMB_", hand.HAND_THUMB_CONNECTIONS),
    (_PURPLE, "INDEX_FINGER_", hand.HAND_INDEX_FINGER_CONNECTIONS),
    (_YELLOW, "MIDDLE_FINGER_", hand.HAND_MIDDLE_FINGER_CONNECTIONS),
    (_GREEN, "RING_FINGER_", hand.HAND_RING_FINGER_CONNECTIONS),
    (_BLUE, "PINKY_", hand.HAND_PINKY_FINGER_CONNECTIONS),
)
#: Landmarks that have the color of the palm: the wrist, and where fingers begin.
_PALM: Final = frozenset(number for connection in hand.HAND_PALM_CONNECTIONS for number in connection)
_CONTOURS: Final[tuple[tuple[tuple[frozenset[tuple[int, int]], _Color], ...], ...]] = (
    (
        (face.FACEMESH_LIPS, _WHITE),
        (face.FACEMESH_LEFT_EYE, _GREEN),
        (face.FACEMESH_LEFT_EYEBROW, _GREEN),
        (face.FACEMESH_RIGHT_EYE, _RED),
        (face.FACEMESH_RIGHT_EYEBROW, _RED),
        (face.FACEMESH_FACE_OVAL, _WHITE),
    ),
    (
        (face.FACEMESH_LIPS, _BLUE),
        (face.FACEMESH_LEFT_EYE, _CYAN),
        (face.FACEMESH_LEFT_EYEBROW, _GREEN),
        (face.FACEMESH_RIGHT_EYE, _MAGENTA),
        (face.FACEMESH_RIGHT_EYEBROW, _RED),
        (face.FACEMESH_FACE_OVAL, _WHITE),
        (face.FACEMESH_NOSE, _YELLOW),
    ),
)


def get_default_hand_landmarks_style() -> dict[int, DrawingSpec]:
    """Return landmark → its look, for hands: filled dots, each finger in a color of its own."""
    style: dict[int, DrawingSpec] = dict.fromkeys(
        map(HandLandmark, sorted(_PALM)), DrawingSpec(_RED, _FILLED, _DOT_RADIUS)
    )
    for color, name, _ in _FINGERS:
        landmarks = [one for one in HandLandmark if one.name.startswith(name) and one not in _PALM]
        style |= dict.fromkeys(landmarks, DrawingSpec(color, _FILLED, _DOT_RADIUS))
    return style


def get_default_hand_connections_style() -> dict[tuple[int, int], DrawingSpec]:
    """Return connection → its look, for hands: the palm gray, each finger in the color of its landmarks."""
    style = _styled(hand.HAND_PALM_CONNECTIONS, DrawingSpec(_GRAY, 3))
    for color, _, connections in _FINGERS:
        style |= _styled(connections, DrawingSpec(color, 2))
    return style


def get_default_face_mesh_contours_style(i: int = 0) -> dict[tuple[int, int], DrawingSpec]:
    """Return connection → its look, for the contours of faces.

    Args:
        i: which style: 1 has more colors, and the nose; any other number is the first one.
    """
    style: dict[tuple[int, int], DrawingSpec] = {}
    for connections, color in _CONTOURS[1 if i == 1 else 0]:
        style |= _styled(connections, DrawingSpec(color, 2))
    return style


def get_default_face_mesh_tesselation_style() -> DrawingSpec:
    """Return the look of the triangles of faces: thin gray lines."""
    return DrawingSpec(_GRAY, 1)


def get_default_face_mesh_iris_connections_style() -> dict[tuple[int, int], DrawingSpec]:
    """Return connection → its look, for irises: the left one green, the right one red."""
    left = _styled(face.FACEMESH_LEFT_IRIS, DrawingSpec(_GREEN, 2))
    return left | _styled(face.FACEMESH_RIGHT_IRIS, DrawingSpec(_RED, 2))


def get_default_pose_landmarks_style() -> dict[int, DrawingSpec]:
    """Return landmark → its look, for poses: the person's left orange, the right blue, the nose white."""
    left, right, nose = (DrawingSpec(color, 2) for color in (_LEFT, _RIGHT, _WHITE))
    return {
        landmark: nose if landmark is PoseLandmark.NOSE else left if "LEFT" in landmark.name else right
        for landmark in PoseLandmark
    }


def _styled(connections: Iterable[tuple[int, int]], spec: DrawingSpec) -> dict[tuple[int, int], DrawingSpec]:
    return dict.fromkeys(connections, spec)
