"""Text as tokens of a vocabulary: word pieces of BERT's models, and words between delimiters.

Source: MediaPipe `tasks/cc/text/tokenizers/`, and the word piece tokenizer of TensorFlow Text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError, PenstockError, StatusCode
from penstock_tensors.models.model_metadata import TokenizerMetadataKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock_tensors.models.model_metadata import ModelMetadata, TokenizerMetadata

#: A word of more bytes, or a piece of more characters, is unknown.
_LONGEST: Final = 100
#: Numbers of tokens have no more, so that they are int32.
_DIGITS: Final = 9
_SUFFIX: Final = "##"
_UNKNOWN: Final = "[UNK]"
_SPACES: Final = frozenset("\t\n\f\r ")
_ASCII: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
#: Each Chinese character of these ranges is a word.
_CHINESE: Final = (
    range(0x4E00, 0xA000),
    range(0x3400, 0x4DC0),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820),
    range(0x2B820, 0x2CEB0),
    range(0xF900, 0xFB00),
    range(0x2F800, 0x2FA20),
)


class WordPieces:
    """Cuts text into the longest pieces that a vocabulary has.

    Args:
        vocabulary: token → its number. Pieces inside of words begin with "##".
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.vocabulary = vocabulary

    def tokens(self, text: str) -> list[str]:
        """Return the pieces of a text; "[UNK]" for a word that has none."""
        return [piece for word in _words(text) for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[str]:
        if len(word.encode()) > _LONGEST:
            return [_UNKNOWN]
        found: list[str] = []
        begin = 0
        while begin < len(word):
            prefix = _SUFFIX if begin else ""
            for end in range(len(word), begin, -1):
                piece = prefix + word[begin:end]
                if piece in self.vocabulary:
                    found.append(piece)
                    begin = end
                    break
            else:
                return [_UNKNOWN]
        return found


class DelimitedWords:
    """Cuts text at a regular expression.

    Args:
        vocabulary: token → its number.
        delimiter: the expression; words are of ASCII only, as in the reference.

    Raises:
        InvalidArgumentError: it is no expression, or one that matches "".
    """

    def __init__(self, vocabulary: Mapping[str, int], delimiter: str) -> None:
        self.vocabulary = vocabulary
        try:
            self._delimiter = re.compile(delimiter, re.ASCII)
        except re.error as error:
            raise InvalidArgumentError(
                f"the delimiter {delimiter!r} of the model's tokenizer cannot be read: {error}; write it as "
                "an expression of Python's re"
            ) from error
        if self._delimiter.match(""):
            raise InvalidArgumentError(
                f"the delimiter {delimiter!r} of the model's tokenizer matches no characters; it must match "
                "one at least"
            )

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text."""
        begin = 0
        found: list[str] = []
        for match in self._delimiter.finditer(text):
            found.append(text[begin : match.start()])
            begin = match.end()
        return [word for word in (*found, text[begin:]) if word]


def tokenizer_of(metadata: ModelMetadata, tokenizer: TokenizerMetadata | None) -> WordPieces | DelimitedWords:
    """Return the tokenizer that a model names.

    Raises:
        InvalidArgumentError: it names none, or one that cannot be.
        NotFoundError: its vocabulary is not in the model.
        PenstockError: UNIMPLEMENTED: it names a SentencePiece tokenizer.
    """
    if tokenizer is None:
        raise InvalidArgumentError(
            "no tokenizer is in the metadata of the model; use a model for text, with metadata"
        )
    if tokenizer.kind is TokenizerMetadataKind.SENTENCE_PIECE:
        raise PenstockError(
            "the model has a SentencePiece tokenizer, but only BERT's and regular expressions are supported; "
            "make the tokens in a calculator of your own",
            code=StatusCode.UNIMPLEMENTED,
        )
    lines = _lines(metadata.file(tokenizer.vocabulary))
    if tokenizer.kind is TokenizerMetadataKind.BERT:
        return WordPieces({line: i for i, line in enumerate(lines)})
    words = DelimitedWords(_numbered(lines, tokenizer.vocabulary), tokenizer.delimiter)
    for token in ("<UNKNOWN>", "<PAD>"):
        if token not in words.vocabulary:
            raise InvalidArgumentError(
                f"the vocabulary {tokenizer.vocabulary!r} of the model's tokenizer has no {token}; add it "
                "with its number"
            )
    return words


def _lines(data: bytes) -> list[str]:
    """Return the lines of a vocabulary, but for empty ones."""
    lines = data.decode("utf-8", errors="replace").split("\n")
    return [line.removesuffix("\r") for line in lines if line]


def _numbered(lines: list[str], name: str) -> dict[str, int]:
    """Return the numbers of tokens, of lines such as "word 7"."""
    found: dict[str, int] = {}
    for line in lines:
        token, *rest = line.split(" ")
        if not rest or not rest[0].isascii() or not rest[0].isdecimal() or len(rest[0]) > _DIGITS:
            raise InvalidArgumentError(
                f"the vocabulary {name!r} of the model's tokenizer has the line {line!r}, but each is a "
                "token and its number"
            )
        found[token] = int(rest[0])
    return found


def _words(text: str) -> Iterator[str]:
    """Yield words, and each punctuation mark and Chinese character as a word."""
    begin = 0
    for i, character in enumerate(text):
        is_space = character in _SPACES
        if is_space or _is_word(character):
            if begin < i:
                yield text[begin:i]
            if not is_space:
                yield character
            begin = i + 1
    if begin < len(text):
        yield text[begin:]


def _is_word(character: str) -> bool:
    if character.isascii():
        return character in _ASCII
    number = ord(character)
    return unicodedata.category(character).startswith("P") or any(number in one for one in _CHINESE)
