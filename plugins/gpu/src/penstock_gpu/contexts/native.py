"""Creation and destruction of EGL contexts, without threads and without rules about their use."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

import attrs

from penstock_gpu import egl
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The lowest version that a context must have. Drivers give the newest compatible version.
VERSIONS: Final = {"gl": (3, 3), "gles": (3, 0)}
APIS: Final = {"gl": egl.OPENGL_API, "gles": egl.OPENGL_ES_API}
#: One at a time: some drivers fail where threads make contexts that share at the same moment.
_CREATING: Final = threading.Lock()


@attrs.define(eq=False)
class NativeContext:
    """A context and its surface; its owner destroys it, once."""

    #: The display of EGL.
    display: int
    #: The context of EGL.
    context: int
    #: The surface of EGL, with one pixel; 0 where the driver needs none.
    surface: int
    #: "gl" or "gles".
    api: str

    @property
    def binding(self) -> egl.Binding:
        """The binding that makes it current."""
        return egl.Binding(self.display, self.surface, self.surface, self.context)

    def destroy(self) -> None:
        """Destroy context and surface; the context must not be current on any thread."""
        library = egl.load()
        library.destroy_context(self.display, self.context)
        if self.surface:
            library.destroy_surface(self.display, self.surface)


def create(display: int, api: str, share: int = 0) -> NativeContext:
    """Make a context, which is not yet current on any thread.

    Args:
        display: of EGL, initialized.
        api: "gl" or "gles".
        share: a context of this display to share textures with, 0 for none.

    Raises:
        egl.EglError: the driver refuses.
    """
    library = egl.load()
    with _CREATING, library.api(APIS[api]):
        refusal: egl.EglError | None = None
        for config, needs_surface in _configs(library, display, api):
            try:
                context = library.create_context(display, config, share, VERSIONS[api], core=api == "gl")
            except egl.EglError as error:
                refusal = refusal or error
                continue
            try:
                surface = library.create_pbuffer(display, config) if needs_surface else 0
            except BaseException:
                library.destroy_context(display, context)
                raise
            note_use()
            return NativeContext(display, context, surface, api)
        raise refusal or egl.EglError("eglChooseConfig", egl.BAD_CONFIG)


def _configs(library: egl.Egl, display: int, api: str) -> Iterator[tuple[int, bool]]:
    """Yield configs to try, and whether a context of each needs a surface."""
    extensions = library.display_extensions(display)
    needs_surface = "EGL_KHR_surfaceless_context" not in extensions
    if "EGL_KHR_no_config_context" in extensions and not needs_surface:
        yield 0, False
    try:
        yield library.choose_config(display, APIS[api]), needs_surface
    except egl.EglError:
        return


class _Process:
    """Whether drivers are in use in this process, and whether it was forked since."""

    is_used = False
    is_forked = False


def note_use() -> None:
    """Record that a driver is in use: it does not survive a fork."""
    if not _Process.is_used:
        _Process.is_used = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_note_fork)


def _note_fork() -> None:
    _Process.is_forked = True


def is_forked() -> bool:
    """Whether this process was forked from one that had used a driver."""
    return _Process.is_forked


def check_not_forked(what: str) -> None:
    """Raise in a forked process, where a driver would hang: its threads exist in the parent only."""
    if _Process.is_forked:
        raise GpuUnavailableError(
            f"{what} was used after fork: this process was forked from one that had native contexts, "
            "and drivers do not survive that",
            'start processes with native contexts by "spawn" instead: multiprocessing.get_context("spawn")',
        )
