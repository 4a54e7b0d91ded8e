"""Chooses whether the demo draws on the GPU, from the options and this machine, and words the reason."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from penstock import PenstockError
from penstock.errors import InvalidArgumentError
from penstock_cli.demo.demo_graph import PAINTER
from penstock_cli.failures import RunFailed

if TYPE_CHECKING:
    from penstock import CalculatorGraph, Registry

#: The environment's policy; see `penstock_gpu.GpuResources`.
_VARIABLE: Final = "PENSTOCK_GPU"
#: How long the threads of contexts may take to end.
_CLOSE_S = 10.0


@dataclass(frozen=True)
class Place:
    """Where frames are drawn."""

    #: "on the GPU: ..." or "on the CPU: ...", with the device or the reason.
    said: str
    #: The `GpuResources`, switched on; None on the CPU.
    resources: Any = None
    #: Whether their contexts share textures with the given context.
    is_shared: bool = False

    @property
    def is_gpu(self) -> bool:
        """Whether frames are drawn on the GPU."""
        return self.resources is not None

    def serve(self, graph: CalculatorGraph) -> None:
        """Give the contexts to a graph, as a service."""
        if self.resources is not None:
            graph.set_service(import_module("penstock_gpu").GPU, self.resources)

    def close(self) -> None:
        """End the contexts and their threads."""
        if self.resources is not None:
            self.resources.close(_CLOSE_S)


def choose(wanted: bool | None, registry: Registry, share_with: object = None) -> Place:  # noqa: FBT001  # an answer
    """Return the place to draw: the GPU if hardware draws there, unless `wanted` says otherwise.

    A software renderer runs on the CPU, and is slower there than OpenCV. So it draws only where the GPU is
    required, by `wanted` or PENSTOCK_GPU=require.

    Args:
        wanted: True requires OpenGL, of a software renderer too; False takes the CPU; None takes the GPU if
            it is available in hardware.
        registry: knows whether the GPU pack is installed.
        share_with: a `penstock_gpu.ExternalContext` with which the contexts share textures if they can,
            or None.

    Raises:
        RunFailed: the GPU is required, by `wanted` or PENSTOCK_GPU=require, and not available; or the
            environment names an invalid policy or device. The message has the reason and the cure.
    """
    if wanted is False:
        return Place("on the CPU, because of --no-gpu")
    demand = "--gpu" if wanted else f"{_VARIABLE}=require" if _is_required() else ""
    try:
        resources, is_shared = _resources(registry, share_with)
    except InvalidArgumentError as error:  # a misspelt variable does not mean that there is no GPU
        raise RunFailed(str(error)) from error
    except PenstockError as error:
        why = str(error.__cause__ if isinstance(error.__cause__, PenstockError) else error)
        if demand:
            raise RunFailed(f"{demand}: {why}") from error
        return Place(f"on the CPU: {why}")
    if resources.is_on:
        context = resources.context()
        if demand or not context.is_software:
            software = f"a software renderer, because of {demand}"
            kind = software if context.is_software else f"hardware of {context.vendor}"
            return Place(f"on the GPU: {context.renderer} ({kind})", resources, is_shared)
        why = f"OpenGL has only a software renderer here, {context.renderer}, which is slower; --gpu uses it"
    else:
        why = f"{_VARIABLE} is 'off'" if resources.policy == "off" else resources.why_off
    resources.close(_CLOSE_S)
    if wanted:
        raise RunFailed(f"--gpu: {why}")
    return Place(f"on the CPU: {why}")


def _is_required() -> bool:
    return os.environ.get(_VARIABLE, "").strip() == "require"


def _resources(registry: Registry, share_with: object) -> tuple[Any, bool]:
    """Return the GPU's contexts, made as PENSTOCK_GPU and PENSTOCK_GPU_DEVICE say, and whether they share.

    Raises:
        PenstockError: the pack is not installed, or no context can be made.
    """
    registry.find("calculator", PAINTER)
    make = import_module("penstock_gpu").GpuResources
    if share_with is not None:
        with suppress(PenstockError):  # for example another device than the screen's: frames are read back
            return make(share_with=share_with), True
    return make(), False
