"""Joints of a body: put together from several lists, and given the visibility of landmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import JointList, LandmarkList, check_size_limit
from penstock_vision.messages.joints_pb2 import (
    CombineJointsCalculatorOptions,
    SetJointsVisibilityCalculatorOptions,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input

    _Mapping = SetJointsVisibilityCalculatorOptions.Mapping

#: The most joints of a list; a body has some hundred.
_MOST_JOINTS: Final = 100_000


class CombineJointsCalculator(penstock.Calculator):
    """Puts the joints of several lists into one.

    Inputs JOINTS, one or more (JointList); output JOINTS (JointList of `num_joints`): each place has the
    joint that a mapping puts there, the last of several, else `default_joint`. An input without a packet
    puts nothing. Timestamp offset 0.

    Options `CombineJointsCalculatorOptions`: `num_joints`; `joints_mapping`, one for each input: `idx`, the
    place of each of its joints; `default_joint` (required).

    Raises in `open`: InvalidArgumentError for a negative num_joints, another number of mappings than of
    inputs, a place outside, and no default_joint; ResourceExhaustedError for more than 100,000 joints. In
    `process`: InvalidArgumentError if a list has another number of joints than its mapping.

    Source of the behaviour: MediaPipe `calculators/util/combine_joints_calculator.cc`.

    Config::

        node {
          calculator: "CombineJointsCalculator"
          input_stream: "JOINTS:0:body_joints"
          input_stream: "JOINTS:1:hand_joints"
          output_stream: "JOINTS:joints"
          options {
            [penstock.CombineJointsCalculatorOptions.ext] {
              num_joints: 5
              joints_mapping { idx: [0, 1, 2] }
              joints_mapping { idx: [2, 3, 4] }
              default_joint { visibility: 0 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the lists."""
        for i in range(max(cc.inputs.count("JOINTS"), 1)):
            cc.inputs["JOINTS", i].set(JointList, "some of the joints")
        cc.outputs["JOINTS"].set(JointList, "all joints")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the mappings.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(CombineJointsCalculatorOptions)
        count, mappings = options.num_joints, [list(one.idx) for one in options.joints_mapping]
        if count < 0:
            raise InvalidArgumentError(f"num_joints of the combined joints is {count}, but must be 0 or more")
        check_size_limit(count, "num_joints", _MOST_JOINTS)
        if len(mappings) != len(cc.inputs):
            raise InvalidArgumentError(
                f"there are {len(mappings)} joints_mapping and {len(cc.inputs)} inputs JOINTS, but each "
                "input needs one; change the options"
            )
        outside = [place for one in mappings for place in one if not 0 <= place < count]
        if outside:
            raise InvalidArgumentError(
                f"a joints_mapping has the place {outside[0]}, but with num_joints {count} places are 0 to "
                f"{count - 1}; change the options"
            )
        if not options.HasField("default_joint"):
            raise InvalidArgumentError("default_joint is not set, but is required; set it in the options")
        self._options, self._mappings = options, mappings

    def process(self, cc: CalculatorContext) -> None:
        """Put the lists of one timestamp together."""
        joints = [self._options.default_joint] * self._options.num_joints
        for port, places in zip(cc.inputs, self._mappings, strict=True):
            if port.is_empty():
                continue
            found = port.payload.joint
            if len(found) != len(places):
                raise InvalidArgumentError(
                    f"input {port.name!r} holds {len(found)} joints, but its joints_mapping has "
                    f"{len(places)} places; change the options"
                )
            for place, joint in zip(places, found, strict=True):
                joints[place] = joint
        cc.outputs["JOINTS"].add(JointList(joint=joints), cc.stamp)


class SetJointsVisibilityCalculator(penstock.Calculator):
    """Gives joints the visibility of landmarks.

    Inputs JOINTS (JointList) and LANDMARKS (LandmarkList); output JOINTS (JointList, new). Without joints
    nothing is sent. Where none of the landmarks that a mapping names has a visibility, the joint's stays.
    Timestamp offset 0.

    Options `SetJointsVisibilityCalculatorOptions`: `mapping`, one for each joint: `unchanged {}`, `copy
    { idx }` (of one landmark) or `highest { idx }` (the greatest of some).

    Raises in `process`: InvalidArgumentError if there are not as many joints as mappings, for joints without
    landmarks, a landmark that is not there, and a mapping that is empty.

    Source of the behaviour: MediaPipe `calculators/util/set_joints_visibility_calculator.cc`.

    Config::

        node {
          calculator: "SetJointsVisibilityCalculator"
          input_stream: "JOINTS:joints"
          input_stream: "LANDMARKS:pose_in_world"
          output_stream: "JOINTS:visible_joints"
          options {
            [penstock.SetJointsVisibilityCalculatorOptions.ext] {
              mapping { unchanged {} }
              mapping { copy { idx: 3 } }
              mapping { highest { idx: [1, 2] } }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare joints and landmarks in, joints out."""
        cc.inputs["JOINTS"].set(JointList, "joints")
        cc.inputs["LANDMARKS"].set(LandmarkList, "have the visibility")
        cc.outputs["JOINTS"].set(JointList, "the joints with it")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the mappings."""
        self._mappings = list(cc.options(SetJointsVisibilityCalculatorOptions).mapping)

    def process(self, cc: CalculatorContext) -> None:
        """Change the joints of one list."""
        port, landmarks = cc.inputs["JOINTS"], cc.inputs["LANDMARKS"]
        if port.is_empty():
            return
        count = len(port.payload.joint)
        if count != len(self._mappings):
            raise InvalidArgumentError(
                f"input {port.name!r} holds {count} joints, but the options have {len(self._mappings)} "
                "mapping; set one for each joint"
            )
        if landmarks.is_empty():
            raise InvalidArgumentError(
                f"input {landmarks.name!r} has no packet at timestamp {cc.stamp}, but {port.name!r} has "
                "joints; send landmarks with them"
            )
        made = JointList()
        made.CopyFrom(port.payload)
        for joint, mapping in zip(made.joint, self._mappings, strict=True):
            found = _visibilities(mapping, landmarks)
            if found:
                joint.visibility = max(found)
        cc.outputs["JOINTS"].add(made, cc.stamp)


def _visibilities(mapping: _Mapping, port: Input) -> list[float]:
    """Return the visibilities among the landmarks that a mapping names."""
    chosen = mapping.WhichOneof("mapping")
    if chosen == "unchanged":
        return []
    indices = [mapping.copy.idx] if chosen == "copy" else list(mapping.highest.idx)
    if not indices or chosen is None:
        raise InvalidArgumentError(
            "the mapping of a joint names no landmark; set unchanged {}, copy { idx } or highest { idx "
            "} in it"
        )
    points = port.payload.landmark
    for i in indices:
        if not 0 <= i < len(points):
            raise InvalidArgumentError(
                f"the mapping of a joint names landmark {i}, but input {port.name!r} holds {len(points)}; "
                "change the options"
            )
    return [points[i].visibility for i in indices if points[i].HasField("visibility")]
