"""Points that can be found again in another frame, and the patches around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import PRESTREAM
from penstock_formats import ImageFormat, ImageFrame, NormalizedLandmarkList, Tensor
from penstock_image.frame_checks import expect_format
from penstock_image.messages.feature_detector_pb2 import FeatureDetectorCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: Side of a patch, in pixels of its level of the pyramid. Source, as of all numbers here: MediaPipe
#: `calculators/image/feature_detector_calculator.cc`.
_PATCH: Final = 32
_EDGE: Final = _PATCH - 1
_FORMATS: Final = (ImageFormat.SRGB, ImageFormat.SRGBA)
#: Their patches take 4 kB each.
_MOST_FEATURES: Final = 10_000
_MOST_LEVELS: Final = 32


class Feature(NamedTuple):
    """A point that can be found again, as OpenCV's KeyPoint describes it; it pickles."""

    #: `x`, `y`: in pixels of the frame.
    x: float
    y: float
    #: Diameter of its neighbourhood, in pixels of the frame.
    size: float
    #: Its direction in degrees, clockwise as seen, 0 to 360.
    angle: float
    #: How strong it is.
    response: float
    #: The level of the pyramid where it was found; 0 is the frame itself.
    octave: int


class FeatureDetectorCalculator(penstock.Calculator):
    """Find points that can be found again in another frame: corners, by ORB.

    Input: IMAGE (ImageFrame, SRGB or SRGBA). Outputs, all optional: FEATURES (list of
    `penstock_image.filters.feature_detector.Feature`); LANDMARKS (NormalizedLandmarkList: their x and y in
    shares of the frame's sides); PATCHES (list of one Tensor, (max_features, 32, 32, 1) float32, -1 to 1: the
    grey image around each feature, turned by its angle, in its level of the pyramid; zeros after the last
    one). All are in the same order. A frame at PRESTREAM is ignored. Timestamp offset 0. OpenCV runs without
    the GIL.

    Options `FeatureDetectorCalculatorOptions`: `max_features` (200), at most so many, on each level the
    strongest ones; `pyramid_level` (4), how often the frame is shrunk to find larger features, itself
    included; `scale_factor` (1.2), by how much each time; `output_patch` is ignored, as in the reference.

    Raises in `open`: InvalidArgumentError for `max_features` outside of 1 to 10000, `pyramid_level` outside
    of 1 to 32, or a `scale_factor` that is not above 1. In `process`: the same for a frame of another format.

    Source of the behaviour: MediaPipe `calculators/image/feature_detector_calculator.cc`; OpenCV `ORB`. The
    reference's FEATURES are OpenCV's KeyPoints, and its PATCHES TfLite's tensors.

    Config::

        node {
          calculator: "FeatureDetectorCalculator"
          input_stream: "IMAGE:frame"
          output_stream: "FEATURES:features"
          output_stream: "LANDMARKS:points"
          output_stream: "PATCHES:patches"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames, and the outputs about their features."""
        cc.inputs["IMAGE"].set(ImageFrame, "frames (SRGB, SRGBA)")
        cc.outputs["FEATURES"].set(list[Feature], "what was found").optional()
        cc.outputs["LANDMARKS"].set(NormalizedLandmarkList, "where, in shares of the frame").optional()
        cc.outputs["PATCHES"].set(list[Tensor], "the images around them, in one tensor").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; make the detector."""
        options = cc.options(FeatureDetectorCalculatorOptions)
        for name, most in (("max_features", _MOST_FEATURES), ("pyramid_level", _MOST_LEVELS)):
            if not 1 <= getattr(options, name) <= most:
                raise InvalidArgumentError(
                    f"the feature detector's {name} is {getattr(options, name)}, but must be 1 to {most}; "
                    "change the options"
                )
        if not 1 < options.scale_factor < float("inf"):
            raise InvalidArgumentError(
                f"the feature detector's scale_factor is {options.scale_factor:g}, but must be above 1; "
                "change the options"
            )
        self._most = options.max_features
        self._levels = options.pyramid_level
        self._factor = options.scale_factor
        self._detector = cv2.ORB.create(
            self._most,
            self._factor,
            self._levels,
            edgeThreshold=_EDGE,
            firstLevel=0,
            WTA_K=2,
            scoreType=cv2.ORB_FAST_SCORE,
        )

    def process(self, cc: CalculatorContext) -> None:
        """Find the features of one frame."""
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is None or cc.input_timestamp == PRESTREAM:
            return
        expect_format(frame, _FORMATS, "IMAGE", "put a ColorConvertCalculator before")
        gray = cv2.cvtColor(frame.array, cv2.COLOR_RGB2GRAY)
        found = self._detector.detect(gray)[: self._most]
        if "FEATURES" in cc.outputs:
            features = [Feature(p.pt[0], p.pt[1], p.size, p.angle, p.response, p.octave) for p in found]
            cc.outputs["FEATURES"].add(features, cc.stamp)
        if "LANDMARKS" in cc.outputs:
            places = [{"x": p.pt[0] / frame.width, "y": p.pt[1] / frame.height} for p in found]
            cc.outputs["LANDMARKS"].add(NormalizedLandmarkList(landmark=places), cc.stamp)
        if "PATCHES" in cc.outputs:
            cc.outputs["PATCHES"].add([Tensor(self._patches(gray, found))], cc.stamp)

    def _patches(self, gray: NDArray[Any], found: Sequence[cv2.KeyPoint]) -> NDArray[np.float32]:
        """Return the image around each feature, (max_features, 32, 32, 1), -1 to 1."""
        levels: list[Any] = [gray]
        while len(levels) < self._levels:
            levels.append(cv2.resize(levels[-1], None, fx=1 / self._factor, fy=1 / self._factor))
        patches = np.zeros((self._most, _PATCH, _PATCH, 1), np.float32)
        for number, point in enumerate(found):
            patch = _patch(levels[point.octave], point, 1 / self._factor**point.octave)
            np.subtract(patch / np.float32(128), np.float32(1), out=patches[number, :, :, 0])
        return patches


def _patch(image: NDArray[Any], point: cv2.KeyPoint, scale: float) -> NDArray[Any]:
    """Return the pixels around a feature, (32, 32) uint8, turned by its angle."""
    middle = (point.pt[0] * scale, point.pt[1] * scale)
    matrix = cv2.getRotationMatrix2D(middle, point.angle, 1.0)
    matrix[0, 2] += _PATCH / 2 - middle[0]
    matrix[1, 2] += _PATCH / 2 - middle[1]
    return np.asarray(cv2.warpAffine(image, matrix, (_PATCH, _PATCH), flags=cv2.INTER_LINEAR))
