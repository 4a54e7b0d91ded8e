"""The `penstock` command group: its own commands, those of plugins, and the handling of all errors.

Plugins are loaded only when a command is looked up or listed; `penstock --version` does not load them.
Broken commands of one plugin do not affect those of another or the group's own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from penstock.error_text import near_names
from penstock.errors import AlreadyExistsError, InvalidArgumentError
from penstock_cli.failures import Interrupted, WrongUsage, as_failure, show_traceback
from penstock_cli.options import DEBUG
from penstock_cli.running_command import RunningCommand

if TYPE_CHECKING:
    from penstock.plugins.discovery import PluginHost

#: Alias → name of a command.
_ALIASES: Final = {"draw": "show"}
#: The headings of `penstock --help`, with their commands; all others come last.
_HEADINGS: Final = {
    "Commands for the first day": ("demo", "run", "validate", "show", "list", "doctor"),
    "People in videos": ("hands", "faces", "pose"),
    "What a run does": ("why", "top", "paths", "report"),
    "Graph files": ("lint", "format", "language-server", "bundle"),
    "Recordings": ("record", "replay", "diff", "repair"),
    "Packs of your own": ("new", "validate-pack", "plugins", "completion"),
}
_OTHERS: Final = "Of packs by others"
#: Terminals without colours. Source: rich, `Console.is_dumb_terminal`.
_NO_COLOURS: Final = ("dumb", "unknown")


class PenstockGroup(click.Group):
    """A group to which plugins add commands by the hook `penstock_cli`, and options to some of its own."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # forwarded unchanged
        #: Plugin → why its commands or options are missing; empty before plugins are loaded.
        self.broken: dict[str, str] = {}
        self._is_complete = False

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command.

        Raises:
            AlreadyExistsError: there is a command of that name; it stays.
        """
        taken = name or cmd.name
        if taken in self.commands:
            raise AlreadyExistsError(f"the group has a command {taken!r} already; choose another name")
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, sorted; loads the plugins."""
        self._complete(ctx)
        return super().list_commands(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under headings, in their order."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {name: one for name, one in found.items() if one is not None and not one.hidden}
        room = formatter.width - 6 - max(map(len, shown), default=0)
        headed = {name for names in _HEADINGS.values() for name in names}
        others = tuple(name for name in shown if name not in headed)
        for heading, names in {**_HEADINGS, _OTHERS: others}.items():
            rows = [(name, shown[name].get_short_help_str(room)) for name in names if name in shown]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name or an alias; loads the plugins."""
        self._complete(ctx)
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, _ALIASES.get(cmd_name, ""))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name.

        Raises:
            click.UsageError: there is no such command; says which pack has it, or suggests similar ones, and
                names failed plugins.
        """
        name = args[0]
        is_option = not name[:1].isalnum()
        if ctx.resilient_parsing or is_option or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        pack = _pack_of(name)
        if pack is not None:
            cure = f"install the pack that has it: pip install {pack}"
        else:
            meant = " or ".join(map(repr, near_names(name, self.commands, 2)))
            cure = f"did you mean {meant}?" if meant else "--help lists them"
        message = f"there is no command {name!r}; {cure}"
        missing = {**_not_loaded(), **self.broken}
        if missing:
            reasons = "; ".join(f"{plugin}: {why}" for plugin, why in sorted(missing.items()))
            message += f" (plugins that failed: {reasons})"
        raise _misused(message, ctx)

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
                self._report(ctx, "commands", implementation.plugin, error)
        running = [command for command in self.commands.values() if isinstance(command, RunningCommand)]
        for implementation in _host().implementations("penstock_run_options"):
            for command in running:
                try:
                    command.take_options(implementation.call)
                except (Exception, SystemExit) as error:  # noqa: BLE001  # as above
                    self._report(ctx, f"options of {command.name!r}", implementation.plugin, error)

    def _report(self, ctx: click.Context, what: str, plugin: str, error: BaseException) -> None:
        self.broken[plugin] = f"{type(error).__name__}: {error}"
        if not ctx.resilient_parsing:
            click.echo(
                f"warning: the {what} of plugin {plugin!r} are missing: {self.broken[plugin]}", err=True
            )


def _wants_no_colour() -> bool:
    """Return whether the environment forbids colours in click's output; rich checks it itself."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in _NO_COLOURS


def _host() -> PluginHost:
    from penstock.plugins.default_registry import default_plugin_host  # loads the plugins

    try:
        return default_plugin_host()
    except InvalidArgumentError as error:  # a wrong switch in the environment
        raise WrongUsage(str(error)) from error


def _pack_of(name: str) -> str | None:
    """Return the official pack to install for a command; None where it is installed."""
    from penstock.plugins.default_registry import default_registry

    return default_registry().install_hint("subcommand", name)


def _misused(message: str, ctx: click.Context) -> click.UsageError:
    """Return an error with commands that work in this environment."""
    from penstock_cli.machine.environment import in_this_environment  # only for errors

    return click.UsageError(in_this_environment(message), ctx)


def _not_loaded() -> dict[str, str]:
    """Return which plugins failed to load, and why."""
    return {record.name: record.reason for record in _host().records if record.state == "failed"}
