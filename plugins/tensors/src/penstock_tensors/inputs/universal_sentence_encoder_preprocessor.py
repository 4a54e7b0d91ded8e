"""UniversalSentenceEncoderPreprocessorCalculator: the bytes of a text as the three tensors of that model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock_tensors.inputs.text_to_tensor import declare_text_ports, metadata_of, tensor_of_text
from penstock_tensors.models.model_metadata import places_of

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


_INPUTS: Final = ("inp_text", "res_context", "res_text")


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
        tensors = [tensor_of_text("") for _ in _INPUTS]
        tensors[self._place] = tensor_of_text(source.payload)
        cc.outputs["TENSORS"].add(tensors, cc.stamp)
