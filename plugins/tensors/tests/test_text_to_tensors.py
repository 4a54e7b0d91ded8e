"""Text as tensors: bytes, word pieces, words, and what the calculators need of a model."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_tensors import ModelMetadata, TokenizerMetadata, TokenizerMetadataKind
from penstock_tensors.inputs.bert_preprocessor import BertPreprocessorCalculator
from penstock_tensors.inputs.regex_preprocessor import RegexPreprocessorCalculator
from penstock_tensors.inputs.text_to_tensor import TextToTensorCalculator
from penstock_tensors.inputs.tokenizers import DelimitedWords, WordPieces
from penstock_tensors.inputs.universal_sentence_encoder_preprocessor import (
    UniversalSentenceEncoderPreprocessorCalculator,
)
from penstock_tensors.messages.bert_preprocessor_pb2 import BertPreprocessorCalculatorOptions as BertOptions
from penstock_tensors.messages.regex_preprocessor_pb2 import (
    RegexPreprocessorCalculatorOptions as RegexOptions,
)
from penstock_testing import run_calculator

#: Tokens of the vocabulary of the reference's BERT model, and their numbers.
PIECES = {
    101: "[CLS]", 102: "[SEP]", 1005: "'", 1037: "a", 1055: "s", 1998: "and", 2003: "is", 2009: "it",
    2023: "this", 2146: "long", 2411: "often", 4990: "journey", 11951: "charming", 12473: "affecting",
}  # fmt: skip
BERT = ModelMetadata(
    inputs=("ids", "segment_ids", "mask"),
    tokenizer=TokenizerMetadata(TokenizerMetadataKind.BERT, "vocab.txt"),
    files={"vocab.txt": "\n".join(PIECES.get(i, f"[unused{i}]") for i in range(12_500)).encode()},
)
#: Words of the vocabulary of the reference's model with a regular expression, and their numbers.
WORDS = (
    "<PAD> 0\n<START> 1\n<UNKNOWN> 2\n<UNUSED> 3\nthe 4\nis 9\nin 11\nit 12\nmovie 20\nseen 110\nbest 118\n"
    "years 153\nrecommend 386\nrecent 1136\n"
)
REGEX = ModelMetadata(
    inputs=("text",),
    first_tokenizer=TokenizerMetadata(TokenizerMetadataKind.REGEX, "vocab.txt", r"[^\w\']+"),
    files={"vocab.txt": WORDS.encode()},
)


def tensors(calculator, text, metadata=None, options=None):
    done = run_calculator(
        calculator,
        {"TEXT": [(3, text)]},
        outputs=["TENSORS"],
        side_packets={} if metadata is None else {"METADATA_EXTRACTOR": metadata},
        options=options,
    )
    (packet,) = done.outputs["TENSORS"]
    assert packet.timestamp == 3
    return [tensor.array for tensor in packet.payload]


# --- bytes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Foo. Bar? Baz!",
            marks=pytest.mark.reference(
                "calculators/tensor/text_to_tensor_calculator_test.cc", "TextToTensorCalculatorTest.FooBarBaz"
            ),
        ),
        pytest.param(
            "",
            marks=pytest.mark.reference(
                "calculators/tensor/text_to_tensor_calculator_test.cc", "TextToTensorCalculatorTest.Empty"
            ),
        ),
        "ä\0€",
    ],
)
def test_the_bytes_of_a_text_are_a_tensor(text):
    (made,) = tensors(TextToTensorCalculator, text)

    assert (made.dtype, made.ndim) == (np.int8, 1)
    assert made.tobytes().decode() == text


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        pytest.param(
            ("inp_text", "res_context", "res_text"), ["", "", "test_input_text"],
            marks=pytest.mark.reference(
                "calculators/tensor/universal_sentence_encoder_preprocessor_calculator_test.cc",
                "UniversalSentenceEncoderPreprocessorCalculatorTest.TestUSE",
            ),
        ),
        (("res_text", "inp_text", "res_context"), ["test_input_text", "", ""]),
    ],
)  # fmt: skip
def test_a_sentence_encoder_gets_the_text_as_a_response(inputs, expected):
    calculator = UniversalSentenceEncoderPreprocessorCalculator

    made = tensors(calculator, "test_input_text", ModelMetadata(inputs=inputs))

    assert {array.dtype for array in made} == {np.dtype(np.int8)}
    assert [array.tobytes().decode() for array in made] == expected


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ((), "names no inputs, but the calculator needs 'inp_text'; use a model made for it"),
        (
            ("inp_text", "res_context", "other", "res_text"),
            "names inp_text, res_context, other, res_text, but inp_text, res_context, res_text must be the",
        ),
    ],
)
def test_a_model_with_other_inputs_is_refused(inputs, words):
    with pytest.raises(GraphRunError, match=words) as caught:
        tensors(UniversalSentenceEncoderPreprocessorCalculator, "a", ModelMetadata(inputs=inputs))

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


# --- word pieces -------------------------------------------------------------------------------------


def filled(numbers, length=128):
    return [*numbers, *[0] * (length - len(numbers))]


LONG = " ".join(
    ["it's a charming and often affecting journey and this is a long", *["long"] * 128, "movie review"]
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param(
            "it's a charming and often affecting journey",
            [101, 2009, 1005, 1055, 1037, 11951, 1998, 2411, 12473, 4990, 102],
            marks=pytest.mark.reference(
                "calculators/tensor/bert_preprocessor_calculator_test.cc",
                "BertPreprocessorCalculatorTest.TextClassifierWithBertModel",
            ),
        ),
        pytest.param(
            LONG,
            [101, 2009, 1005, 1055, 1037, 11951, 1998, 2411, 12473, 4990, 1998, 2023, 2003, 1037]
            + [2146] * 113
            + [102],
            marks=pytest.mark.reference(
                "calculators/tensor/bert_preprocessor_calculator_test.cc",
                "BertPreprocessorCalculatorTest.LongInput",
            ),
        ),
    ],
)
def test_a_review_becomes_the_inputs_of_the_references_bert_model(text, numbers):
    made = tensors(BertPreprocessorCalculator, text, BERT, BertOptions(bert_max_seq_len=128))

    assert {(array.shape, array.dtype) for array in made} == {((1, 128), np.dtype(np.int32))}
    assert [array[0].tolist() for array in made] == [filled(numbers), [0] * 128, filled([1] * len(numbers))]


def bert_of(*pieces, inputs=("mask", "ids", "segment_ids")):
    tokenizer = TokenizerMetadata(TokenizerMetadataKind.BERT, "v")
    return ModelMetadata(inputs=inputs, tokenizer=tokenizer, files={"v": "\r\n".join(pieces).encode()})


def test_an_open_length_is_that_of_the_text_and_inputs_have_the_order_of_the_model():
    metadata = bert_of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "go", "##ing", "!")

    mask, ids, segments = tensors(
        BertPreprocessorCalculator, "GOING x!", metadata, BertOptions(has_dynamic_input_tensors=True)
    )

    assert ids.tolist() == [[2, 4, 5, 1, 6, 3]]
    assert (mask.tolist(), segments.tolist()) == ([[1] * 6], [[0] * 6])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("i'm question", ["i", "'", "m", "question"]),
        ("i'm questionansweraskask", ["i", "'", "m", "question", "##ans", "##wer", "##ask", "##ask"]),
        ("questionable", ["[UNK]"]),
        ("i\n\tm", ["i", "m"]),
        ("i\u3002m\u4e2d\u4e2d", ["i", "[UNK]", "m", "\u4e2d", "\u4e2d"]),  # a full stop and two characters
        ("a" * 101, ["[UNK]"]),
        ("i" * 100, ["i", *["##i"] * 99]),
        ("", []),
        ("?", ["[UNK]"]),
    ],
)
def test_words_are_cut_into_the_longest_pieces(text, tokens):
    vocabulary = ["i", "'", "m", "question", "##ans", "##wer", "##ask", "##a", "##i", "\u4e2d"]

    assert WordPieces({token: i for i, token in enumerate(vocabulary)}).tokens(text) == tokens


# --- words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param(
            "This is the best movie I\u2019ve seen in recent years. Strongly recommend it!",
            [1, 2, 9, 4, 118, 20, 2, 2, 110, 11, 1136, 153, 2, 386, 12],
            marks=pytest.mark.reference(
                "calculators/tensor/regex_preprocessor_calculator_test.cc",
                "RegexPreprocessorCalculatorTest.TextClassifierModel",
            ),
        ),
        pytest.param(
            "This is the best"
            + " best" * 256
            + "movie I\u2019ve seen in recent years. Strongly recommend it!",
            [1, 2, 9, 4] + [118] * 252,
            marks=pytest.mark.reference(
                "calculators/tensor/regex_preprocessor_calculator_test.cc",
                "RegexPreprocessorCalculatorTest.LongInput",
            ),
        ),
    ],
)
def test_a_review_becomes_the_input_of_the_references_model(text, numbers):
    (made,) = tensors(RegexPreprocessorCalculator, text, REGEX, RegexOptions(max_seq_len=256))

    assert (made.shape, made.dtype) == ((1, 256), np.int32)
    assert made[0].tolist() == filled(numbers, 256)


def test_without_a_start_the_words_come_first_and_the_rest_is_padding():
    files = {"v": b"<PAD> 7\n<UNKNOWN> 8\nit 9"}
    metadata = ModelMetadata(
        first_tokenizer=TokenizerMetadata(TokenizerMetadataKind.REGEX, "v", " "), files=files
    )

    (made,) = tensors(RegexPreprocessorCalculator, "it  was", metadata, RegexOptions(max_seq_len=4))

    assert made.tolist() == [[9, 8, 7, 7]]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("good    morning, i'm you", ["good", "morning", "i'm", "you"]),
        (", a, ", ["a"]),
        ("", []),
        ("ab", ["ab"]),
    ],
)
def test_text_is_cut_at_the_delimiter(text, tokens):
    assert DelimitedWords({}, r"[^\w\']+").tokens(text) == tokens


# --- what cannot be ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calculator", "options", "words", "code"),
    [
        (BertPreprocessorCalculator, BertOptions(), "bert_max_seq_len is 0, but must be 2", "INTERNAL"),
        (BertPreprocessorCalculator, BertOptions(bert_max_seq_len=1), "is 1, but must be 2", "INTERNAL"),
        (BertPreprocessorCalculator, BertOptions(bert_max_seq_len=2**30), "asks for", "RESOURCE_EXHAUSTED"),
        (RegexPreprocessorCalculator, RegexOptions(), "max_seq_len is 0, but must be 1", "INTERNAL"),
        (RegexPreprocessorCalculator, RegexOptions(max_seq_len=2**30), "asks for", "RESOURCE_EXHAUSTED"),
    ],
)
def test_a_length_that_cannot_be_is_refused_when_the_graph_is_loaded(calculator, options, words, code):
    with pytest.raises(GraphConfigError, match=words) as caught:
        tensors(calculator, "a", ModelMetadata(), options)

    assert caught.value.code == StatusCode[code]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (
            ModelMetadata(inputs=BERT.inputs),
            "no tokenizer is in the metadata of the model; use a model for text",
        ),
        (
            ModelMetadata(
                inputs=BERT.inputs, tokenizer=TokenizerMetadata(TokenizerMetadataKind.SENTENCE_PIECE, "v")
            ),
            "has a SentencePiece tokenizer, but only",
        ),
        (
            ModelMetadata(inputs=BERT.inputs, tokenizer=BERT.tokenizer, files={"other": b""}),
            "has no file 'vocab.txt', which its metadata names; it has 'other'",
        ),
        (
            ModelMetadata(inputs=("ids", "mask")),
            "names 'ids', 'mask', but the calculator needs 'segment_ids'",
        ),
    ],
)
def test_a_model_without_word_pieces_is_refused(metadata, words):
    with pytest.raises(GraphRunError, match=words):
        tensors(BertPreprocessorCalculator, "a", metadata, BertOptions(bert_max_seq_len=8))


@pytest.mark.parametrize(
    ("delimiter", "vocabulary", "words"),
    [
        (r"\p{P}", WORDS, r"delimiter .* of the model's tokenizer cannot be read: bad escape"),
        (r"\s*", WORDS, "of the model's tokenizer matches no characters"),
        (" ", "the 4\n<PAD> 0", "has no <UNKNOWN>; add it with its number"),
        (" ", "the 4\n<UNKNOWN> 0", "has no <PAD>; add it with its number"),
        (" ", "the", "has the line 'the', but each is a token and its number"),
        (" ", "the x", "has the line 'the x', but each is a token and its number"),
        (" ", "the 12345678901", "has the line 'the 12345678901', but each is a token and its number"),
    ],
)
def test_a_tokenizer_of_words_that_cannot_be_is_refused(delimiter, vocabulary, words):
    tokenizer = TokenizerMetadata(TokenizerMetadataKind.REGEX, "v", delimiter)
    metadata = ModelMetadata(first_tokenizer=tokenizer, files={"v": vocabulary.encode()})
    with pytest.raises(GraphRunError, match=words):
        tensors(RegexPreprocessorCalculator, "a", metadata, RegexOptions(max_seq_len=8))


def test_words_need_an_expression():
    with pytest.raises(GraphRunError, match="no tokenizer is in the metadata"):
        tensors(RegexPreprocessorCalculator, "a", BERT, RegexOptions(max_seq_len=8))
