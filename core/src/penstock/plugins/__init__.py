"""Plugins: hooks (`hookspecs`), components (`plugin_components`), `discovery`, self-checks (`doctor`).

`kept_names` spares the next process the import of all plugins; `kept_names_writer` writes its file.
"""

from __future__ import annotations

from typing import Final

#: The environment variables that keep plugins out; see `discovery`.
BLOCK_VARIABLE: Final = "PENSTOCK_BLOCK_PLUGINS"
ONLY_VARIABLE: Final = "PENSTOCK_PLUGINS"
NONE_VARIABLE: Final = "PENSTOCK_NO_PLUGINS"
