"""Options that are parameters of a function, described by the words of its docstring."""

import enum

import penstock
from penstock import Registry
from penstock_views.describe import describe


class Mode(enum.Enum):
    SOFT = 1
    HARD = 2


@penstock.calculator
def scaled(number: int, *, factor: int = 2, mode: Mode = Mode.SOFT, names: list[str] | None = None) -> object:
    """Scale.

    Args:
        number: to scale.
        factor: how much,
            in all.
    """
    return number * factor, mode, names


@penstock.calculator("far.Kept")
class Kept:
    """Keep.

    Args:
        start: the first one.
    """

    def __init__(self, *, start: int = 1, limit: int = 100):
        self.start = start

    def process(self, number: int, *, step: float, limit: int = 100) -> float:
        return min(limit, self.start + step * number)


def descriptions(definition):
    registry = Registry()
    registry.add("calculator", "It", definition)
    (message,) = describe("It", registry).options
    return {one.name: one.description for one in message.fields}


def test_the_words_of_the_docstring_describe_options_that_are_parameters():
    assert descriptions(scaled) == {"factor": "how much, in all.", "mode": "", "names": ""}
    assert descriptions(Kept)["start"] == "the first one."
