"""PackMediaSequenceCalculator: streams become one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError
from penstock.lowlevel import POSTSTREAM
from penstock.ports import port_name
from penstock_formats import SequenceExample
from penstock_image.messages.pack_media_sequence_pb2 import PackMediaSequenceCalculatorOptions
from penstock_image.sequences import keys
from penstock_image.sequences.lane import Moment
from penstock_image.sequences.lanes import KNOWN, lane_of
from penstock_image.sequences.media_sequence import BYTES, MediaSequence
from penstock_image.sequences.reconciling import reconcile
from penstock_image.sequences.value_lanes import ClipLabels

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_TAG: Final = "SEQUENCE_EXAMPLE"
#: What protobuf can write into one file.
_MOST_BYTES: Final = 2**31 - 1


class PackMediaSequenceCalculator(penstock.Calculator):
    """Put images, labels, boxes, points and features of a clip into one record, which trainings read.

    The record is a SequenceExample of penstock-formats, with the bytes of TensorFlow's; TensorFlow is not
    needed. It has the keys of MediaPipe's media sequences, with the timestamps as microseconds.

    Inputs, by their tags; a NAME becomes the prefix of the keys:

    IMAGE, IMAGE_NAME, FORWARD_FLOW_ENCODED (OpenCvImageEncoderCalculatorResults: encoded images, encoded
    optical flow); IMAGE_LABEL_NAME (Detection: labels and scores of one image); BBOX, BBOX_NAME (list of
    Detection: boxes, relative or in pixels; other locations are left out); KEYPOINTS, KEYPOINTS_NAME (dict
    from name to a list of pairs (y, x)); CLASS_SEGMENTATION (list of one Detection with a mask and a label);
    CLIP_LABEL_NAME (Detection: labels, label ids or both, and as many scores, of the whole clip);
    FLOAT_FEATURE_NAME, INT_FEATURE_NAME, BYTES_FEATURE_NAME (list of float, int, bytes or str);
    FLOAT_CONTEXT_FEATURE_NAME, INTS_CONTEXT_FEATURE_NAME, BYTES_CONTEXT_FEATURE_NAME (the same, once, at
    Timestamp.POSTSTREAM); ENCODED_MEDIA, ENCODED_MEDIA_START_TIMESTAMP, each also with _NAME (bytes;
    Timestamp).

    Input side packets: SEQUENCE_EXAMPLE (SequenceExample, optional: what the record begins with);
    CLIP_MEDIA_ID (str, optional: the name of the clip, which is stored with the first packet). Outputs, at
    least one of both: stream SEQUENCE_EXAMPLE (one SequenceExample at POSTSTREAM, or at 0) and output side
    packet SEQUENCE_EXAMPLE, both when the inputs have ended.

    Options `PackMediaSequenceCalculatorOptions`: `context_feature_map`: features for the context.
    `replace_data_instead_of_append` (true): what the record already has of each connected input is removed.
    `reconcile_metadata` (true): the context gets format, size, channels and rate of images, dimensions and
    rate of features of floats, the images of segments; with `reconcile_bbox_annotations` (false) boxes
    without a prefix, with `reconcile_region_annotations` (true) all boxes and points move to the times of the
    nearest images without a prefix. `output_only_if_all_present` (true): an input without packets is an
    error. `skip_large_sequences` (true): so is a record of `max_sequence_bytes` (2147483647) or more.
    `output_as_zero_timestamp` (false). `add_empty_labels` (false): a CLIP_LABEL without scores leaves empty
    lists.

    Raises in `get_contract`: InvalidArgumentError for an input with another tag, and without any output. In
    `process`: the same for a payload that does not fit, a box in pixels whose image's size is not known;
    ResourceExhaustedError once the values are too many; UNIMPLEMENTED for a CLASS_SEGMENTATION without a
    mask. In `close`: NotFoundError for an input without packets, ResourceExhaustedError for too many bytes,
    InvalidArgumentError where an image cannot be decoded or parts that belong together have different
    lengths.

    Source of the behaviour: MediaPipe `calculators/tensorflow/pack_media_sequence_calculator.cc`. There
    replaced image labels keep their old label ids, and only the first of several inputs KEYPOINTS
    replaces points.

    Config::

        node {
          calculator: "PackMediaSequenceCalculator"
          input_stream: "IMAGE:jpeg"
          input_stream: "FLOAT_FEATURE_SPEED:speed"
          output_stream: "SEQUENCE_EXAMPLE:record"
          options {
            [penstock.PackMediaSequenceCalculatorOptions.ext] {
              context_feature_map {
                feature { key: "clip/media_id" value { bytes_list { value: "street" } } }
              }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare each input by its tag.

        Raises:
            InvalidArgumentError: an input has another tag, or there is no output.
        """
        for port in cc.inputs:
            lane = lane_of(port.tag)
            if lane is None or port.index:
                raise InvalidArgumentError(
                    f"input {port_name(port.tag, port.index)} is none that a sequence has; tags, each once, "
                    f"are {', '.join(KNOWN)}"
                )
            port.set_one_of(*lane.accepts, description=lane.description)
        sides, made = cc.input_side_packets, cc.output_side_packets
        sides[_TAG].set(SequenceExample, "what the record begins with").optional()
        sides["CLIP_MEDIA_ID"].set(str, "the name of the clip").optional()
        cc.outputs[_TAG].set(SequenceExample, "the record, at the end").optional()
        made[_TAG].set(SequenceExample, "the record, at the end").optional()
        if _TAG not in cc.outputs and _TAG not in made:
            raise InvalidArgumentError(
                f"neither the output {_TAG} nor the output side packet {_TAG} is connected; connect one"
            )
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin the record."""
        options = self._options = cc.options(PackMediaSequenceCalculatorOptions)
        sides = cc.input_side_packets
        sequence = self._sequence = MediaSequence(sides[_TAG].get(SequenceExample) if _TAG in sides else None)
        self._media_id: str | None = sides["CLIP_MEDIA_ID"].get(str) if "CLIP_MEDIA_ID" in sides else None
        self._most = options.max_sequence_bytes if options.max_sequence_bytes > 0 else _MOST_BYTES
        for key, feature in options.context_feature_map.feature.items():
            sequence.message.context.feature[key].CopyFrom(feature)
        found = [lane for lane in (lane_of(tag) for tag in cc.inputs.tags()) if lane is not None]
        self._lanes = sorted(found, key=lambda lane: (not lane.has_images, lane.tag))
        for lane in self._lanes:
            if isinstance(lane, ClipLabels):
                lane.adds_empty = options.add_empty_labels
            if options.replace_data_instead_of_append:
                lane.clear(sequence)
        #: Tags of inputs without a packet so far.
        self._missing = {lane.tag for lane in self._lanes}

    def process(self, cc: CalculatorContext) -> None:
        """Add the packets of one timestamp."""
        moment = Moment(self._sequence, cc.stamp)
        for lane in self._lanes:
            port = cc.inputs[lane.tag]
            if not port.is_empty():
                self._missing.discard(lane.tag)
                lane.add(port.payload, moment)
        if self._media_id is not None:
            self._sequence.set(keys.CLIP_MEDIA_ID, BYTES, [self._media_id])
        self._check_size(self._sequence.added)

    def close(self, cc: CalculatorContext) -> None:
        """Finish the record, and send it."""
        options, message = self._options, self._sequence.message
        if options.reconcile_metadata:
            reconcile(
                self._sequence,
                boxes=options.reconcile_bbox_annotations,
                regions=options.reconcile_region_annotations,
            )
        self._check_size(message.ByteSize())
        if options.output_only_if_all_present and self._missing:
            raise NotFoundError(
                f"no packet came on {', '.join(sorted(self._missing))}, but a media sequence needs all "
                "inputs; set output_only_if_all_present to false to have it without them"
            )
        if _TAG in cc.output_side_packets:
            cc.output_side_packets[_TAG].set(message)
        if _TAG in cc.outputs:
            cc.outputs[_TAG].add(message, 0 if options.output_as_zero_timestamp else POSTSTREAM)

    def _check_size(self, size: int) -> None:
        """Refuse a record that has so many bytes.

        Raises:
            ResourceExhaustedError: they are too many.
        """
        if self._options.skip_large_sequences and size >= self._most:
            name = next(iter(self._sequence.values(keys.EXAMPLE_ID)), b"")
            raise ResourceExhaustedError(
                f"the sequence {name.decode(errors='replace')!r} with {size} bytes would be more than "
                f"{self._most} bytes; pack a shorter clip, or change max_sequence_bytes"
            )
