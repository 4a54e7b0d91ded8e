"""The devices of this machine, and the order in which they are tried for a context.

A device is one that EGL lists, or one of two routes that leave the choice to the driver: "surfaceless"
(Mesa without a display) and "default" (the display of the desktop).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_gpu import egl
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Chooses a device by the environment, where the program does not.
VARIABLE: Final = "PENSTOCK_GPU_DEVICE"
#: Variables that are set where there is a desktop; the last is Mesa's own choice of a platform.
_DESKTOP: Final = ("DISPLAY", "WAYLAND_DISPLAY", "EGL_PLATFORM")
_SOFTWARE_EXTENSION: Final = "EGL_MESA_device_software"
_ACCEPTED: Final = (
    '0, 1, ..., "cuda:0", "software", "surfaceless", "default", or a path such as "/dev/dri/renderD128"'
)


@attrs.frozen
class GpuDevice:
    """A way to a GL driver."""

    #: "device 0", "surfaceless" or "default".
    name: str
    #: Its place in EGL's list of devices, counted from 0; None for the other routes.
    index: int | None = None
    #: Its paths, such as "/dev/dri/card0" and "/dev/dri/renderD128"; often empty.
    files: tuple[str, ...] = ()
    #: Its CUDA ordinal, None where the driver names none.
    cuda: int | None = None
    #: Whether EGL says that it draws on the CPU; for the other routes that is not known.
    is_software: bool = False
    _platform: int = attrs.field(default=0, repr=False, alias="platform")
    _native: int = attrs.field(default=0, repr=False, eq=False, alias="native")

    def display(self) -> int:
        """Return its EGL display, initialized."""
        with egl.quiet():
            return egl.load().display(self._platform, self._native)

    def __str__(self) -> str:
        what = [*self.files]
        if self.cuda is not None:
            what.append(f"cuda:{self.cuda}")
        if self.is_software:
            what.append("software")
        return f"{self.name} ({', '.join(what)})" if what else self.name


SURFACELESS: Final = GpuDevice("surfaceless", platform=egl.PLATFORM_SURFACELESS)
DEFAULT: Final = GpuDevice("default")
_ROUTES: Final = {one.name: one for one in (SURFACELESS, DEFAULT)}


def devices() -> tuple[GpuDevice, ...]:
    """Return the devices that EGL lists, in its order.

    Raises:
        GpuUnavailableError: libEGL is not installed.
    """
    library = egl.load()
    with egl.quiet():
        return tuple(_device(library, index, handle) for index, handle in enumerate(library.devices()))


def _device(library: egl.Egl, index: int, handle: int) -> GpuDevice:
    return GpuDevice(
        f"device {index}",
        index,
        library.device_files(handle),
        library.device_cuda(handle),
        is_software=_SOFTWARE_EXTENSION in library.device_extensions(handle),
        platform=egl.PLATFORM_DEVICE,
        native=handle,
    )


def from_environment() -> str | None:
    """Return the device that PENSTOCK_GPU_DEVICE names, or None."""
    return os.environ.get(VARIABLE, "").strip() or None


def candidates(wanted: str | int | None = None, source: str = "") -> tuple[GpuDevice, ...]:
    """Return the devices to try, best first.

    Args:
        wanted: a device as `GlContext.create` takes it; None: hardware first, software last, then the
            routes that leave the choice to the driver, of which "default" only where there is a desktop.
        source: where `wanted` comes from, for errors.

    Raises:
        InvalidArgumentError: `wanted` cannot name a device.
        GpuUnavailableError: there is no such device, or libEGL is not installed.
    """
    found = devices()
    if wanted is None:
        return (*sorted(found, key=lambda one: one.is_software), *without_device())
    if isinstance(wanted, str) and wanted.isdecimal():
        wanted = int(wanted)
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        return _chosen(wanted, [one for one in found if one.index == wanted], found, source)
    if not isinstance(wanted, str):
        raise InvalidArgumentError(f"{wanted!r}{source} is no device, expected {_ACCEPTED}")
    if wanted in _ROUTES:
        return (_ROUTES[wanted],)
    if wanted == "software":
        return (*(one for one in found if one.is_software), *without_device())
    kind, _, number = wanted.partition(":")
    if kind == "cuda" and number.isdecimal():
        those = [one for one in found if one.cuda == int(number)]
    elif wanted.startswith("/"):
        those = [one for one in found if wanted in one.files]
    else:
        raise InvalidArgumentError(f"{wanted!r}{source} is no device, expected {_ACCEPTED}")
    return _chosen(wanted, those, found, source)


def without_device() -> tuple[GpuDevice, ...]:
    """Return the routes that leave the choice to the driver; "default" only where there is a desktop.

    Without a desktop Mesa tries X11. Its failure ends the process if that has another copy of libxcb (PyAV's
    wheels bring one): one copy takes the other's error for memory to free.
    """
    has_desktop = any(os.environ.get(variable) for variable in _DESKTOP)
    return (SURFACELESS, DEFAULT) if has_desktop else (SURFACELESS,)


def _chosen(
    wanted: str | int, those: Sequence[GpuDevice], found: Sequence[GpuDevice], source: str
) -> tuple[GpuDevice, ...]:
    if those:
        return tuple(those)
    there = ", ".join(map(str, found)) or "none"
    raise GpuUnavailableError(
        f"there is no device {wanted!r}{source}; EGL lists: {there}",
        "choose one of these devices, or none for automatic choice",
    )
