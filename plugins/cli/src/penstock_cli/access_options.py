"""`--sandbox`, `--allow-read` and their like: what a graph may touch, for commands that load graphs."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.access import Access

    F = TypeVar("F", bound=Callable[..., Any])

#: Option → kind of `penstock.access`, metavar and help.
_ALLOW: Final = {
    "--allow-read": ("reads", "PATH", "a file or directory to read"),
    "--allow-write": ("writes", "PATH", "a file or directory to write"),
    "--allow-connect": ("connects", "HOST:PORT", "an address to connect to; HOST alone for all its ports"),
    "--allow-device": ("devices", "NAME", 'a device, such as "camera 0"'),
    "--allow-run": ("runs", "NAME", 'what runs code elsewhere, such as "a cluster"'),
}


def access_options(*, writes: bool) -> Callable[[F], F]:
    """Add the options that say what the graphs of a command may touch, and let that hold while it runs.

    Args:
        writes: whether the command runs graphs, so that they may write: it then has `--force` too.
    """

    def add(command: F) -> F:
        @wraps(command)
        def held(*args: Any, sandbox: bool, force: bool = True, **given: Any) -> Any:
            from penstock.access import override  # on demand

            lists = {kind: given.pop(kind) for kind, _, _ in _ALLOW.values()}
            with override(access_of(lists, sandbox=sandbox, force=force)):
                return command(*args, **given)

        found: Callable[..., Any] = held
        for option in reversed(list(_options(writes=writes))):
            found = option(found)
        return cast("F", found)

    return add


def _options(*, writes: bool) -> Any:
    yield click.option(
        "--sandbox",
        is_flag=True,
        help="Let the graph touch only what the --allow options name: for a graph of somebody else. Without "
        "it the graph may read and write whatever you may. The code of calculators is trusted.",
    )
    for option, (kind, metavar, words) in _ALLOW.items():
        yield click.option(
            option, kind, multiple=True, metavar=metavar, help=f"With --sandbox: {words}; may be repeated."
        )
    if writes:
        yield click.option("--force", is_flag=True, help="Let the graph replace files that exist.")


def access_of(lists: dict[str, tuple[str, ...]], *, sandbox: bool, force: bool) -> Access:
    """Return what the options allow.

    Raises:
        click.UsageError: something is allowed without `--sandbox`, where everything is.
    """
    from penstock.access import Access

    if sandbox:
        return Access(**lists, overwrites=force)
    for option, (kind, _, _) in _ALLOW.items():
        if lists[kind]:
            raise click.UsageError(
                f"access option {option} is for --sandbox: without it the graph may touch everything; "
                "add --sandbox"
            )
    return Access(overwrites=force)


def words_again(params: dict[str, Any]) -> list[str]:
    """Return the options as words, for another process that does a part of the same command."""
    flags = [f"--{name}" for name in ("sandbox", "force") if params[name]]
    return flags + [f"{option}={one}" for option, (kind, _, _) in _ALLOW.items() for one in params[kind]]
