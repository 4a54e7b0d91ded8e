"""What smooths the landmarks of one object over time, as options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import check_size_limit
from penstock_vision.geometry.single_precision import TWO, ZERO, f32
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y, Z
from penstock_vision.landmarks.one_euro_filter import OneEuroFilter
from penstock_vision.landmarks.velocity_filter import VelocityFilter
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock_formats import NormalizedRect, Rect
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32
    from penstock_vision.landmarks.landmark_table import AnyLandmarks

_ONE: Final = f32(1)
#: Frequencies in Hz below this are taken as 0 by the reference, which then has no filter.
_LEAST_FREQUENCY: Final = 1e-6
#: The most changes that a velocity filter averages: an hour of video.
_MOST_CHANGES: Final = 100_000
_LEAST_TIME: Final = -(2**63)
_LAST_TIME: Final = 2**63 - 1


class LandmarksSmoother:
    """Smooths the points of an object, or returns them as they are while the object is too small.

    Args:
        make: makes a filter; None to filter nothing.
        least_scale: the size of the smallest object whose points are filtered.
        has_fixed_scale: whether speeds do not depend on the object's size.
        is_counted_first: whether a small object's number of points counts too, as in the reference's one euro
            filter.
        is_reset_by_empty: whether an object without points makes it forget all values; else it is an error.
    """

    def __init__(
        self,
        make: Callable[[], OneEuroFilter | VelocityFilter] | None,
        least_scale: float = 0.0,
        *,
        has_fixed_scale: bool = False,
        is_counted_first: bool = False,
        is_reset_by_empty: bool = False,
    ) -> None:
        self._make = make
        self._least_scale = least_scale
        self._has_fixed_scale = has_fixed_scale
        self._is_counted_first = is_counted_first
        self._is_reset_by_empty = is_reset_by_empty
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self._filter: OneEuroFilter | VelocityFilter | None = None
        self._count = 0

    def apply(
        self, time: int, points: NDArray[np.float32], scale: Float32 | None, name: str
    ) -> NDArray[np.float32]:
        """Return smooth points, or the same array where nothing is filtered.

        Args:
            time: in nanoseconds.
            points: x, y and z in the columns.
            scale: how large the object is; None: as large as the box around the points.
            name: of the stream, for errors.

        Raises:
            InvalidArgumentError: there are no points, or not as many as before.
        """
        if self._make is None:
            return points
        if not len(points):
            self._take_empty(name)
            return points
        if self._is_counted_first:
            self._check_count(len(points), name)
        value_scale = _ONE
        if not self._has_fixed_scale:
            if scale is None:
                scale = _scale_of_box(points)
            if scale < self._least_scale:
                return points
            value_scale = _ONE / scale
        self._check_count(len(points), name)
        if self._filter is None:
            self._filter = self._make()
        return self._filter.apply(time, value_scale, points)

    def smoothed(
        self,
        landmarks: AnyLandmarks,
        stamp: int,
        *,
        size: ImageSize | None,
        roi: NormalizedRect | Rect | None,
        stream: str,
    ) -> Any:
        """Return smooth landmarks of the same type: a new list, or the same where nothing is filtered.

        Args:
            landmarks: in fractions of an image with `size`, in other units without.
            stamp: the timestamp in microseconds.
            size: of the image in pixels; the filter works in pixels.
            roi: how large the object is, in the same units; None: as large as the box around the landmarks.
            stream: the name of the input, for errors.

        Raises:
            InvalidArgumentError: there are not as many landmarks as before.
        """
        factors = None if size is None else np.array([size.width, size.height, size.width], np.float32)
        table = LandmarkTable.of(landmarks)
        points = table.values[:, :3]
        # a copy in any case: the filter keeps it, and the table is overwritten
        points = points.copy() if factors is None else points * factors
        time = min(max(stamp * 1000, _LEAST_TIME), _LAST_TIME)
        scale = None if roi is None else _scale_of(roi, size)
        smooth = self.apply(time, points, scale, stream)
        if smooth is points and factors is None:
            return landmarks
        table.values[:, :3] = smooth if factors is None else smooth / factors
        table.have(X, Y, Z)
        kind: type[Any] = type(landmarks)
        return table.make(kind)

    def _take_empty(self, name: str) -> None:
        if not self._is_reset_by_empty:
            raise InvalidArgumentError(
                f"landmarks smoother: input {name!r} holds an empty list; send nothing instead, or "
                "set empty_landmarks_policy: EMPTY_LANDMARKS_POLICY_RESET in the options"
            )
        self.reset()

    def _check_count(self, count: int, name: str) -> None:
        if self._count not in (0, count):
            raise InvalidArgumentError(
                f"landmarks smoother: input {name!r} holds {count} landmarks, but {self._count} before; "
                "smooth one model's only"
            )
        if not self._count:
            self._filter = None
        self._count = count


def smoother_of(options: LandmarksSmoothingCalculatorOptions) -> LandmarksSmoother:
    """Return what the options ask for, without any values yet.

    Raises:
        InvalidArgumentError: there is no filter, or its numbers are out of range.
        ResourceExhaustedError: a window is too large.
    """
    chosen = options.WhichOneof("filter_options")
    if chosen is None:
        raise InvalidArgumentError(
            "the smoother has no filter, but one is needed; set no_filter, one_euro_filter or "
            "velocity_filter in the options"
        )
    if chosen == "no_filter":
        return LandmarksSmoother(None)
    resets = LandmarksSmoothingCalculatorOptions.EMPTY_LANDMARKS_POLICY_RESET
    is_reset = options.empty_landmarks_policy == resets
    if chosen == "velocity_filter":
        velocity = options.velocity_filter
        _expect(velocity.window_size >= 0, "window_size", velocity.window_size, "0 or more")
        check_size_limit(velocity.window_size, "window_size", _MOST_CHANGES)
        _expect(velocity.velocity_scale >= 0, "velocity_scale", velocity.velocity_scale, "0 or more")
        return LandmarksSmoother(
            lambda: VelocityFilter(velocity.window_size, velocity.velocity_scale),
            velocity.min_allowed_object_scale,
            has_fixed_scale=velocity.disable_value_scaling,
            is_reset_by_empty=is_reset,
        )
    euro = options.one_euro_filter
    for name in ("frequency", "min_cutoff", "derivate_cutoff"):
        _expect(getattr(euro, name) > _LEAST_FREQUENCY, name, getattr(euro, name), "above 0.000001")
    _expect(euro.beta >= 0, "beta", euro.beta, "0 or more")
    return LandmarksSmoother(
        lambda: OneEuroFilter(euro.frequency, euro.min_cutoff, euro.beta, euro.derivate_cutoff),
        euro.min_allowed_object_scale,
        has_fixed_scale=euro.disable_value_scaling,
        is_counted_first=True,
        is_reset_by_empty=is_reset,
    )


def _expect(is_met: bool, name: str, number: float, wanted: str) -> None:  # noqa: FBT001  # a condition
    if not is_met:
        raise InvalidArgumentError(
            f"the smoother's {name} is {number:g}, but must be {wanted}; change it in the options"
        )


def _scale_of(roi: NormalizedRect | Rect, size: ImageSize | None) -> Float32:
    """Return the mean side of a rectangle in pixels."""
    width, height = f32(roi.width), f32(roi.height)
    if size is not None:
        width, height = width * size.width, height * size.height
    return (width + height) / TWO


def _scale_of_box(points: NDArray[np.float32]) -> Float32:
    """Return the mean side of the box around points, 0 if there are none."""
    if not len(points):
        return ZERO
    width, height = (points[:, :2].max(axis=0) - points[:, :2].min(axis=0)).tolist()
    return (f32(width) + f32(height)) / TWO
