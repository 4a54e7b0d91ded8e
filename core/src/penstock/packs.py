"""What is installed: plugins, kinds of names, and what the official packs bring.

`default_registry` is the registry that has what the installed plugins bring. `default_plugin_host` holds the
plugins as a `PluginHost`; it describes each as `Discovered`. `plugins_renewed` reads them again, for a test.
`KINDS` are the kinds of names, `check_entry_name` checks one, `official_packs` is what official packs bring.
`entry_spelling` is the module and name of an object, `calculator_of_entry` the class behind an entry.
`engine_form` says whether the engine is compiled. `late_names` makes the names of a package load when they
are first used. `entry_points` reads a group in which packs bring something for another pack. `child_command`
runs a module as a further process; a program that is frozen calls `freeze_support` for that, and `is_frozen`
says whether it is, `frozen_program_folders` where its files are. `pack_files` are the files of an installed
distribution.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.frozen_children": "child_command freeze_support is_frozen frozen_program_folders",
    "penstock.engine_form": "engine_form",
    "penstock.entry_points": "entry_points",
    "penstock.freezing.pack_contents": "pack_files",
    "penstock.late_names": "late_names",
    "penstock.plugins.default_registry": "default_registry default_plugin_host plugins_renewed",
    "penstock.plugins.discovery": "Discovered PluginHost",
    "penstock.registry": "official_packs",
    "penstock.registry_entries": "KINDS calculator_of_entry check_entry_name entry_spelling",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
