# ruff: noqa: INP001  # PyInstaller looks for it in this folder
"""PyInstaller's hook for programs that import Penstock: all installed packs come along, packs by others too.

PENSTOCK_PLUGINS and PENSTOCK_BLOCK_PLUGINS, set when the program is built, choose among them.
"""

from pathlib import Path

from PyInstaller.config import CONF  # type: ignore[import-untyped]  # it has no types
from PyInstaller.utils.hooks import copy_metadata  # type: ignore[import-untyped]  # as above

from penstock.freezing.__main__ import chosen_packs
from penstock.freezing.pack_contents import data_of, modules_of, points_text

_packs = chosen_packs()
_packages = [package for pack in _packs for package in pack.packages]
hiddenimports = [module for package in _packages for module in modules_of(package)]
datas = [(str(file), folder) for package in _packages for file, folder in data_of(package)]
for _pack in _packs:
    for _info, _folder in copy_metadata(_pack.name):
        if not _pack.left_out:
            datas.append((_info, _folder))
            continue
        # A plugin that only the metadata has would be reported as a broken one in each run.
        _files = [
            file for file in Path(_info).rglob("*") if file.is_file() and file.name != "entry_points.txt"
        ]
        datas += [(str(file), str(Path(_folder) / file.relative_to(_info).parent)) for file in _files]
        _written = Path(CONF["workpath"]) / _folder / "entry_points.txt"
        _written.parent.mkdir(parents=True, exist_ok=True)
        _written.write_text(points_text(_pack), encoding="utf-8")
        datas.append((str(_written), _folder))
