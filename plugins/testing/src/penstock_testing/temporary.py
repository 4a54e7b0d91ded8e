"""Plugins that are installed while a test runs, as pip would have installed them: found, loaded, recorded."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from types import ModuleType
from typing import TYPE_CHECKING, Final, Self

from penstock import Components, hookimpl
from penstock.packs import default_plugin_host, plugins_renewed

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    import pytest

    from penstock.packs import Discovered


class TemporaryPlugins:
    """Installs plugins until its `with` block ends: each a directory on `sys.path` with metadata.

    In this process all that looks for plugins finds them beside those that are installed:
    graphs without a registry of their own, hooks, switches, `penstock_testing.check_pack`.

    Args:
        directory: for the records.
        monkeypatch: undoes the changes of `sys.path` and `sys.modules`.
    """

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._directory: Final = directory
        self._monkeypatch: Final = monkeypatch
        self._renewed: Final = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._renewed.close()

    def __call__(
        self, name: str, plugin: object, *, distribution: str = "", version: str = "0"
    ) -> Discovered:
        """Install a plugin, and look for plugins again.

        Args:
            name: of its entry point.
            plugin: what it brings, as `Components`; or a module, or any object with hook implementations.
            distribution: that it belongs to; "penstock-" and its name if not given.
            version: of the distribution.

        Returns:
            Its record: the state is "loaded", or the reason says why not.
        """
        self._count += 1
        distribution = distribution or f"penstock-{name}"
        module = self._module(plugin)
        site = self._directory / f"plugin_{self._count}"
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        points = f"[penstock]\n{name} = {module}:plugin\n"
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        self._renewed.enter_context(plugins_renewed())
        self._monkeypatch.syspath_prepend(site)
        found = [record for record in default_plugin_host().records if record.name == name]
        return next(record for record in found if record.distribution == distribution)

    def _module(self, plugin: object) -> str:
        """Make a module that has the plugin as its attribute `plugin`; return its name."""
        module = ModuleType(f"penstock_temporary_{self._count}")
        module.plugin = _bringing(plugin) if isinstance(plugin, Components) else plugin  # type: ignore[attr-defined]  # made here
        self._monkeypatch.setitem(sys.modules, module.__name__, module)
        return module.__name__


def _bringing(components: Components) -> ModuleType:
    """Return a plugin module that brings components."""
    module = ModuleType("penstock_temporary")

    @hookimpl
    def penstock_components() -> Components:
        return components

    module.penstock_components = penstock_components  # type: ignore[attr-defined]  # made here
    return module
