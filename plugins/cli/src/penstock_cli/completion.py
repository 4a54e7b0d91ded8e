"""Completion in the shell: click provides the scripts, this module the names of components.

Every command imports this module, so it imports what completion needs only when a shell completes.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

    from penstock import Registry

#: The command's name, and the environment variable through which a shell requests completions.
_PROGRAM: Final = "penstock"
_VARIABLE: Final = "_PENSTOCK_COMPLETE"
SHELLS: Final = ("bash", "zsh", "fish")


def shell_in_use() -> str:
    """Return the shell of this session.

    Raises:
        click.UsageError: SHELL is not set, or names a shell without a completion script.
    """
    name = PurePath(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        found = f"there is none for the shell {name!r}" if name else "SHELL is not set"
        raise click.UsageError(f"completion script: {found}; name one of {', '.join(SHELLS)}")
    return name


def script(shell: str, command: click.Command) -> str:
    """Return the script that the shell runs to complete `penstock`.

    Raises:
        click.UsageError: click has no completion for it.
    """
    from click.shell_completion import get_completion_class  # on demand

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(
            f"completion script: there is none for {shell!r}; name one of {', '.join(SHELLS)}"
        )
    return kind(command, {}, _PROGRAM, _VARIABLE).source()


def complete_component(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the components whose name begins so, in upper or lower case; files if there are none."""
    from click.shell_completion import CompletionItem  # on demand

    from penstock.plugins.default_registry import default_registry  # loads the plugins

    try:
        found = list(_beginning(incomplete, default_registry()))
    except PenstockError:  # a wrong switch in the environment: running a command reports it
        found = []
    return found or [CompletionItem(incomplete, type="file")]


def complete_pack(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the plugins whose name begins so."""
    from click.shell_completion import CompletionItem  # on demand

    from penstock.plugins.default_registry import default_plugin_host  # loads the plugins

    try:
        records = default_plugin_host().records
    except PenstockError:
        return []
    return [
        CompletionItem(record.name, help=record.distribution)
        for record in records
        if record.state == "loaded" and record.name.startswith(incomplete)
    ]


def _beginning(incomplete: str, registry: Registry) -> Iterator[CompletionItem]:
    from click.shell_completion import CompletionItem  # on demand

    from penstock.packs import KINDS  # with the registry

    for kind in KINDS:
        for name in registry.names(kind):
            if name.casefold().startswith(incomplete.casefold()):
                yield CompletionItem(name, help=kind)
