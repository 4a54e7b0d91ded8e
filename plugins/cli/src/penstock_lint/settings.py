"""`[tool.penstock.lint]` of a pyproject.toml: what `penstock lint` does where its options do not say."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError
from penstock_lint.formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

_FILE: Final = "pyproject.toml"
_TABLE: Final = "[tool.penstock.lint]"


@attrs.frozen
class Settings:
    """The defaults of a project."""

    #: `select`, `ignore`: codes of rules, or beginnings of codes.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Name of a format; "" for none.
    format: str = ""


def settings_at(directory: Path) -> Settings:
    """Return the settings of the first pyproject.toml with the table, in a directory or above it.

    Raises:
        InvalidArgumentError: a file cannot be read, is no TOML, or the table has an unknown key or value.
    """
    resolved = directory.resolve()
    for place in (resolved, *resolved.parents):
        file = place / _FILE
        if not file.is_file():
            continue
        try:
            said = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidArgumentError(f"{file}: the settings of lint cannot be read: {error}") from error
        table = said.get("tool", {}).get("penstock", {}).get("lint")
        if table is not None:
            return _settings(file, table)
    return Settings()


def _settings(file: Path, table: Any) -> Settings:
    known = [field.name for field in attrs.fields(Settings)]
    if not isinstance(table, dict):
        raise InvalidArgumentError(f"{file}: the settings {_TABLE} must be a table")
    for key in table:
        if key not in known:
            meant = did_you_mean(key, known, 1)
            raise InvalidArgumentError(
                f"{file}: the settings {_TABLE} have no key {key!r}{meant}; keys are {', '.join(known)}"
            )
    for key in ("select", "ignore"):
        codes = table.get(key, [])
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise InvalidArgumentError(
                f'{file}: {key} of the settings {_TABLE} must be a list of codes: ["PS2", "PS401"]'
            )
    if table.get("format", "text") not in FORMATS:
        raise InvalidArgumentError(
            f"{file}: format of the settings {_TABLE} must be one of {', '.join(FORMATS)}"
        )
    return Settings(tuple(table.get("select", ())), tuple(table.get("ignore", ())), table.get("format", ""))
