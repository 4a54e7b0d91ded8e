"""TextToTensorCalculator and UniversalSentenceEncoderPreprocessorCalculator: the bytes of text as tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.models.model import Model
from penstock_tensors.models.model_metadata import ModelMetadata

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_INPUTS: Final = ("inp_text", "res_context", "res_text")


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
            cc.outputs["TENSORS"].add([_bytes(source.payload)], cc.stamp)


class UniversalSentenceEncoderPreprocessorCalculator(penstock.Calculator):
    """Makes the three inputs of a Universal Sentence Encoder for questions and answers, of one text.

    Input: TEXT (str). Side packet: METADATA_EXTRACTOR (ModelMetadata, or the Model itself, whose metadata is
    read): it names the inputs of the model `inp_text`, `res_context` and `res_text`, in its order. Output:
    TENSORS (a list of three Tensors in that order, int8): the bytes of the text for `res_text`, no elements
    for the others. Timestamp offset 0.

    Raises in `open`: InvalidArgumentError where the model names other inputs, or has no metadata.

    Source of the behaviour: MediaPipe
    `calculators/tensor/universal_sentence_encoder_preprocessor_calculator.cc`.

    Config::

        node {
          calculator: "UniversalSentenceEncoderPreprocessorCalculator"
          input_stream: "TEXT:text"
          input_side_packet: "METADATA_EXTRACTOR:model"
          output_stream: "TENSORS:tensors"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare text in, tensors out."""
        declare_text_ports(cc)

    def open(self, cc: CalculatorContext) -> None:
        """Look for the order of the inputs.

        Raises:
            InvalidArgumentError: the model has others.
        """
        metadata = metadata_of(cc)
        *_, self._place = places_of(metadata, _INPUTS)

    def process(self, cc: CalculatorContext) -> None:
        """Make the inputs of one text."""
        source = cc.inputs["TEXT"]
        if source.is_empty():
            return
        tensors = [_bytes("") for _ in _INPUTS]
        tensors[self._place] = _bytes(source.payload)
        cc.outputs["TENSORS"].add(tensors, cc.stamp)


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


def places_of(metadata: ModelMetadata, names: tuple[str, ...]) -> list[int]:
    """Return the numbers of the first inputs of a model, by their names.

    Raises:
        InvalidArgumentError: the model has other inputs before them, or lacks one.
    """
    places = [metadata.place_of(name) for name in names]
    if sorted(places) != list(range(len(names))):
        raise InvalidArgumentError(
            f"the metadata of the model names {', '.join(metadata.inputs)}, but {', '.join(names)} must be "
            "its first inputs; use a model made for the calculator"
        )
    return places


def _bytes(text: str) -> Tensor:
    return Tensor(np.frombuffer(text.encode("utf-8", errors="surrogatepass"), np.int8))
