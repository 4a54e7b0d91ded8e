"""The decorator `calculator`, and what it gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar, overload

from penstock.attrs_options import options_classes
from penstock.errors import InvalidArgumentError
from penstock.functions.definition import define
from penstock.functions.function_calls import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.calculator import Calculator

P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class CalculatorFunction(Protocol[P, R_co]):
    """A function that `@penstock.calculator` has seen: callable as before."""

    #: The class made from it.
    calculator: type[Calculator]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function itself."""


class _Decorator(Protocol):
    @overload
    def __call__(self, definition: type[T], /) -> type[T]: ...  # type: ignore[overload-overlap]  # see below
    @overload
    def __call__(self, definition: Callable[P, R_co], /) -> CalculatorFunction[P, R_co]: ...


@overload
def calculator(definition: str, /) -> _Decorator: ...
# A class can be called too; the first overload that fits counts, which for classes is this one.
@overload
def calculator(definition: type[T], /) -> type[T]: ...  # type: ignore[overload-overlap]
@overload
def calculator(definition: Callable[P, R_co], /) -> CalculatorFunction[P, R_co]: ...
def calculator(definition: object, /) -> object:
    """Make a calculator from a function or class; its annotations say which ports there are.

    **Inputs** are the parameters; `frame` has the tag FRAME (`in_` has IN). One that may be None, or
    has a default, is optional: a graph may leave it out, and where there is no packet at a timestamp
    it is None, or its default. The function is called at every timestamp at which all others have a
    packet; packets that come without them are dropped, and the ledger says so. A parameter annotated
    `penstock.Timestamp` gets the input timestamp, one annotated `penstock.CalculatorContext` the
    context. Keyword-only parameters get, once in a run, the side packet of their tag
    (`penstock.SidePacket[T]`), one of the node's options (`radius: int = 3`: any type that graph files can
    give), or all of them (an attrs class or a protobuf message class). Options that are parameters are
    fields of "package.NameOptions" in graph files, where "Name" is the name of the calculator.

    **Outputs**: what is returned is written to OUT at the input timestamp; None writes nothing. A
    NamedTuple in the annotation stands for one optional output for each field; every other type,
    dataclasses and tuples included, is one payload. `-> None` is a calculator without outputs.
    `penstock.STOP` ends the run. The timestamp offset is 0.

    **A source** has no inputs and is a generator. `-> Iterator[T]` gives its values the timestamps
    0, 1, 2, ... microseconds (None writes nothing at its one); `-> Iterator[tuple[Timestamp, T]]`
    yields times and values; `-> Iterator[Packet]` packets of any type. It may be an async generator.

    **Without inputs** and annotated `-> SidePacket[T]` the function is called once, and makes the side
    packet OUT.

    **A class** is made again for each run; its method `process` is the function. What `__init__` takes
    are side packets and options; it may have `open(cc)` and `close(cc)`. `async def` works everywhere.

    Tags may be left out where a node connects all inputs (or outputs, or side packets) in order.

    Args:
        definition: the function or class; or, in `@calculator("Name")`, the calculator's name, which
            is else that of the function in camel case: `count_faces` makes `CountFaces`.

    Returns:
        The function or class, with the attribute `calculator`. It is not registered: use
        `penstock.register_calculator`, or name it "module:function" in a pack's components.

    Raises:
        InvalidArgumentError: an annotation is missing or cannot be a port; says which parameter, and
            what to write. Nothing is changed.
    """
    if isinstance(definition, str):
        name = definition
        return lambda target: _made(target, name)
    return _made(definition, None)


def _made(target: object, name: str | None) -> object:
    try:
        made = make(define(target, name))
        options_classes(made)
    except InvalidArgumentError as error:
        raise error.with_traceback(None) from None  # frames of this package do not help the author
    target.calculator = made  # type: ignore[attr-defined]  # CalculatorFunction says so
    return target
