"""The layers around the calculator of a node, and their order.

A call goes through the layers from the outside to the inside, in the order of `LayerLevel`; what it returns
or raises comes back the other way. Innermost stands the calculator, or what stands here for one that an
executor has placed elsewhere. So a trace shows what guard and steering do within a call as a part of this
call. A call that the guard wants again is a further step, which goes through all layers and is traced as a
call of its own. Neither guard nor steering knows where the calculator is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from penstock.engine.methods import CLOSE, METHODS, OPEN, PROCESS
from penstock.engine.native import mypyc_attr

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from penstock.engine.invoker import Invoker
    from penstock.engine.step import Step

M = TypeVar("M")


class LayerLevel(IntEnum):
    """The place of a layer, the outermost first."""

    #: Reports each call to the tracers of the run.
    TRACE = 0
    #: Adds up the time of `process`.
    TIME = 1
    #: Hands the node its input side packets before `open`.
    SIDE_PACKETS = 2
    #: Decides about calls that fail, and replaces the calculator: a failure policy.
    GUARD = 3
    #: Lets other options or another calculator take over while the run goes on.
    STEER = 4


class LayerOptions(Protocol):
    """The options of a node that a layer has changed, as contexts read them."""

    def get(self, message_type: type[M]) -> M:
        """Return the options of a class."""

    def has(self, message_type: type[Any]) -> bool:
        """Return whether the graph gives options of a class."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Layer:
    """One layer of an invoker. A subclass overrides the methods that it changes; it calls those of `inner`.

    Args:
        level: its place in the order, a `LayerLevel`.
        methods: OPEN, PROCESS and CLOSE, as far as the layer changes them. A call of another method begins
            further inside, where no layer is outside of this one.
    """

    __slots__ = ("inner", "level", "methods")

    def __init__(self, level: int, methods: Collection[int] = (OPEN, PROCESS, CLOSE)) -> None:
        self.level: Final = level
        self.methods: Final = methods
        #: What this layer calls; set when it is put around a node. The innermost layer may replace it by
        #: another calculator.
        self.inner: Invoker

    @property
    def options(self) -> LayerOptions | None:
        """The options that the present call of the node sees; None: those of the plan."""
        return None

    def open(self, step: Step, /) -> object:
        """Open what is inside."""
        return self.inner.open(step)

    def process(self, step: Step, /) -> object:
        """Call `process` of what is inside."""
        return self.inner.process(step)

    def close(self, step: Step, /) -> object:
        """Close what is inside."""
        return self.inner.close(step)


def link(layers: tuple[Layer, ...], calculator: Invoker) -> None:
    """Let each layer call the next one, and the last one the calculator.

    The inner layers come first: a call on another thread that meets a new layer finds it complete.
    """
    inner = calculator
    for layer in reversed(layers):
        layer.inner = inner
        inner = layer


def entry(layers: tuple[Layer, ...], calculator: Invoker, method: int) -> Callable[[Step], object]:
    """Return what the steps of a method call: that of the outermost layer which changes it."""
    first: Invoker = calculator
    for layer in reversed(layers):
        if method in layer.methods:
            first = layer
    called: Callable[[Step], object] = getattr(first, METHODS[method])
    return called
