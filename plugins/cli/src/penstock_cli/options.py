"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from penstock_cli.group import DEBUG

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def _set_debug(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's
    if value:
        ctx.meta[DEBUG] = True


#: `--debug`, before or after the command's name.
debug: Final = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_set_debug,
    help="Show the traceback of an error.",
)


def as_json(what: str) -> Callable[[F], F]:
    """Return the option `--json`, which a command takes as `as_text`.

    Args:
        what: what the option prints, such as "a JSON list instead of a table".
    """
    return click.option("--json", "as_text", is_flag=True, help=f"Print {what}.")
