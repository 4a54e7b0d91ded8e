"""RegexPreprocessorCalculator: words of a text as the input of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, StatusCode
from penstock_formats import Tensor, check_size_limit
from penstock_tensors.inputs.text_to_tensor import declare_text_ports, metadata_of
from penstock_tensors.inputs.tokenizers import tokenizer_of
from penstock_tensors.messages.regex_preprocessor_pb2 import RegexPreprocessorCalculatorOptions
from penstock_tensors.models.model_metadata import TokenizerMetadataKind

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class RegexPreprocessorCalculator(penstock.Calculator):
    """Makes the input of a model of the words of a text.

    Input: TEXT (str). Side packet: METADATA_EXTRACTOR (ModelMetadata, or the Model itself, whose metadata is
    read): the tokenizer of its first input, a regular expression between words and a vocabulary. Output:
    TENSORS (a list of one Tensor, int32, 1 x `max_seq_len`): the number of "<START>", where the vocabulary
    has it, then of each word, of "<UNKNOWN>" for words that it lacks, and of "<PAD>" behind the last;
    cut off after `max_seq_len`. Timestamp offset 0.

    The expression is one of Python's `re`, where words are of ASCII only. Some take long for some texts: use
    models that you trust.

    Options `RegexPreprocessorCalculatorOptions`: `max_seq_len` (1 or more, needed).

    Raises in `get_contract`: InvalidArgumentError without max_seq_len (INTERNAL, as in the reference);
    ResourceExhaustedError for one above the limit. In `open`: InvalidArgumentError or NotFoundError for a
    model without such a tokenizer or its vocabulary.

    Source of the behaviour: MediaPipe `calculators/tensor/regex_preprocessor_calculator.cc`.

    Config::

        node {
          calculator: "RegexPreprocessorCalculator"
          input_stream: "TEXT:text"
          input_side_packet: "METADATA_EXTRACTOR:model"
          output_stream: "TENSORS:tensors"
          options { [penstock.RegexPreprocessorCalculatorOptions.ext] { max_seq_len: 256 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: there is no length, or one below 1.
            ResourceExhaustedError: it is too large.
        """
        length = cc.options(RegexPreprocessorCalculatorOptions).max_seq_len
        if length < 1:
            raise InvalidArgumentError(
                f"the preprocessor's max_seq_len is {length}, but must be 1 or more; set the length of the "
                "model's input",
                code=StatusCode.INTERNAL,
            )
        check_size_limit(length, "max_seq_len")
        declare_text_ports(cc)

    def open(self, cc: CalculatorContext) -> None:
        """Read the vocabulary.

        Raises:
            PenstockError: as the class says.
        """
        self._length = cc.options(RegexPreprocessorCalculatorOptions).max_seq_len
        metadata = metadata_of(cc)
        tokenizer = metadata.first_tokenizer
        is_regex = tokenizer is not None and tokenizer.kind is TokenizerMetadataKind.REGEX
        self._tokenizer = tokenizer_of(metadata, tokenizer if is_regex else None)

    def process(self, cc: CalculatorContext) -> None:
        """Make the input of one text."""
        source = cc.inputs["TEXT"]
        if source.is_empty():
            return
        vocabulary = self._tokenizer.vocabulary
        numbers = [vocabulary["<START>"]] if "<START>" in vocabulary else []
        unknown = vocabulary["<UNKNOWN>"]
        numbers += [vocabulary.get(word, unknown) for word in self._tokenizer.tokens(source.payload)]
        made = np.full((1, self._length), vocabulary["<PAD>"], np.int32)
        made[0, : len(numbers)] = numbers[: self._length]
        cc.outputs["TENSORS"].add([Tensor(made)], cc.stamp)
