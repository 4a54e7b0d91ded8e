"""What is installed: plugins, kinds of names, and what the official packs bring.

`plugin_host` holds the installed plugins as a `PluginHost`; it describes each as `Discovered`.
`plugins_renewed` reads them again, for a test. `KINDS` are the kinds of names, `check_name` checks one,
`official_packs` lists those of the official packs; `spelling` is the module and name of an object,
`calculator_of` the class behind what a registry holds. `engine_form` says whether the engine is compiled.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.engine_form": "engine_form",
    "penstock.plugins.default_registry": "plugin_host plugins_renewed",
    "penstock.plugins.discovery": "Discovered PluginHost",
    "penstock.registry": "KINDS official_packs",
    "penstock.registry_entries": "calculator_of check_name spelling",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
