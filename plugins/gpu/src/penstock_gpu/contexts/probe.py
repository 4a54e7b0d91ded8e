"""A report of the GL of this machine: it makes a context on each device, asks it, and closes it."""

from __future__ import annotations

import attrs

from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.device import GpuDevice, candidates, devices, from_environment, without_device
from penstock_gpu.errors import GpuUnavailableError


@attrs.frozen
class DeviceReport:
    """One device, and what a context on it reported."""

    #: The device.
    device: GpuDevice
    #: Whether a context could be made; if not, the attributes below except `why_not` and `cure` are "".
    works: bool
    #: "gl" or "gles".
    api: str = ""
    #: The version of GL, such as "4.5".
    version: str = ""
    #: The maker of the driver.
    vendor: str = ""
    #: The renderer's name, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
    renderer: str = ""
    #: Whether it draws on the CPU.
    is_software: bool = False
    #: Why no context could be made; "" where it works.
    why_not: str = ""
    #: What to do about that; "" where it works, or where that is not known.
    cure: str = ""


@attrs.frozen
class GpuReport:
    """The devices of a machine."""

    #: Each device that EGL lists; if none of those works, also "surfaceless" and "default".
    devices: tuple[DeviceReport, ...]
    #: The device that `GlContext.create()` takes in this environment; None if it raises.
    chosen: DeviceReport | None
    #: Why that raises; "" if it does not.
    why_not: str = ""
    #: What to do about that, such as the packages to install; "" if it does not raise.
    cure: str = ""


def probe() -> GpuReport:
    """Return the devices of this machine; never raises. Makes one context for each and closes it at once."""
    reports: dict[GpuDevice, DeviceReport] = {}
    try:
        for one in devices():
            reports[one] = _report(one)
        if not any(report.works for report in reports.values()):
            reports.update({one: _report(one) for one in without_device()})
        wanted = from_environment()
        tried = candidates(wanted)
        for one in tried:
            report = reports.get(one) or reports.setdefault(one, _report(one))
            if report.works and (report.is_software or wanted != "software"):
                return GpuReport(tuple(reports.values()), report)
        why_not = [f"{one}: {reports[one].why_not}" for one in tried if reports[one].why_not]
        cure = next((reports[one].cure for one in tried if reports[one].cure), "")
        return GpuReport(tuple(reports.values()), None, "; ".join(dict.fromkeys(why_not)), cure)
    except Exception as error:  # noqa: BLE001  # any failure is part of the answer
        return GpuReport(tuple(reports.values()), None, *_reason(error))


def _report(device: GpuDevice) -> DeviceReport:
    try:
        context = GlContext.create(device=device.name if device.index is None else device.index, name="probe")
    except Exception as error:  # noqa: BLE001  # as in `probe`
        why_not, cure = _reason(error)
        return DeviceReport(device, works=False, why_not=why_not, cure=cure)
    try:
        version = ".".join(map(str, context.version))
        is_software = context.is_software
        return DeviceReport(device, True, context.api, version, context.vendor, context.renderer, is_software)  # noqa: FBT003
    finally:
        context.close()


def _reason(error: Exception) -> tuple[str, str]:
    if isinstance(error, GpuUnavailableError):
        return error.cause, error.cure
    return str(error) or type(error).__name__, ""
