"""Creation of contexts: on the first device that works, or on that of a context to share with.

A device counts as working when a context of it has become current, not when EGL lists it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import attrs

from penstock.errors import InvalidArgumentError
from penstock_gpu import egl, gl_library
from penstock_gpu.contexts import device as devices
from penstock_gpu.contexts import ending, native
from penstock_gpu.contexts.external_context import ExternalContext
from penstock_gpu.contexts.gl_thread import GlThread
from penstock_gpu.contexts.locked_context import LockedContext
from penstock_gpu.contexts.share_group import ShareGroup
from penstock_gpu.errors import INSTALL, GlError, GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts.device import GpuDevice
    from penstock_gpu.contexts.sync import Fenced

    class Openable(Fenced, Protocol):
        """The part of a context that creating it uses; see `GlContext`."""

        api: str
        device: GpuDevice
        is_software: bool
        renderer: str
        thread: Any

        @property
        def native_display(self) -> int:
            """The EGL display, as an address."""

        @property
        def native_context(self) -> int:
            """The EGL context, as an address."""

        def check_usable(self) -> None:
            """Raise if it has ended."""

        def learn(self) -> None:
            """Store what the driver reports."""

        def close(self, timeout: float = 10.0) -> bool:
            """End it; return whether it has ended."""


C = TypeVar("C", bound="Openable")


@attrs.frozen
class _Refusal:
    route: str
    why: str
    code: int = 0


@attrs.frozen
class Opening(Generic[C]):
    """Parameters of a new context."""

    #: Makes the context object.
    kind: Callable[[native.NativeContext, GpuDevice, ShareGroup, str], C]
    #: The name of the context.
    name: str
    #: Whether it gets a thread.
    has_thread: bool

    def shared(self, share: C | ExternalContext, device: str | int | None, api: str | None) -> C:
        """Return a context that shares with `share`; see `GlContext.create`."""
        if api is not None and api != share.api:
            raise InvalidArgumentError(
                f"opening a context: API {api!r} cannot share with {share.name!r} of {share.api!r}; leave "
                "api out"
            )
        if isinstance(share, ExternalContext):
            its_device = devices.GpuDevice("external")
        else:
            share.check_usable()
            its_device = share.device
        if device is not None and its_device not in devices.candidates(device):
            raise InvalidArgumentError(
                f"opening a context: device {device!r} cannot share with {share.name!r} on {its_device}; "
                "leave device out"
            )
        try:
            made = native.create(share.native_display, share.api, share.native_context)
            return self._start(made, its_device, share.share_group)
        except egl.EglError as error:
            raise GpuUnavailableError(
                f"opening a context that shares with {share.name!r} was refused: {error}",
                "see that the other one has not ended before opening a context",
            ) from error

    def first(self, device: str | int | None, api: str | None) -> C:
        """Return a context on the first device that works; see `GlContext.create`."""
        egl.load()  # a missing library is reported before any driver fails without it, in this order
        gl_library.library()
        wanted, source = device, ""
        if device is None:
            wanted, source = devices.from_environment(), f" (from {devices.VARIABLE})"
        refusals: list[_Refusal] = []
        for one in devices.candidates(wanted, source):
            try:
                display = one.display()
            except egl.EglError as error:
                refusals.append(_Refusal(str(one), str(error), error.code))
                continue
            for each in native.APIS if api is None else (api,):
                route = f"{one} with {each}"
                try:
                    context = self._start(native.create(display, each), one, ShareGroup())
                except egl.EglError as error:
                    refusals.append(_Refusal(route, str(error), error.code))
                    continue
                except GlError as error:
                    refusals.append(_Refusal(route, str(error)))
                    continue
                if wanted != "software" or context.is_software:
                    return context
                context.close()
                refusals.append(_Refusal(route, f"draws with {context.renderer}"))
        raise _unavailable(refusals, wanted)

    def _start(self, made: native.NativeContext, device: GpuDevice, group: ShareGroup) -> C:
        context = self.kind(made, device, group, self.name)
        thread = GlThread(self.name, made) if self.has_thread else LockedContext(self.name, made)
        thread.start()
        context.thread = thread
        try:
            context.run(context.learn)
        except BaseException:
            context.close()
            raise
        group.add(context)
        ending.watch(context)
        return context


def _unavailable(refusals: list[_Refusal], wanted: str | int | None) -> GpuUnavailableError:
    """Return the error that says why no device works."""
    said = "; ".join(f"{one.route}: {one.why}" for one in refusals)
    on = "" if wanted is None else f" on {wanted!r}"
    codes = {one.code for one in refusals}
    if codes == {egl.BAD_PARAMETER} or (
        codes == {egl.BAD_PARAMETER, egl.NOT_INITIALIZED} and not devices.devices()
    ):
        cause = f"EGL has no vendor driver{on}"
    elif codes == {egl.NOT_INITIALIZED} and wanted == devices.DEFAULT.name:
        return GpuUnavailableError(
            f"opening a context: EGL finds no desktop to draw on as 'default' ({said})",
            "set DISPLAY or WAYLAND_DISPLAY before opening a context where there is a desktop, else open it "
            "on another device, or on none",
        )
    elif codes == {egl.NOT_INITIALIZED}:
        cause = f"EGL has a vendor driver, but nothing that draws{on}"
    else:
        versions = " or ".join(f"{api} {major}.{minor}" for api, (major, minor) in native.VERSIONS.items())
        cause = f"every context of {versions} or newer was refused{on}"
    return GpuUnavailableError(f"{cause} ({said})", INSTALL)
