"""What writes payloads of some types into recordings, and reads them: `Codec`, and the choice of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Registry


class Schema(NamedTuple):
    """How other programs understand the messages of a channel; see MCAP's registry of encodings."""

    #: "protobuf", "json" ...
    message_encoding: str
    #: The name of the schema: "foxglove.RawImage".
    name: str = ""
    #: The encoding of `data`: "protobuf", "jsonschema" ...; "" where there is none.
    encoding: str = ""
    #: The schema.
    data: bytes = b""


class Codec(Protocol):
    """Writes payloads and reads them. A component of the kind "codec", under a name that stands in files.

    A codec has no state: one object serves all threads.
    """

    #: Classes of the payloads that it may take; a stream whose type is none of any codec's is refused before
    #: a run.
    types: tuple[type, ...]

    def takes(self, payload: object) -> bool:
        """Return whether `decode` would return an equal payload of the same type."""

    def schema(self, payload: object) -> Schema:
        """Return the schema of a payload that it takes; payloads of one stream may have different ones."""

    def encode(self, payload: Any) -> bytes:
        """Return a payload as bytes."""

    def decode(self, data: bytes, schema: Schema) -> Any:
        """Return the payload of some bytes. They are the caller's.

        Raises:
            InvalidArgumentError: the bytes are none that `encode` has written.
        """


class Codecs:
    """The codecs of a registry.

    Args:
        registry: has them under the kind "codec".
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # Those for anything come last: "Json" and "Value" of this pack.
        names = registry.names("codec")
        self._order = sorted(names, key=lambda name: (name in _LAST, name))
        self._known: dict[str, Codec] = {}

    def named(self, name: str) -> Codec:
        """Return the codec of a name.

        Raises:
            UnknownNameError: no installed pack has it; says what to install, where that is known.
        """
        found = self._known.get(name)
        if found is None:
            made: Any = self._registry.find("codec", name)
            found = self._known[name] = made() if isinstance(made, type) else made
        return found

    def may_take(self, classes: tuple[type, ...] | None) -> bool:
        """Return whether a codec may take payloads of one of some classes; None stands for any."""
        if classes is None:
            return True
        types = [kind for name in self._order for kind in self.named(name).types]
        return any(issubclass(one, kind) or issubclass(kind, one) for one in classes for kind in types)

    def of(self, payload: object) -> tuple[str, Codec]:
        """Return name and codec for a payload.

        Raises:
            InvalidArgumentError: no codec takes it.
        """
        for name in self._order:
            codec = self.named(name)
            if codec.takes(payload):
                return name, codec
        kind = type(payload)
        raise InvalidArgumentError(
            f"no codec takes the type {kind.__module__}.{kind.__qualname__}; record other streams, "
            f"or register a codec for it (there are {', '.join(self._order)})"
        )


_LAST: Sequence[str] = ("Json", "Value")
