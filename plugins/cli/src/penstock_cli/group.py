"""The `penstock` command group: its own commands, those of plugins, and the handling of all errors.

Plugins are loaded only when a command is looked up or listed; `penstock --version` does not load them.
Broken commands of one plugin do not affect those of another or the group's own.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import AlreadyExistsError, InvalidArgumentError
from penstock_cli.failures import Interrupted, WrongUsage, as_failure, show_traceback

if TYPE_CHECKING:
    from penstock.plugins.discovery import PluginHost

#: Key in `click.Context.meta`, which all contexts of one call share.
DEBUG: Final = "penstock_cli.debug"
#: Terminals without colours. Source: rich, `Console.is_dumb_terminal`.
_NO_COLOURS: Final = ("dumb", "unknown")


class PenstockGroup(click.Group):
    """A group to which plugins add commands with their hook `penstock_cli`.

    Attributes:
        broken: plugin → why its commands are missing; empty before plugins are loaded.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # forwarded unchanged
        self.broken: dict[str, str] = {}
        self._is_complete = False

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command.

        Raises:
            AlreadyExistsError: there is a command of that name; it stays.
        """
        taken = name or cmd.name
        if taken in self.commands:
            raise AlreadyExistsError(f"there is a command {taken!r} already; choose another name")
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, sorted; loads the plugins."""
        self._complete(ctx)
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name; loads the plugins."""
        self._complete(ctx)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name.

        Raises:
            click.UsageError: there is no such command; suggests similar ones and names failed plugins.
        """
        name = args[0]
        is_option = not name[:1].isalnum()
        if ctx.resilient_parsing or is_option or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        near = get_close_matches(name, self.commands, n=2)
        meant = " or ".join(map(repr, near))
        message = f"there is no command {name!r}; " + (
            f"did you mean {meant}?" if near else "--help lists them"
        )
        missing = {**_not_loaded(), **self.broken}
        if missing:
            reasons = "; ".join(f"{plugin}: {why}" for plugin, why in sorted(missing.items()))
            message += f" (plugins that failed: {reasons})"
        raise click.UsageError(message, ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, and turn any exception into a message and an exit code.

        Raises:
            click.ClickException: has both. Click's own exits and BrokenPipeError pass through.
        """
        if _wants_no_colour():
            ctx.color = False
        try:
            return super().invoke(ctx)
        except click.ClickException as failure:
            if ctx.meta.get(DEBUG) and failure.__cause__ is not None:
                show_traceback(failure.__cause__)
            raise
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except Exception as error:
            if ctx.meta.get(DEBUG):
                show_traceback(error)
            raise as_failure(error) from error

    def _complete(self, ctx: click.Context) -> None:
        """Call the plugins' hooks, once; a failed one is reported, except while a shell completes."""
        if self._is_complete:
            return
        self._is_complete = True
        for implementation in _host().implementations("penstock_cli"):
            before = dict(self.commands)
            try:
                implementation.call(self)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # what a plugin raises is reported
                self.commands = before
                self.broken[implementation.plugin] = f"{type(error).__name__}: {error}"
                if ctx.resilient_parsing:
                    continue
                click.echo(
                    f"warning: the commands of plugin {implementation.plugin!r} are missing: "
                    f"{self.broken[implementation.plugin]}",
                    err=True,
                )


def _wants_no_colour() -> bool:
    """Return whether the environment forbids colours in click's output; rich checks it itself."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in _NO_COLOURS


def _host() -> PluginHost:
    from penstock.plugins.default_registry import plugin_host  # loads the plugins

    try:
        return plugin_host()
    except InvalidArgumentError as error:  # a wrong switch in the environment
        raise WrongUsage(str(error)) from error


def _not_loaded() -> dict[str, str]:
    """Return which plugins failed to load, and why."""
    return {record.name: record.reason for record in _host().records if record.state == "failed"}
