"""BertPreprocessorCalculator: text as the inputs of a BERT model."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, StatusCode
from penstock_formats import Tensor, check_size_limit
from penstock_tensors.inputs.text_to_tensor import declare_text_ports, metadata_of
from penstock_tensors.inputs.tokenizers import tokenizer_of
from penstock_tensors.messages.bert_preprocessor_pb2 import BertPreprocessorCalculatorOptions
from penstock_tensors.models.model_metadata import places_of

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_INPUTS: Final = ("ids", "segment_ids", "mask")
#: The tokens at the begin and the end.
_ENDS: Final = 2
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class BertPreprocessorCalculator(penstock.Calculator):
    """Makes the three inputs of a BERT model of one text.

    Input: TEXT (str). Side packet: METADATA_EXTRACTOR (ModelMetadata, or the Model itself, whose metadata is
    read): its inputs `ids`, `segment_ids` and `mask` in its order, its tokenizer and vocabulary. Output:
    TENSORS (a list of three Tensors in that order, int32, 1 x `bert_max_seq_len`): the numbers of "[CLS]",
    the tokens and "[SEP]", cut off or filled up with 0; 0; and 1 for each token. Timestamp offset 0.

    The text is cut into words and punctuation marks, in lower case (A to Z only), and these into the longest
    pieces that the vocabulary has.

    Options `BertPreprocessorCalculatorOptions`: `bert_max_seq_len` (2 or more, needed), or
    `has_dynamic_input_tensors` (false): tensors are as long as the text needs.

    Raises in `get_contract`: InvalidArgumentError without a length, or for one below 2 (INTERNAL, as in the
    reference); ResourceExhaustedError for a length above the limit. In `open`: InvalidArgumentError or
    NotFoundError for a model without such inputs or a vocabulary; PenstockError with UNIMPLEMENTED for a
    SentencePiece tokenizer.

    Source of the behaviour: MediaPipe `calculators/tensor/bert_preprocessor_calculator.cc`.

    Config::

        node {
          calculator: "BertPreprocessorCalculator"
          input_stream: "TEXT:text"
          input_side_packet: "METADATA_EXTRACTOR:model"
          output_stream: "TENSORS:tensors"
          options {
            [penstock.BertPreprocessorCalculatorOptions.ext] { bert_max_seq_len: 128 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: there is no length, or one below 2.
            ResourceExhaustedError: it is too large.
        """
        options = cc.options(BertPreprocessorCalculatorOptions)
        if not options.has_dynamic_input_tensors and options.bert_max_seq_len < _ENDS:
            raise InvalidArgumentError(
                f"bert_max_seq_len is {options.bert_max_seq_len}, but must be {_ENDS} or more; set the "
                "length of the model's inputs",
                code=StatusCode.INTERNAL,
            )
        check_size_limit(options.bert_max_seq_len, "bert_max_seq_len")
        declare_text_ports(cc)

    def open(self, cc: CalculatorContext) -> None:
        """Read the vocabulary.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(BertPreprocessorCalculatorOptions)
        self._length = 0 if options.has_dynamic_input_tensors else options.bert_max_seq_len
        metadata = metadata_of(cc)
        self._places = places_of(metadata, _INPUTS)
        self._tokenizer = tokenizer_of(metadata, metadata.tokenizer)

    def process(self, cc: CalculatorContext) -> None:
        """Make the inputs of one text."""
        source = cc.inputs["TEXT"]
        if source.is_empty():
            return
        tokens = self._tokenizer.tokens(source.payload.translate(_LOWER))
        if self._length:
            del tokens[self._length - _ENDS :]
        numbers = [self._tokenizer.vocabulary.get(token, 0) for token in ("[CLS]", *tokens, "[SEP]")]
        length = self._length or len(numbers)
        rows = np.zeros((len(_INPUTS), 1, length), np.int32)
        rows[0, 0, : len(numbers)] = numbers
        rows[2, 0, : len(numbers)] = 1
        tensors = [Tensor(row) for row in rows]
        cc.outputs["TENSORS"].add([tensors[self._places.index(i)] for i in range(len(_INPUTS))], cc.stamp)
