"""TfLiteModelCalculator: a model as a side packet, for InferenceCalculator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_tensors.models.backend import backend_for
from penstock_tensors.models.model import Model
from penstock_tensors.models.resource_finder import FoundResource

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_SOURCES: Final = ("MODEL_RESOURCE", "MODEL_BLOB", "MODEL_SPAN", "MODEL_FD")
_OUTPUTS: Final = ("MODEL", "SHARED_MODEL")


class TfLiteModelCalculator(penstock.Calculator):
    """Makes a model of the bytes of its file, once for all nodes that run it.

    Input side packets, exactly one: MODEL_RESOURCE (FoundResource, from ResourceProviderCalculator),
    MODEL_BLOB (bytes), MODEL_SPAN (bytes, bytearray or memoryview; copied), MODEL_FD (a tuple of a file
    descriptor, an offset and a size in bytes). Output side packets, exactly one: MODEL or SHARED_MODEL
    (Model).

    Every model that a backend recognizes will do: .tflite, .onnx, and what other packs bring.

    Raises InvalidArgumentError in `get_contract` where not exactly one of each is connected, in `open` where
    the bytes are no model.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_model_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteModelCalculator"
          input_side_packet: "MODEL_RESOURCE:palm_file"
          output_side_packet: "MODEL:palm_model"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one source and one output.

        Raises:
            InvalidArgumentError: there is not exactly one of each.
        """
        for what, ports, tags in (
            ("input side packet", cc.input_side_packets, _SOURCES),
            ("output side packet", cc.output_side_packets, _OUTPUTS),
        ):
            found = [tag for tag in tags if tag in ports]
            if len(found) != 1:
                raise InvalidArgumentError(
                    f"the .tflite model has the {what}s {', '.join(found) or 'none'}; connect exactly one of "
                    f"{', '.join(tags)}"
                )
        sources = cc.input_side_packets
        specs = (
            sources["MODEL_RESOURCE"].set(FoundResource, "the file of the model"),
            sources["MODEL_BLOB"].set(bytes, "the bytes of the file"),
            sources["MODEL_SPAN"].set_one_of(
                bytes, bytearray, memoryview, description="the bytes of the file"
            ),
            sources["MODEL_FD"].set(tuple, "file descriptor, offset, size"),
        )
        for spec in specs:
            if spec.tag not in sources:  # one that is connected must be given
                spec.optional()
        for tag in _OUTPUTS:
            cc.output_side_packets[tag].set(Model, "the model").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Make the model.

        Raises:
            InvalidArgumentError: the bytes are no model, or cannot be read.
        """
        sources = cc.input_side_packets
        (tag,) = (tag for tag in _SOURCES if tag in sources)
        if tag == "MODEL_RESOURCE":
            model = Model.of(sources[tag].get(FoundResource))
        elif tag == "MODEL_FD":
            model = Model("MODEL_FD", _read(sources[tag].payload))
        else:
            given: Any = sources[tag].payload
            model = Model(tag, bytes(given))
        if backend_for(model) is None:
            raise InvalidArgumentError(
                f"failed to load the TfLite model {model.name!r}: its {len(model.data)} bytes are of no "
                "kind that a backend runs; give a .tflite file"
            )
        for output in cc.output_side_packets:
            output.set(model)

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""


def _read(place: Any) -> bytes:
    try:
        descriptor, offset, size = place
        data = os.pread(descriptor, size, offset)
    except (TypeError, ValueError, OSError) as error:
        raise InvalidArgumentError(
            f"the .tflite model's MODEL_FD is {place!r}, which cannot be read: {error}; give a file "
            "descriptor, an offset and a size"
        ) from error
    if len(data) != size:
        raise InvalidArgumentError(
            f"the .tflite model's MODEL_FD has {len(data)} bytes, but its size says {size}; correct the size"
        )
    return data
