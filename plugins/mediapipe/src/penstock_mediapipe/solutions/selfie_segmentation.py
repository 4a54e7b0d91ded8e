"""Selfie segmentation: which pixels of an image are people close to the camera."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_mediapipe.solution_base import SolutionBase

if TYPE_CHECKING:
    import numpy as np

_GRAPH: Final = "mediapipe/modules/selfie_segmentation/selfie_segmentation_cpu.binarypb"


class SelfieSegmentation(SolutionBase):
    """Finds the pixels of people within 2 metres of the camera, in each image as if it were the first.

    Args:
        model_selection: 0 for any image, 1 for landscapes, which is faster.

    Raises:
        Errors are those of `SolutionBase`.
    """

    def __init__(self, model_selection: int = 0) -> None:
        super().__init__(
            binary_graph_path=_GRAPH,
            side_inputs={"model_selection": model_selection},
            outputs=["segmentation_mask"],
        )

    def process(self, image: np.ndarray[Any, Any]) -> Any:  # type: ignore[override]  # images only
        """Find the pixels of people in an RGB image.

        Returns:
            An object with `segmentation_mask`: a float32 array of shape (height, width), 0 to 1.

        Raises:
            Errors are those of `SolutionBase.process`.
        """
        return super().process({"image": image})
