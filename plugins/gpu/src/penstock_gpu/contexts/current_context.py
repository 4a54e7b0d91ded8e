"""The current context of a thread, and the context that makes textures there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import FailedPreconditionError
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.external_context import ExternalContext
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from penstock_gpu.contexts.share_group import ShareGroup

    AnyContext = GlContext | ExternalContext


def current_context(what: str = "a texture") -> AnyContext:
    """Return the context that is current on this thread, ours or the application's.

    Raises:
        FailedPreconditionError: no context is current; says where to ask for `what`.
        GpuUnavailableError: there is no GL on this machine.
    """
    here = GlContext.current()
    if here is not None:
        return here
    try:
        return ExternalContext.current()
    except FailedPreconditionError:
        raise FailedPreconditionError(
            f"no GL context is current on this thread; ask for {what} in GlContext.run"
        ) from None


def current_share_group() -> ShareGroup | None:
    """Return the group of the contexts that see the current one's textures; None if no context is current."""
    here = GlContext.current()
    if here is not None:
        return here.share_group
    try:
        return ExternalContext.current().share_group
    except (FailedPreconditionError, GpuUnavailableError):
        return None


def making_context() -> GlContext:
    """Return the context that makes textures: the current one, or one that shares with the application's.

    Raises:
        FailedPreconditionError: there is no such context; says how to get one.
    """
    here = GlContext.current()
    if here is not None:
        return here
    group = current_share_group()
    if group is None:
        raise FailedPreconditionError(
            "no GL context is current on this thread, so no texture can be made; "
            "ask for the view in GlContext.run"
        )
    for found in group.contexts():
        if isinstance(found, GlContext):
            return found
    raise FailedPreconditionError(
        f"{ExternalContext.current()!r} is current and shares with no GlContext, so no texture can be "
        "made for it; make one with GlContext.create(share=ExternalContext.current())"
    )
