"""VisibilityCopyCalculator: gives landmarks the visibility of other landmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList
from penstock_vision.landmarks.landmark_table import PRESENCE, VISIBILITY, LandmarkTable
from penstock_vision.messages.visibility_copy_pb2 import VisibilityCopyCalculatorOptions
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FROM = {"LANDMARKS_FROM": LandmarkList, "NORM_LANDMARKS_FROM": NormalizedLandmarkList}
_TO = {"LANDMARKS_TO": LandmarkList, "NORM_LANDMARKS_TO": NormalizedLandmarkList}


class VisibilityCopyCalculator(penstock.Calculator):
    """Gives landmarks the visibility and presence that other landmarks of the same index have.

    Inputs: LANDMARKS_FROM (LandmarkList) or NORM_LANDMARKS_FROM (NormalizedLandmarkList), whose values are
    copied; LANDMARKS_TO or NORM_LANDMARKS_TO, landmarks that get them. Output: the one with the same tag as
    the latter. Timestamp offset 0; both inputs must have a packet, else nothing is sent. The output has as
    many landmarks as *_FROM; further ones of *_TO are left out.

    Options `VisibilityCopyCalculatorOptions`: `copy_visibility` (true), `copy_presence` (true). What
    a landmark lacks is copied as 0.

    Raises in the contract: InvalidArgumentError for an input or output too few or too many. In `process`: the
    same if *_TO has fewer landmarks than *_FROM.

    Source of the behaviour: MediaPipe `calculators/util/visibility_copy_calculator.cc`.

    Config::

        node {
          calculator: "VisibilityCopyCalculator"
          input_stream: "NORM_LANDMARKS_FROM:pose_landmarks"
          input_stream: "LANDMARKS_TO:pose_world_landmarks"
          output_stream: "LANDMARKS_TO:world_landmarks_with_visibility"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two lists in, one out.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        source = only_one(cc.inputs, tuple(_FROM), "input")
        cc.inputs[source].set(_FROM[source], "landmarks whose visibility is copied")
        target = only_one(cc.inputs, tuple(_TO), "input")
        cc.inputs[target].set(_TO[target], "landmarks that get it")
        if target not in cc.outputs:
            raise InvalidArgumentError(
                f"there is no output {target}, but the landmarks of input {target} leave there with the "
                "copied visibility; connect it"
            )
        cc.outputs[target].set(_TO[target], "these landmarks with the copied values")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine what is copied."""
        options = cc.options(VisibilityCopyCalculatorOptions)
        wanted = (options.copy_visibility, VISIBILITY), (options.copy_presence, PRESENCE)
        self._columns = [column for is_wanted, column in wanted if is_wanted]
        self._from = next(tag for tag in _FROM if tag in cc.inputs)
        self._tag = next(tag for tag in _TO if tag in cc.inputs)

    def process(self, cc: CalculatorContext) -> None:
        """Copy the values of one list."""
        port, target = cc.inputs[self._from], cc.inputs[self._tag]
        if port.is_empty() or target.is_empty():
            return
        source = LandmarkTable.of(port.payload).values
        table = LandmarkTable.of(target.payload)
        if len(table.values) < len(source):
            raise InvalidArgumentError(
                f"input {target.name!r} holds {len(table.values)} landmarks, but {port.name!r} "
                f"{len(source)}; for a copy of visibility connect landmarks of the same model"
            )
        table.cut(len(source))
        table.values[:, self._columns] = source[:, self._columns]
        table.have(*self._columns)
        cc.outputs[self._tag].add(table.make(_TO[self._tag]), cc.stamp)
