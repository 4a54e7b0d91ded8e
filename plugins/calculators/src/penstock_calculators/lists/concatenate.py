"""Concatenate...Calculator: joins the lists of several streams at one timestamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from penstock.errors import ResourceExhaustedError
from penstock_calculators.lists.containers import IMAGES, TENSORS, ListOf, MessageOf, PerElementType
from penstock_calculators.messages.concatenate_pb2 import ConcatenateVectorCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The ledger's reason for a packet that is not in the output.
INCOMPLETE = "an input had no packet"
#: The most elements of a joined list: thirty nodes in a chain, each with both inputs on the stream before it,
#: would otherwise make a list of 2**30.
MAX_ELEMENTS = 2**24


class _Concatenate(PerElementType):
    """The common part of lists and of messages that are lists."""

    takes_elements: ClassVar[bool]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare all untagged inputs, at least one, and the output."""
        whole = cls.container.type
        types = (cls.container.element_type, whole) if cls.takes_elements else (whole,)
        for i in range(max(cc.inputs.count(""), 1)):
            cc.inputs[i].set_one_of(*types, description="the first part, the second part, ...")
        cc.outputs[0].set(whole, "all parts, in the order of the inputs")
        cc.set_timestamp_offset(0)
        cc.declare(
            may_skip=cc.options(ConcatenateVectorCalculatorOptions).only_emit_if_all_present, stateless=True
        )

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._all = cc.options(ConcatenateVectorCalculatorOptions).only_emit_if_all_present

    def process(self, cc: CalculatorContext) -> None:
        """Join the packets of one timestamp.

        Raises:
            PacketTypeError: an element of a list has another type than the calculator's name says.
            ResourceExhaustedError: there are more than 2**24 elements.
        """
        present = [port for port in cc.inputs if not port.is_empty()]
        if self._all and len(present) < len(cc.inputs):
            for port in present:
                port.count_dropped(INCOMPLETE)
            return
        joined: list[Any] = []
        for port in present:
            if self.takes_elements and not isinstance(port.payload, list):
                joined.append(port.payload)
                continue
            elements = self.container.elements(port)
            if len(joined) + len(elements) > MAX_ELEMENTS:
                raise ResourceExhaustedError(
                    f"the concatenated list has more than {MAX_ELEMENTS} elements; join fewer or shorter "
                    "lists",
                    stream=port.name,
                    timestamp=cc.stamp,
                )
            joined.extend(elements)
        cc.output.add(self.container.pack(joined), cc.stamp)


class ConcatenateVectorCalculator(_Concatenate):
    """Joins the packets of its inputs at each timestamp into one <T>, in the order of the inputs.

    Each packet of an input is a list, or a single element. An input without a packet at the timestamp is
    left out; a list without elements is written too::

        0    [a b]  [e]  .
        1    c      .    []
        out  [a b c] [e] []

    Option `only_emit_if_all_present` (default false): write only a bound where an input has no
    packet; the packets of the others appear in the ledger as "an input had no packet". The elements are
    not copied, the lists are new. The timestamp offset is 0, and the output does not depend on the order of
    arrival.

    Source of the behaviour: MediaPipe `calculators/core/concatenate_vector_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "these"
          input_stream: "those"
          output_stream: "all"
          options {
            [penstock.ConcatenateVectorCalculatorOptions.ext] { only_emit_if_all_present: true }
          }
        }
    """

    takes_elements = True


class ConcatenateListCalculator(_Concatenate):
    """Joins the <T>s of its inputs at each timestamp into one, in the order of the inputs.

    An input without a packet at the timestamp is left out; a message without elements is written too.
    Option `only_emit_if_all_present` (default false): write only a bound where an input has no
    packet; the packets of the others appear in the ledger as "an input had no packet". The output is a new
    message. The timestamp offset is 0, and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/concatenate_proto_list_calculator.cc`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "these"
          input_stream: "those"
          output_stream: "all"
          options {
            [penstock.ConcatenateVectorCalculatorOptions.ext] { only_emit_if_all_present: true }
          }
        }
    """

    takes_elements = False


_vector = ConcatenateVectorCalculator.named
_list = ConcatenateListCalculator.named

ConcatenateBoolVectorCalculator = _vector("ConcatenateBoolVectorCalculator", ListOf(bool))
ConcatenateClassificationListVectorCalculator = _vector(
    "ConcatenateClassificationListVectorCalculator", ListOf("ClassificationList")
)
ConcatenateDetectionVectorCalculator = _vector("ConcatenateDetectionVectorCalculator", ListOf("Detection"))
ConcatenateFloatVectorCalculator = _vector("ConcatenateFloatVectorCalculator", ListOf(float))
ConcatenateImageVectorCalculator = _vector("ConcatenateImageVectorCalculator", IMAGES)
ConcatenateInt32VectorCalculator = _vector("ConcatenateInt32VectorCalculator", ListOf(int))
# misspelt in the reference, and existing graphs use the name
ConcatenateLandmarListVectorCalculator = _vector(
    "ConcatenateLandmarListVectorCalculator", ListOf("NormalizedLandmarkList")
)
ConcatenateLandmarkListVectorCalculator = _vector(
    "ConcatenateLandmarkListVectorCalculator", ListOf("LandmarkList")
)
ConcatenateLandmarkVectorCalculator = _vector(
    "ConcatenateLandmarkVectorCalculator", ListOf("NormalizedLandmark")
)
ConcatenateNormalizedLandmarkListVectorCalculator = _vector(
    "ConcatenateNormalizedLandmarkListVectorCalculator", ListOf("NormalizedLandmarkList")
)
ConcatenateRenderDataVectorCalculator = _vector("ConcatenateRenderDataVectorCalculator", ListOf("RenderData"))
ConcatenateStringVectorCalculator = _vector("ConcatenateStringVectorCalculator", ListOf(str))
ConcatenateTensorVectorCalculator = _vector("ConcatenateTensorVectorCalculator", TENSORS)
ConcatenateTfLiteTensorVectorCalculator = _vector("ConcatenateTfLiteTensorVectorCalculator", TENSORS)
ConcatenateUInt64VectorCalculator = _vector("ConcatenateUInt64VectorCalculator", ListOf(int))

ConcatenateClassificationListCalculator = _list(
    "ConcatenateClassificationListCalculator",
    MessageOf("ClassificationList", "classification", "Classification"),
)
ConcatenateJointListCalculator = _list(
    "ConcatenateJointListCalculator", MessageOf("JointList", "joint", "Joint")
)
ConcatenateLandmarkListCalculator = _list(
    "ConcatenateLandmarkListCalculator", MessageOf("LandmarkList", "landmark", "Landmark")
)
ConcatenateNormalizedLandmarkListCalculator = _list(
    "ConcatenateNormalizedLandmarkListCalculator",
    MessageOf("NormalizedLandmarkList", "landmark", "NormalizedLandmark"),
)
