"""UnpackMediaSequenceCalculator: one record becomes streams again."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock import Timestamp
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.lowlevel import MAX, MIN, POSTSTREAM, PRESTREAM, show
from penstock.packs import default_registry
from penstock.ports import port_name
from penstock_formats import LocationData, SequenceExample
from penstock_image.messages.unpack_media_sequence_pb2 import UnpackMediaSequenceCalculatorOptions
from penstock_image.sequences import keys
from penstock_image.sequences.media_sequence import MediaSequence, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop
    from penstock.ports import PortSpec

_RECORD: Final = "SEQUENCE_EXAMPLE"
_RESAMPLER: Final = "RESAMPLER_OPTIONS"
_DECODER: Final = "AUDIO_DECODER_OPTIONS"
_RESAMPLER_OPTIONS: Final = "penstock.PacketResamplerCalculatorOptions"
_DECODER_OPTIONS: Final = "penstock.AudioDecoderOptions"
_TIMES: Final = "/timestamp"
#: Microseconds.
_SECOND: Final = 1_000_000
_RELATIVE: Final = LocationData.RELATIVE_BOUNDING_BOX


class UnpackMediaSequenceCalculator(penstock.Calculator):
    """Send the images, boxes and features of a record at their timestamps, and say which clip it is of.

    The record is a SequenceExample of penstock-formats, with the keys of MediaPipe's media sequences, as
    PackMediaSequenceCalculator makes it: side packet SEQUENCE_EXAMPLE.

    Outputs, by their tags, each optional; a NAME is the prefix of the keys: IMAGE, IMAGE_NAME,
    FORWARD_FLOW_ENCODED (bytes: encoded images); FLOAT_FEATURE_NAME (list of float); BBOX, BBOX_NAME (list of
    LocationData with relative boxes). It is a source: packets leave in the order of their timestamps, all of
    one timestamp in one call. Where images are missing for a timestamp, the node stops.

    Output side packets, each optional: DATA_PATH (str: the path of the clip, below side packet DATASET_ROOT,
    a str, or the option `dataset_root_directory`); IMAGE_FRAME_RATE (float: images a second);
    RESAMPLER_OPTIONS (CalculatorOptions with a PacketResamplerCalculatorOptions: start and end of the clip,
    for the side packet OPTIONS of PacketResamplerCalculator); AUDIO_DECODER_OPTIONS (AudioDecoderOptions, for
    that of AudioDecoderCalculator). These two need penstock-calculators and penstock-audio.

    Options `UnpackMediaSequenceCalculatorOptions`: `padding_before_label`, `padding_after_label` (0): seconds
    by which both begin earlier and end later than the clip; `extra_padding_from_media_decoder` (0): seconds
    more for the decoder; `force_decoding_from_start_of_media` (false): the decoder begins at 0;
    `base_packet_resampler_options`, `base_audio_decoder_options`: their other fields.
    `output_poststream_as_prestream` (false): what the record has at Timestamp.POSTSTREAM leaves at PRESTREAM.
    `dataset_root_directory`. `allow_missing_bytes` has no effect.

    Raises in `get_contract`: InvalidArgumentError for another output, and for padding without any of these
    options as output; FailedPreconditionError where the pack that has them is not installed. In `open`:
    InvalidArgumentError where the record lacks what a side packet says, or timestamps are not in order. In
    `process`: the same where boxes or features are missing for a timestamp.

    Source of the behaviour: MediaPipe `calculators/tensorflow/unpack_media_sequence_calculator.cc`. There a
    step of a record that lacks something ends the process, and one call sends several timestamps.

    Config::

        node {
          calculator: "UnpackMediaSequenceCalculator"
          input_side_packet: "SEQUENCE_EXAMPLE:record"
          output_stream: "IMAGE:jpeg"
          output_stream: "FLOAT_FEATURE_SPEED:speed"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare each output by its tag.

        Raises:
            InvalidArgumentError: an output has another tag, or padding has no effect.
            FailedPreconditionError: options of a pack are wanted that is not installed.
        """
        sides, made = cc.input_side_packets, cc.output_side_packets
        sides[_RECORD].set(SequenceExample, "the record")
        sides["DATASET_ROOT"].set(str, "what the path of the clip is relative to").optional()
        made["DATA_PATH"].set(str, "the path of the clip").optional()
        made["IMAGE_FRAME_RATE"].set(float, "images a second").optional()
        made[_RESAMPLER].set(CalculatorOptions, "for a PacketResamplerCalculator").optional()
        decoder = _message(_DECODER_OPTIONS) if _DECODER in made else object
        made[_DECODER].set(decoder, "for an AudioDecoderCalculator").optional()
        for port in cc.outputs:
            if port.index:
                raise _unknown(port)
            if _is_image(port.tag):
                port.set(bytes, "encoded images")
            elif _name_after("BBOX", port.tag) is not None:
                port.set(list[LocationData], "relative boxes")
            elif port.tag.startswith("FLOAT_FEATURE_"):
                port.set(list[float], "a feature")
            else:
                raise _unknown(port)
        options = cc.options(UnpackMediaSequenceCalculatorOptions)
        is_padded = options.HasField("padding_before_label") or options.HasField("padding_after_label")
        if is_padded and _RESAMPLER not in made and _DECODER not in made:
            raise InvalidArgumentError(
                "the media sequence's padding_before_label or padding_after_label is set, but neither "
                f"{_RESAMPLER} nor {_DECODER} is connected, which they are for; connect one, or leave out "
                "the padding"
            )
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the timestamps, and make the side packets."""
        options = cc.options(UnpackMediaSequenceCalculatorOptions)
        sequence = self._sequence = MediaSequence(cc.input_side_packets[_RECORD].get(SequenceExample))
        self._senders = dict(_senders(cc))
        steps = sorted(_steps(sequence, early=options.output_poststream_as_prestream))
        self._moments = iter(
            [(time, list(group)) for time, group in groupby(steps, key=lambda step: step[0])]
        )
        made = cc.output_side_packets
        if "DATA_PATH" in made:
            made["DATA_PATH"].set(_path(cc, sequence, options))
        if _RESAMPLER in made:
            made[_RESAMPLER].set(_resampler_options(sequence, options))
        if _DECODER in made:
            made[_DECODER].set(_decoder_options(sequence, options))
        if "IMAGE_FRAME_RATE" in made:
            made["IMAGE_FRAME_RATE"].set(float(sequence.first(keys.IMAGE_FRAME_RATE)))

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send the packets of one timestamp.

        Raises:
            InvalidArgumentError: boxes or features are missing.
        """
        moment = next(self._moments, None)
        if moment is None:
            return penstock.STOP
        time, steps = moment
        for _, key, index in steps:
            for tag, read in self._senders.get(key, ()):
                payload = read(self._sequence, index)
                if payload is None:
                    return penstock.STOP
                cc.outputs[tag].add(payload, time)
        return None


# --- streams ------------------------------------------------------------------------------------------------


def _name_after(beginning: str, tag: str) -> str | None:
    """Return NAME of BEGINNING_NAME, "" of BEGINNING, None of another tag."""
    if tag == beginning:
        return ""
    return tag.removeprefix(f"{beginning}_") if tag.startswith(f"{beginning}_") else None


def _unknown(port: PortSpec) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"output {port_name(port.tag, port.index)} is none that a sequence can give; tags, each once, are "
        "BBOX[_NAME], FLOAT_FEATURE_NAME, FORWARD_FLOW_ENCODED, IMAGE[_NAME]"
    )


def _is_image(tag: str) -> bool:
    return tag == "FORWARD_FLOW_ENCODED" or _name_after("IMAGE", tag) is not None


def _senders(
    cc: CalculatorContext,
) -> Mapping[str, list[tuple[str, Callable[[MediaSequence, int], Any]]]]:
    """Return for each key of timestamps which outputs get a packet then, and how it is made."""
    found: dict[str, list[tuple[str, Callable[[MediaSequence, int], Any]]]] = {}
    for tag in cc.outputs.tags():
        name, read = _reader(tag)
        found.setdefault(name, []).append((tag, read))
    return found


def _reader(tag: str) -> tuple[str, Callable[[MediaSequence, int], Any]]:
    if _is_image(tag):
        prefix = keys.FORWARD_FLOW if tag == "FORWARD_FLOW_ENCODED" else _name_after("IMAGE", tag) or ""
        encoded = key_of(prefix, keys.IMAGE_ENCODED)
        return key_of(prefix, keys.IMAGE_TIMESTAMP), lambda sequence, i: _image(sequence, encoded, i)
    boxes = _name_after("BBOX", tag)
    if boxes is not None:
        return key_of(boxes, keys.REGION_TIMESTAMP), lambda sequence, i: _boxes(sequence, boxes, i)
    prefix = tag.removeprefix("FLOAT_FEATURE_")
    floats = key_of(prefix, keys.FEATURE_FLOATS)
    return key_of(prefix, keys.FEATURE_TIMESTAMP), lambda sequence, i: list(sequence.step(floats, i))


def _image(sequence: MediaSequence, key: str, index: int) -> bytes | None:
    """Return an encoded image; None where the sequence has not so many."""
    if sequence.count(key) <= index:
        return None
    return next(iter(sequence.step(key, index)), b"")


def _boxes(sequence: MediaSequence, prefix: str, index: int) -> list[LocationData]:
    """Return the boxes of one step.

    Raises:
        InvalidArgumentError: the step has not as many of all four coordinates.
    """
    names = (keys.REGION_XMIN, keys.REGION_YMIN, keys.REGION_XMAX, keys.REGION_YMAX)
    sides = [np.array(sequence.step(key_of(prefix, name), index), np.float32) for name in names]
    if len({len(side) for side in sides}) != 1:
        raise InvalidArgumentError(
            f"step {index} of {key_of(prefix, 'region/bbox')!r} in the sequence to unpack has "
            f"{[len(side) for side in sides]} values of xmin, ymin, xmax and ymax, but each box has all four"
        )
    xmin, ymin, xmax, ymax = sides
    rows = zip(xmin.tolist(), ymin.tolist(), (xmax - xmin).tolist(), (ymax - ymin).tolist(), strict=True)
    return [_location(*row) for row in rows]


def _location(xmin: float, ymin: float, width: float, height: float) -> LocationData:
    box = LocationData.RelativeBoundingBox(xmin=xmin, ymin=ymin, width=width, height=height)
    return LocationData(format=_RELATIVE, relative_bounding_box=box)


def _steps(sequence: MediaSequence, *, early: bool) -> Iterator[tuple[int, str, int]]:
    """Yield timestamp, key and number of each step that has a timestamp.

    Raises:
        InvalidArgumentError: the timestamps of a key are not in order, or none that a stream can have.
    """
    for key in sequence.keys_of_steps():
        if _TIMES not in key:
            continue
        last = PRESTREAM
        for index, time in enumerate(sequence.times(key)):
            if time <= last or not (MIN <= time <= MAX or time == POSTSTREAM):
                raise InvalidArgumentError(
                    f"step {index} of {key!r} in the sequence to unpack is at {show(time)}, after "
                    f"{show(last)}, but "
                    "each must be later than the one before; look whether the same images were added twice"
                )
            if time == POSTSTREAM and early and index:
                raise InvalidArgumentError(
                    f"{key!r} in the sequence to unpack has both timestamps and Timestamp.POSTSTREAM, which "
                    "output_poststream_as_prestream cannot bring before them; leave it out"
                )
            last = time
            yield (PRESTREAM if time == POSTSTREAM and early else time), key, index


# --- side packets -------------------------------------------------------------------------------------------


def _path(
    cc: CalculatorContext, sequence: MediaSequence, options: UnpackMediaSequenceCalculatorOptions
) -> str:
    sides = cc.input_side_packets
    root: str = options.dataset_root_directory
    if "DATASET_ROOT" in sides:
        root = sides["DATASET_ROOT"].get(str)
    path: str = sequence.first(keys.CLIP_DATA_PATH).decode()
    return f"{root.removesuffix('/')}/{path}" if root else path


def _limits(
    sequence: MediaSequence, options: UnpackMediaSequenceCalculatorOptions
) -> tuple[float | None, float | None]:
    """Return when the clip begins and ends with the padding, in seconds; None where the record has it not."""
    start = end = None
    if sequence.has(keys.CLIP_START):
        start = sequence.first(keys.CLIP_START) / _SECOND - options.padding_before_label
    if sequence.has(keys.CLIP_END):
        end = sequence.first(keys.CLIP_END) / _SECOND + options.padding_after_label
    return start, end


def _resampler_options(
    sequence: MediaSequence, options: UnpackMediaSequenceCalculatorOptions
) -> CalculatorOptions:
    cls = _message(_RESAMPLER_OPTIONS)
    made: CalculatorOptions = CalculatorOptions()
    found = made.Extensions[cls.ext]
    found.MergeFromString(options.base_packet_resampler_options.SerializeToString())
    found.SetInParent()
    start, end = _limits(sequence, options)
    if start is not None:
        found.start_time = int(Timestamp.from_seconds(start))
    if end is not None:
        found.end_time = int(Timestamp.from_seconds(end))
    return made


def _decoder_options(sequence: MediaSequence, options: UnpackMediaSequenceCalculatorOptions) -> Any:
    found: Any = _message(_DECODER_OPTIONS).FromString(options.base_audio_decoder_options.SerializeToString())
    start, end = _limits(sequence, options)
    extra = options.extra_padding_from_media_decoder
    if start is not None:
        found.start_time = 0 if options.force_decoding_from_start_of_media else start - extra
    if end is not None:
        found.end_time = end + extra
    return found


def _message(name: str) -> Any:
    """Return an options message of another pack.

    Raises:
        FailedPreconditionError: that pack is not installed.
    """
    registry = default_registry()
    entry = registry.option(name)
    if entry is None:
        pack = registry.install_hint("option", name)
        raise FailedPreconditionError(
            f"an output side packet of the media sequence is a {name}, but no installed pack has it; run pip "
            f"install {pack}"
        )
    return entry.load()
