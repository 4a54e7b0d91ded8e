"""The solutions: a class for each task, the landmarks and connections that it knows, and what draws them.

The modules are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_mediapipe.solutions import drawing_styles as drawing_styles
    from penstock_mediapipe.solutions import drawing_utils as drawing_utils
    from penstock_mediapipe.solutions import face_detection as face_detection
    from penstock_mediapipe.solutions import face_mesh as face_mesh
    from penstock_mediapipe.solutions import face_mesh_connections as face_mesh_connections
    from penstock_mediapipe.solutions import hands as hands
    from penstock_mediapipe.solutions import hands_connections as hands_connections
    from penstock_mediapipe.solutions import holistic as holistic
    from penstock_mediapipe.solutions import objectron as objectron
    from penstock_mediapipe.solutions import pose as pose
    from penstock_mediapipe.solutions import pose_connections as pose_connections
    from penstock_mediapipe.solutions import selfie_segmentation as selfie_segmentation

#: Modules that can be used as `penstock_mediapipe.solutions.<name>` after the import of this one.
MODULES: Final = (
    "drawing_styles",
    "drawing_utils",
    "face_detection",
    "face_mesh",
    "face_mesh_connections",
    "hands",
    "hands_connections",
    "holistic",
    "objectron",
    "pose",
    "pose_connections",
    "selfie_segmentation",
)

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, {}, MODULES)
