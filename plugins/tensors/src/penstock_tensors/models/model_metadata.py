"""What a .tflite file says of its inputs, and the vocabulary that is packed into it.

Source: the schema of TensorFlow Lite's metadata (`metadata_schema.fbs`) and MediaPipe
`tasks/cc/metadata/metadata_extractor.cc`. Only what the calculators for text need is read.
"""

from __future__ import annotations

import enum
import io
import zipfile
import zlib
from collections.abc import Mapping  # noqa: TC003  # attrs reads the annotation
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError
from penstock_tensors.models.flat_table import FlatTable

if TYPE_CHECKING:
    from penstock_tensors.models.model import Model

_ENTRY: Final = "TFLITE_METADATA"
#: The most bytes of all files in a model: vocabularies have some hundred thousand.
_MOST: Final = 2**26
# Fields of tables, by their numbers.
_BUFFERS, _METADATA = 4, 6
_INPUTS, _UNITS = 2, 5


class TokenizerMetadataKind(enum.IntEnum):
    """How text becomes tokens; the numbers are the schema's."""

    BERT = 4
    SENTENCE_PIECE = 5
    REGEX = 6


@attrs.frozen
class TokenizerMetadata:
    """What a model says of how its text becomes tokens."""

    kind: TokenizerMetadataKind
    #: The name of the file with the tokens, in the model.
    vocabulary: str
    #: The regular expression between two tokens, for REGEX.
    delimiter: str = ""


@attrs.frozen
class ModelMetadata:
    """What a model says of its inputs."""

    #: A name for each input of the model, in its order.
    inputs: tuple[str, ...] = ()
    #: Of all inputs together, and of the first one; None where the model names none.
    tokenizer: TokenizerMetadata | None = None
    first_tokenizer: TokenizerMetadata | None = None
    #: Name → bytes of each file that is packed into the model.
    files: Mapping[str, bytes] = attrs.field(factory=dict, repr=lambda files: f"<{len(files)} files>")

    @classmethod
    def of(cls, model: Model) -> ModelMetadata:
        """Read what a .tflite model says.

        Raises:
            InvalidArgumentError: it has no metadata, or is damaged.
            ResourceExhaustedError: its files are too large.
        """
        try:
            return _read(model.data)
        except (InvalidArgumentError, ResourceExhaustedError) as error:
            raise error.placed(f"the model {model.name!r}: ") from error

    def place_of(self, name: str) -> int:
        """Return the number of an input.

        Raises:
            InvalidArgumentError: there is none of that name.
        """
        if name not in self.inputs:
            listed = ", ".join(map(repr, self.inputs)) or "no inputs"
            raise InvalidArgumentError(
                f"the metadata of the model names {listed}, but the calculator needs {name!r}; use a model "
                "made for it"
            )
        return self.inputs.index(name)

    def file(self, name: str) -> bytes:
        """Return a file that is packed into the model.

        Raises:
            NotFoundError: there is none of that name.
        """
        if name not in self.files:
            raise NotFoundError(
                f"the model has no file {name!r}, which its metadata names; it has "
                f"{', '.join(map(repr, self.files)) or 'none'}; get the model again"
            )
        return self.files[name]


def _read(data: bytes) -> ModelMetadata:
    whole = FlatTable.root(data)
    buffers = list(whole.tables(_BUFFERS))
    entries = [one for one in whole.tables(_METADATA) if one.text(0) == _ENTRY]
    if not entries or entries[0].number(1) >= len(buffers):
        raise InvalidArgumentError("it has no metadata; use a model of MediaPipe's tasks, or add metadata")
    metadata = FlatTable.root(buffers[entries[0].number(1)].data(0))
    graph = next(metadata.tables(3), None)
    if graph is None:
        return ModelMetadata(files=_files(data))
    inputs = list(graph.tables(_INPUTS))
    units = [] if not inputs else list(inputs[0].tables(4))
    return ModelMetadata(
        inputs=tuple(one.text(0) for one in inputs),
        tokenizer=_tokenizer(next(graph.tables(_UNITS), None)),
        first_tokenizer=next(filter(None, map(_tokenizer, units)), None),
        files=_files(data),
    )


def _tokenizer(unit: FlatTable | None) -> TokenizerMetadata | None:
    """Return what a process unit says; None where it is none of text."""
    options = None if unit is None else unit.table(1)
    if unit is None or options is None or unit.kind(0) not in list(TokenizerMetadataKind):
        return None
    kind = TokenizerMetadataKind(unit.kind(0))
    is_regex = kind is TokenizerMetadataKind.REGEX
    file = next(options.tables(1 if is_regex else 0), None)
    name = "" if file is None else file.text(0)
    return TokenizerMetadata(kind, name, options.text(0) if is_regex else "")


def _files(data: bytes) -> dict[str, bytes]:
    """Return the files of the zip archive behind a model; none where there is no archive."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_size(sum(info.file_size for info in archive.infolist()))
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except ResourceExhaustedError:
        raise
    # what `zipfile` raises for damaged archives
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        LookupError,
        OSError,
        RuntimeError,
    ) as error:
        raise InvalidArgumentError(f"its files cannot be read: {error}; get the model again") from error


def _check_size(size: int) -> None:
    if size > _MOST:
        raise ResourceExhaustedError(
            f"the files in its metadata have {size} bytes, but at most {_MOST} are read; take out what is "
            "not needed"
        )


def places_of(metadata: ModelMetadata, names: tuple[str, ...]) -> list[int]:
    """Return the numbers of the first inputs of a model, by their names.

    Raises:
        InvalidArgumentError: the model has other inputs before them, or lacks one.
    """
    places = [metadata.place_of(name) for name in names]
    if sorted(places) != list(range(len(names))):
        raise InvalidArgumentError(
            f"the model metadata names {', '.join(metadata.inputs)}, but {', '.join(names)} must be the "
            "first inputs; use a model made for the calculator"
        )
    return places
