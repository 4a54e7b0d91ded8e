"""Calculators from functions, for tests of the code that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from penstock import Calculator

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Outcome

    Method: TypeAlias = Callable[[CalculatorContext], Outcome]


def calculator(  # noqa: PLR0913  # each is one thing that a calculator can declare
    process: Method | None = None,
    *,
    open: Method | None = None,  # noqa: A002  # the method's name
    close: Method | None = None,
    name: str = "",
    offset: int | None = None,
    process_bounds: bool = False,
    contract: Callable[[CalculatorContract], None] | None = None,
) -> type[Calculator]:
    """Make a calculator from functions of a context; a method that is left out does nothing.

    Its ports take everything, unless `contract` declares them afterwards.

    Args:
        process: called for each step.
        open: called before the first step.
        close: called at the end.
        name: of the class; by default that of `process`, in camel case.
        offset: the timestamp offset that the contract promises.
        process_bounds: whether settled timestamps without packets are processed too.
        contract: called with the contract when the rest is declared.
    """

    class Made(Calculator):
        @classmethod
        def get_contract(cls, cc: CalculatorContract) -> None:
            for specs in (cc.inputs, cc.outputs, cc.input_side_packets, cc.output_side_packets):
                for spec in specs:
                    spec.set_any()
            if offset is not None:
                cc.set_timestamp_offset(offset)
            if process_bounds:
                cc.set_process_timestamp_bounds()
            if contract is not None:
                contract(cc)

        def open(self, cc: CalculatorContext) -> Outcome:
            return None if open is None else open(cc)

        def process(self, cc: CalculatorContext) -> Outcome:
            return None if process is None else process(cc)

        def close(self, cc: CalculatorContext) -> Outcome:
            return None if close is None else close(cc)

    words = getattr(process, "__name__", "").strip("<>_").split("_")
    Made.__name__ = Made.__qualname__ = name or "".join(word.capitalize() for word in words) or "Calculator"
    return Made
