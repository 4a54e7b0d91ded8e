"""A SequenceExample, read and written by the keys that MediaPipe gives its parts.

The context has values for the whole sequence, the feature lists have values for each step. A key may have a
prefix: "LEFT/image/encoded" are the images of the prefix LEFT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from penstock.errors import InvalidArgumentError
from penstock_formats import SequenceExample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock_formats import Feature

#: Which values a feature has, as the message names them.
Kind: TypeAlias = Literal["bytes_list", "float_list", "int64_list"]

BYTES: Final = "bytes_list"
FLOATS: Final = "float_list"
INTS: Final = "int64_list"
#: How many bytes a value takes at least.
_WIDTHS: Final = {FLOATS: 4, INTS: 1}


def key_of(prefix: str, name: str) -> str:
    """Return the key of a part with a prefix; "" is none."""
    return f"{prefix}/{name}" if prefix else name


def prefix_of(key: str, name: str) -> str | None:
    """Return the prefix of a key of the part `name`; None where it is the key of another one."""
    if key == name:
        return ""
    return key.removesuffix(f"/{name}") if key.endswith(f"/{name}") else None


class MediaSequence:
    """A copy of a SequenceExample, to read and to change.

    Args:
        message: what the sequence begins with; it stays as it is.
    """

    __slots__ = ("added", "message")

    def __init__(self, message: SequenceExample | None = None) -> None:
        #: The sequence itself.
        self.message = SequenceExample()
        if message is not None:
            self.message.CopyFrom(message)
        #: So many bytes at least have the values of the steps that were added.
        self.added = 0

    # --- the context ------------------------------------------------------------------------------------

    def has(self, key: str) -> bool:
        """Return whether the context has a value of this key."""
        return bool(self.values(key))

    def values(self, key: str) -> Sequence[Any]:
        """Return the values that the context has of a key, whatever their kind; maybe none."""
        features = self.message.context.feature
        return _values_of(features[key]) if key in features else ()

    def first(self, key: str) -> Any:
        """Return the first value that the context has of a key.

        Raises:
            InvalidArgumentError: it has none.
        """
        found = self.values(key)
        if not found:
            raise InvalidArgumentError(
                f"the sequence has no {key!r} in its context, but it is needed; set it where the "
                "sequence is made"
            )
        return found[0]

    def set(self, key: str, kind: Kind, values: Iterable[Any]) -> None:
        """Replace the values that the context has of a key; none leave an empty list."""
        found = self._list_of(key, kind)
        found.ClearField("value")
        found.value.extend(_stored(kind, values))

    def extend(self, key: str, kind: Kind, values: Iterable[Any]) -> None:
        """Add values of a key to the context."""
        self._list_of(key, kind).value.extend(_stored(kind, values))

    def drop(self, *keys: str) -> None:
        """Remove keys from the context."""
        for key in keys:
            self.message.context.feature.pop(key, None)

    # --- the steps --------------------------------------------------------------------------------------

    def keys_of_steps(self) -> list[str]:
        """Return the keys that have steps, sorted."""
        return sorted(self.message.feature_lists.feature_list)

    def count(self, key: str) -> int:
        """Return the number of steps of a key."""
        return len(self.steps(key))

    def steps(self, key: str) -> Sequence[Feature]:
        """Return the steps of a key; none where the sequence lacks it."""
        lists = self.message.feature_lists.feature_list
        return lists[key].feature if key in lists else ()

    def step(self, key: str, index: int) -> Sequence[Any]:
        """Return the values of one step.

        Raises:
            InvalidArgumentError: there are not so many steps.
        """
        steps = self.steps(key)
        if index >= len(steps):
            raise InvalidArgumentError(
                f"the sequence has {len(steps)} steps of {key!r}, but number {index} is needed; "
                "each timestamp needs its values"
            )
        return _values_of(steps[index])

    def times(self, key: str) -> list[int]:
        """Return the first value of each step of a key, such as "image/timestamp".

        Raises:
            InvalidArgumentError: a step has no whole number.
        """
        return list(self._first_numbers(key))

    def add_step(self, key: str, kind: Kind, values: Iterable[Any]) -> None:
        """Add a step of a key."""
        found = getattr(self.message.feature_lists.feature_list[key].feature.add(), kind)
        found.SetInParent()
        found.value.extend(_stored(kind, values))
        if kind == BYTES:
            self.added += sum(map(len, found.value))
        else:
            self.added += len(found.value) * _WIDTHS[kind]

    def set_steps(self, key: str, steps: Iterable[Feature]) -> None:
        """Replace the steps of a key."""
        copies = [type(step).FromString(step.SerializeToString()) for step in steps]
        found = self.message.feature_lists.feature_list[key]
        found.ClearField("feature")
        found.feature.extend(copies)

    def drop_steps(self, *keys: str) -> None:
        """Remove keys with their steps."""
        for key in keys:
            self.message.feature_lists.feature_list.pop(key, None)

    # --- inside -----------------------------------------------------------------------------------------

    def _list_of(self, key: str, kind: Kind) -> Any:
        found = getattr(self.message.context.feature[key], kind)
        found.SetInParent()
        return found

    def _first_numbers(self, key: str) -> Iterator[int]:
        for index, step in enumerate(self.steps(key)):
            if not step.int64_list.value:
                raise InvalidArgumentError(
                    f"step {index} of {key!r} in the media sequence has no whole number, but must have one"
                )
            yield step.int64_list.value[0]


def _values_of(feature: Feature) -> Sequence[Any]:
    kind = feature.WhichOneof("kind")
    found: Sequence[Any] = () if kind is None else getattr(feature, kind).value
    return found


def _stored(kind: Kind, values: Iterable[Any]) -> Iterable[Any]:
    """Return values as the message takes them: texts as UTF-8."""
    if kind != BYTES:
        return values
    return [value.encode() if isinstance(value, str) else value for value in values]
