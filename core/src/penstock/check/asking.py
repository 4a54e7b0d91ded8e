"""What foreign code is asked while a graph is loaded: calculators their contract, policies their options.

The checks ask for each node, and note as faults what is wrong. A graph that gets a kept plan asks again, and
is loaded without that plan if anything is wrong.
"""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final

from penstock.access import ACCESS
from penstock.access import current as current_access
from penstock.attrs_options import options_classes
from penstock.errors import InvalidArgumentError, OptionError
from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.check.protocols import Options
    from penstock.contract import CalculatorContract
    from penstock.errors import PenstockError
    from penstock.plan import HandlerPlan, PortPlan
    from penstock.port_tags import TaggedPort

#: What was asked: for the classes of the options, for one option, for the contract, and whether the node may
#: touch what its contract declares. `ASYNC`: the contract would come later only.
CLASSES: Final = "classes"
OPTION: Final = "option"
CONTRACT: Final = "contract"
ASYNC: Final = "async"
TOUCH: Final = "touch"


class Wrong(NamedTuple):
    """Something that is wrong with a calculator, its options or its contract."""

    #: What was asked.
    asked: str
    #: What was raised; None for `ASYNC`.
    error: Any


def ask_contract(factory: Any, options: Options, contract: CalculatorContract) -> Iterator[Wrong]:
    """Let a calculator read its options and fill in its contract; yield what is wrong.

    After wrong options, no contract is asked for.
    """
    try:
        classes = options_classes(factory)
    except InvalidArgumentError as error:
        yield Wrong(CLASSES, error)
        return
    are_right = True
    for one in classes:
        try:
            options.get(one)
        except OptionError as error:
            are_right = False
            for each in (error, *error.further):
                yield Wrong(OPTION, each)
    if not are_right:
        return
    try:
        answer = factory.get_contract(contract)
    except Exception as error:  # noqa: BLE001  # foreign code: any exception is a fault of the graph
        yield Wrong(CONTRACT, error)
        return
    if answer is not None and isinstance(answer, CoroutineType):
        answer.close()
        yield Wrong(ASYNC, None)
        return
    for refused in _refused_touches(contract):
        yield Wrong(TOUCH, refused)


def _refused_touches(contract: CalculatorContract) -> list[PenstockError]:
    """Return the errors of all that a node touches and may not."""
    touches = contract.declared.touches
    if not touches:
        return []
    contract.use_service(ACCESS)
    access = current_access()
    return [error for touch in touches if (error := access.refused(touch)) is not None]


def ask_leading(handler: HandlerPlan, inputs: Iterable[TaggedPort | PortPlan]) -> Exception | None:
    """Let a node's policy read its options; return what it raised."""
    leading = getattr(handler.factory, "leading_input", None)
    ports = [(port.tag, port.index) for port in inputs]
    if leading is None or not ports:
        return None
    try:
        leading(handler.options, ports)
    except Exception as error:  # noqa: BLE001  # foreign code: any exception is a fault of the graph
        return error
    return None
