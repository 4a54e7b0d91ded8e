"""Plugins: hooks (`hookspecs`), components (`plugin_components`), `discovery`, self-checks (`doctor`)."""
