# ruff: noqa: INP001  # PyInstaller looks for it in this folder
"""PyInstaller's hook for programs that import Penstock: all installed packs come along, packs by others too.

PENSTOCK_PLUGINS and PENSTOCK_BLOCK_PLUGINS, set when the program is built, choose among them.
"""

from PyInstaller.utils.hooks import copy_metadata  # type: ignore[import-untyped]  # it has no types

from penstock.freezing.__main__ import chosen_packs
from penstock.freezing.contents import data_of, modules_of

_packs = chosen_packs()
_packages = [package for pack in _packs for package in pack.packages]
hiddenimports = [module for package in _packages for module in modules_of(package)]
datas = [(str(file), folder) for package in _packages for file, folder in data_of(package)]
for _pack in _packs:
    datas += copy_metadata(_pack.name)
