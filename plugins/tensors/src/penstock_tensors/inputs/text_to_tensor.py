"""TextToTensorCalculator: the bytes of a text as a tensor; what calculators of text share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock_formats import Tensor
from penstock_tensors.models.model import Model
from penstock_tensors.models.model_metadata import ModelMetadata

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TextToTensorCalculator(penstock.Calculator):
    """Makes a tensor of the bytes of a text, for a model whose input is a string.

    Input: TEXT (str). Output: TENSORS (a list of one Tensor, int8, its bytes in UTF-8 in one dimension).
    Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/tensor/text_to_tensor_calculator.cc`; its element type
    char is int8 here.

    Config::

        node {
          calculator: "TextToTensorCalculator"
          input_stream: "TEXT:text"
          output_stream: "TENSORS:tensors"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare text in, a tensor out."""
        cc.inputs["TEXT"].set(str, "the text")
        cc.outputs["TENSORS"].set(list[Tensor], "one tensor")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make one tensor."""
        source = cc.inputs["TEXT"]
        if not source.is_empty():
            cc.outputs["TENSORS"].add([tensor_of_text(source.payload)], cc.stamp)


def declare_text_ports(cc: CalculatorContract) -> None:
    """Declare TEXT, METADATA_EXTRACTOR and TENSORS of a calculator that follows the metadata of a model."""
    cc.inputs["TEXT"].set(str, "the text")
    cc.input_side_packets["METADATA_EXTRACTOR"].set_one_of(
        ModelMetadata, Model, description="what the model says of its inputs, or the model"
    )
    cc.outputs["TENSORS"].set(list[Tensor], "the inputs of the model")
    cc.set_timestamp_offset(0)
    cc.declare(may_skip=False, stateless=True)


def metadata_of(cc: CalculatorContext) -> ModelMetadata:
    """Return what METADATA_EXTRACTOR says of the model.

    Raises:
        InvalidArgumentError: it is a model that has no metadata, or is damaged.
    """
    given: Any = cc.input_side_packets["METADATA_EXTRACTOR"].payload
    return given if isinstance(given, ModelMetadata) else ModelMetadata.of(given)


def tensor_of_text(text: str) -> Tensor:
    """Return the bytes of a text in UTF-8 as a tensor of int8."""
    return Tensor(np.frombuffer(text.encode("utf-8", errors="surrogatepass"), np.int8))
