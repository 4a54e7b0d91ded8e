"""Ports of filters, for landmarks in fractions of an image and for those in the units of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from penstock import CalculatorContract

#: The tag of an input → the type of its packets.
TYPES: Final = {"NORM_LANDMARKS": NormalizedLandmarkList, "LANDMARKS": LandmarkList}
#: The tag of an input → that of its output.
FILTERED: Final = {"NORM_LANDMARKS": "NORM_FILTERED_LANDMARKS", "LANDMARKS": "FILTERED_LANDMARKS"}


def declare_filter(cc: CalculatorContract, what: str) -> str:
    """Declare one input of landmarks and the output that belongs to it; return the input's tag.

    Raises:
        InvalidArgumentError: there are no landmarks, or both kinds, or the output of the other kind.
    """
    tag = only_one(cc.inputs, tuple(TYPES), "input")
    cc.inputs[tag].set(TYPES[tag], "landmarks")
    if FILTERED[tag] not in cc.outputs:
        raise InvalidArgumentError(
            f"there is no output {FILTERED[tag]}, but the landmarks of {tag} leave there; connect it"
        )
    cc.outputs[FILTERED[tag]].set(TYPES[tag], what)
    return tag
