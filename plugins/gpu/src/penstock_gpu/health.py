"""Checks of OpenGL for `penstock doctor`: the renderer, the devices, or what is missing. Imported on demand.

OpenGL is optional: without it the check passes, and says how to install it. It fails
if the environment asks for a device or a policy that is not available.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock import DoctorCheck
from penstock_gpu import service
from penstock_gpu.contexts.device import VARIABLE, from_environment
from penstock_gpu.contexts.probe import probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_gpu.contexts.probe import DeviceReport, GpuReport

_WHAT: Final = "OpenGL"
_APIS: Final = {"gl": "OpenGL", "gles": "OpenGL ES"}
#: Exists once the kernel driver of an NVIDIA card is loaded.
_NVIDIA: Final = Path("/proc/driver/nvidia/version")
_NO_NVIDIA: Final = (
    "; a card of NVIDIA is there and does not draw: install its driver's EGL part, and in a container let "
    "NVIDIA_DRIVER_CAPABILITIES contain graphics"
)


def checks() -> Iterator[DoctorCheck]:
    """Yield the device that is used by default, then each device that EGL lists and whether it works.

    Makes one context for each device, closed at once.
    """
    yield _binding()
    policy = _policy()
    if policy is not None:
        yield policy
    report = probe()
    if report.chosen is None:
        yield _none(report)
    else:
        more = _NO_NVIDIA if report.chosen.is_software and _NVIDIA.exists() else ""
        said = f"{_drawing(report.chosen)}, by {report.chosen.device.name}{more}"
        yield DoctorCheck(_WHAT, is_well=True, detail=said)
    for one in report.devices:
        yield _device(one, is_used=one is report.chosen)


def _binding() -> DoctorCheck:
    try:
        import OpenGL  # type: ignore[import-untyped]  # that it may fail is the question
    except Exception as error:  # noqa: BLE001  # a broken installation can raise anything
        said = f"{type(error).__name__}: {error}"
        return DoctorCheck(
            "PyOpenGL", is_well=False, detail=said, cure="pip install --force-reinstall PyOpenGL"
        )
    return DoctorCheck("PyOpenGL", is_well=True, detail=OpenGL.__version__)


def _policy() -> DoctorCheck | None:
    """Return a check that PENSTOCK_GPU is wrong, or None."""
    value = os.environ.get(service.VARIABLE, "").strip()
    if value in ("", *service.POLICIES):
        return None
    cure = f"unset it, or use {', '.join(service.POLICIES)}"
    return DoctorCheck(service.VARIABLE, is_well=False, detail=f"is {value!r}, which is no policy", cure=cure)


def _none(report: GpuReport) -> DoctorCheck:
    """Return the check of a machine, or of an environment, without OpenGL."""
    device = from_environment()
    if device is not None:
        detail = f"{VARIABLE} is {device!r}: {_why(report)}"
        cure = f"unset {VARIABLE}, or name another device"
        return DoctorCheck(_WHAT, is_well=False, detail=detail, cure=cure)
    if os.environ.get(service.VARIABLE, "").strip() == service.REQUIRE:
        detail = f"none, but {service.VARIABLE} is 'require': {report.why_not}"
        return DoctorCheck(
            _WHAT, is_well=False, detail=detail, cure=report.cure or f"unset {service.VARIABLE}"
        )
    detail = f"none, which only graphs with GPU nodes miss: {_why(report)}"
    return DoctorCheck(_WHAT, is_well=True, detail=detail)


def _device(report: DeviceReport, *, is_used: bool) -> DoctorCheck:
    """Return the check of one device; one that does not work passes, since it is not needed."""
    _, _, known = str(report.device).partition(" (")
    said = [known.removesuffix(")")] if known else []
    if is_used:
        said.append("used unless another is chosen")
    else:
        said.append(_drawing(report) if report.works else f"cannot be used: {_why(report)}")
    return DoctorCheck(report.device.name, is_well=True, detail=": ".join(said))


def _why(report: GpuReport | DeviceReport) -> str:
    return "; ".join(part for part in (report.why_not, report.cure) if part)


def _drawing(report: DeviceReport) -> str:
    kind = "software" if report.is_software else "hardware"
    return f"{_APIS[report.api]} {report.version}, {report.renderer} of {report.vendor}, in {kind}"
