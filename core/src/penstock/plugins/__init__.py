"""Plugins: their hooks (`hookspecs`), how they are found (`discovery`) and self-checks (`doctor`)."""
