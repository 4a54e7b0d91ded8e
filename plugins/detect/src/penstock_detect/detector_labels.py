"""The names of the classes of a detector: of a file of labels, or of options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError, ResourceExhaustedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: How many names are read, and how long one may be.
MAX_LABELS: Final = 100_000
MAX_LABEL_LENGTH: Final = 1_000


def check_labels(labels: Iterable[str], what: str) -> tuple[str, ...]:
    """Return the names of classes, in their order.

    Raises:
        ResourceExhaustedError: there are too many, or one is too long.
    """
    found = tuple(labels)
    if len(found) > MAX_LABELS:
        raise ResourceExhaustedError(
            f"{what} has {len(found)} names, but a detector may have at most {MAX_LABELS} labels"
        )
    longest = max(map(len, found), default=0)
    if longest > MAX_LABEL_LENGTH:
        raise ResourceExhaustedError(
            f"{what} has a name of {longest} characters, but a label of a detector may have at most "
            f"{MAX_LABEL_LENGTH}"
        )
    return found


def check_labels_source(label: Sequence[str], labels_path: str) -> None:
    """Accept options that name the classes in one way.

    Raises:
        InvalidArgumentError: both options are set.
    """
    if label and labels_path:
        raise InvalidArgumentError("detector options label and labels_path are both set; leave one out")


def read_labels(name: str, data: bytes) -> tuple[str, ...]:
    """Return the names that a text file has, one in each line, without empty lines at its end.

    Raises:
        InvalidArgumentError: it is empty or no UTF-8.
        ResourceExhaustedError: as `check_labels`.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"the detector's file of labels {name!r} is no text in UTF-8: {error}; give one with the "
            "name of a class in each line"
        ) from error
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InvalidArgumentError(
            f"the detector's file of labels {name!r} is empty; give one with the name of a class in each line"
        )
    return check_labels((line.strip() for line in lines), f"the file of labels {name!r}")
