"""Association...Calculator: joins lists of rectangles or detections so that the same thing appears once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import penstock
from penstock.errors import InternalError, InvalidArgumentError
from penstock_formats import Detection, LocationData, NormalizedRect
from penstock_vision.geometry.boxes import Box, intersection_over_union
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.association_pb2 import AssociationCalculatorOptions
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract

_NEEDED: Final[tuple[Literal["x_center", "y_center", "width", "height"], ...]] = (
    "x_center",
    "y_center",
    "width",
    "height",
)


class _Element:
    """An element of a list."""

    __slots__ = ("box", "id", "payload")

    def __init__(self, payload: Any, identity: int | None) -> None:
        #: A NormalizedRect or a Detection.
        self.payload = payload
        #: What tells it from others over time, or None.
        self.id = identity
        #: Where it is; None as long as nobody asked.
        self.box: Box | None = None


class AssociationCalculator(penstock.Calculator):
    """Joins lists of one type; subclasses say where an element is, and which id it has."""

    element: ClassVar[type[Any]]
    what: ClassVar[str]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the lists that are joined, and the result.

        Raises:
            InvalidArgumentError: no untagged input is connected.
        """
        elements = list[cls.element]  # type: ignore[name-defined]  # known at run time
        count = cc.inputs.count("")
        if not count:
            raise InvalidArgumentError(
                f"an association has 0 untagged inputs; connect at least one list of {cls.what}"
            )
        for i in range(count):
            cc.inputs[i].set(elements, "wins over the inputs before" if i else cls.what)
        cc.inputs["PREV"].set(elements, "gives elements that it overlaps their ids").optional()
        cc.outputs[0].set(elements, "all, without those that a later one overlaps")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the threshold.

        Raises:
            InvalidArgumentError: it is negative.
        """
        self._threshold = f32(cc.options(AssociationCalculatorOptions).min_similarity_threshold)
        if not self._threshold >= 0:
            raise InvalidArgumentError(
                f"the association's min_similarity_threshold is {self._threshold:g}, but must be 0 to 1; "
                "change it in the options"
            )
        self._lists = range(cc.inputs.count(""))

    def process(self, cc: CalculatorContext) -> None:
        """Join the lists of one timestamp."""
        kept: list[_Element] = []
        for i in self._lists:
            port = cc.inputs[i]
            if port.is_empty():
                continue
            for payload in port.payload:
                element = self._element(payload)
                if kept:
                    self._remove_overlapped(element, kept)
                kept.append(element)
        previous = input_or_none(cc.inputs, "PREV")
        if previous is not None and not previous.is_empty():
            self._take_ids([self._element(payload) for payload in previous.payload], kept)
        cc.outputs[0].add([self._made(element) for element in kept], cc.stamp)

    def _remove_overlapped(self, element: _Element, kept: list[_Element]) -> None:
        """Remove what `element` overlaps; it takes the id of the last of these that has one."""
        stay = []
        for other in kept:
            if not self._are_alike(element, other):
                stay.append(other)
            elif other.id is not None:
                element.id = other.id
        kept[:] = stay

    def _take_ids(self, previous: Iterable[_Element], kept: list[_Element]) -> None:
        for element in kept:
            for other in previous:
                if self._are_alike(element, other) and other.id is not None:
                    element.id = other.id

    def _are_alike(self, one: _Element, other: _Element) -> bool:
        for element in (one, other):
            if element.box is None:
                element.box = self._box(element.payload)
        overlap = intersection_over_union(one.box, other.box)  # type: ignore[arg-type]  # both are there
        return bool(overlap > self._threshold)

    def _element(self, payload: Any) -> _Element:
        return _Element(payload, self._id(payload))

    @abstractmethod
    def _box(self, payload: Any) -> Box:
        """Return where an element is.

        Raises:
            InternalError: it does not say.
        """

    def _id(self, payload: Any) -> int | None:  # noqa: ARG002  # for subclasses
        """Return the id of an element; None if it has none."""
        return None

    def _made(self, element: _Element) -> Any:
        """Return the payload with the id that it has now."""
        return element.payload


class AssociationNormRectCalculator(AssociationCalculator):
    """Joins lists of rectangles; where two overlap, the later one stays.

    Inputs 0, 1, ... (list[NormalizedRect]), in order of rising priority; PREV (the same type) is accepted
    as in the reference, where it gives ids to elements that have them, which rectangles do not: it changes
    nothing. Output 0 (list[NormalizedRect]): the rectangles of all inputs without those
    that a later one overlaps. Timestamp offset 0. Whenever an input has a packet, a list is sent, maybe an
    empty one.

    Each rectangle, in order, removes all before it whose intersection over union with it is above
    `min_similarity_threshold`. Rotations do not count: a rectangle is compared as if it were upright.
    The first rectangle of the first list that is not empty is not checked.

    Options `AssociationCalculatorOptions`: `min_similarity_threshold` (1, so nothing is removed), 0 to 1.

    Raises in the contract: InvalidArgumentError without an untagged input. In `open`: the same for a
    negative threshold. In `process`: InternalError for a rectangle without centre or
    size.

    Source of the behaviour: MediaPipe `calculators/util/association_calculator.h` and
    `calculators/util/association_norm_rect_calculator.cc`.

    Config::

        node {
          calculator: "AssociationNormRectCalculator"
          input_stream: "rects_found"
          input_stream: "rects_tracked"
          output_stream: "rects"
          options {
            [penstock.AssociationCalculatorOptions.ext] { min_similarity_threshold: 0.5 }
          }
        }
    """

    element: ClassVar = NormalizedRect
    what: ClassVar = "rectangles"

    def _box(self, payload: NormalizedRect) -> Box:
        missing = ", ".join(name for name in _NEEDED if not payload.HasField(name))
        if missing:
            raise InternalError(
                f"a rectangle has no {missing}, so no association with others is found; set all of "
                "x_center, y_center, width and height",
            )
        left, top = payload.x_center - payload.width / 2, payload.y_center - payload.height / 2
        return Box.of(left, top, payload.width, payload.height)


class AssociationDetectionCalculator(AssociationCalculator):
    """Joins lists of detections; where two overlap, the later one stays, with the id of the other.

    Inputs 0, 1, ... (list[Detection] with relative bounding boxes), in order of rising priority; PREV (the
    same type, optional): the detections of the time before. Output 0 (list[Detection]): those of all inputs
    without the ones that a later one overlaps; a detection whose id changes is a new message. Timestamp
    offset 0. Whenever an input has a packet, a list is sent, maybe an empty one.

    Each detection, in order, removes all before it whose intersection over union with it is above
    `min_similarity_threshold`, and takes the `detection_id` of the last of them that has one. Then each
    takes the id of the last detection of PREV with an id that overlaps it as much. Detections of PREV are
    not sent.

    Options `AssociationCalculatorOptions`: `min_similarity_threshold` (1, so nothing is removed), 0 to 1.

    Raises in the contract: InvalidArgumentError without an untagged input. In `open`: the same for a
    negative threshold. In `process`: InternalError for a detection without a relative bounding box.

    Source of the behaviour: MediaPipe `calculators/util/association_calculator.h` and
    `calculators/util/association_detection_calculator.cc`.

    Config::

        node {
          calculator: "AssociationDetectionCalculator"
          input_stream: "detections_tracked"
          input_stream: "detections_found"
          input_stream: "PREV:detections_before"
          output_stream: "detections"
          options {
            [penstock.AssociationCalculatorOptions.ext] { min_similarity_threshold: 0.5 }
          }
        }
    """

    element: ClassVar = Detection
    what: ClassVar = "detections"

    def _box(self, payload: Detection) -> Box:
        place = payload.location_data
        if place.format != LocationData.RELATIVE_BOUNDING_BOX or not payload.HasField("location_data"):
            name = LocationData.Format.Name(place.format) if payload.HasField("location_data") else "none"
            raise InternalError(
                f"a detection's location has format {name}, but for an association with others it must be "
                "RELATIVE_BOUNDING_BOX; put a DetectionTransformationCalculator before"
            )
        box = place.relative_bounding_box
        return Box.of(box.xmin, box.ymin, box.width, box.height)

    def _id(self, payload: Detection) -> int | None:
        return payload.detection_id if payload.HasField("detection_id") else None

    def _made(self, element: _Element) -> Detection:
        payload: Detection = element.payload
        if element.id is None or self._id(payload) == element.id:
            return payload
        made = Detection()
        made.CopyFrom(payload)
        made.detection_id = element.id
        return made
