"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from click.shell_completion import CompletionItem

    F = TypeVar("F", bound=Callable[..., Any])

#: Key in `click.Context.meta`, which all contexts of one call share.
DEBUG: Final = "penstock_cli.debug"
#: Key in `click.Context.meta`: kind and name of a component → the module or file of `--import` that has it.
IMPORTED: Final = "penstock_cli.imported"
#: Key in `click.Context.meta`: the values of `--import`.
IMPORTS: Final = "penstock_cli.imports"


class ValueIfAny(click.Option):
    """An option whose value may be left out, as in `--serve` and `--serve 8080`, of a `RunningCommand`.

    The next word is its value only if it can be one: in `--serve graph.pbtxt` there is none. (click alone
    takes any word that begins with no dash.)

    Args:
        is_value: returns whether a word can be the value.
        left_out: the value where there is none.
        settings: what `click.Option` takes.
    """

    def __init__(
        self, names: Sequence[str], *, is_value: Callable[[str], bool], left_out: str, **settings: Any
    ) -> None:
        super().__init__(names, **settings)
        self.is_value: Final = is_value
        self.left_out: Final = left_out


def _set_debug(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's
    if value:
        ctx.meta[DEBUG] = True


#: `--debug`, before or after the command's name.
debug_option: Final = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_set_debug,
    help="Show the traceback of an error.",
)


def _import(ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> None:
    if given and not ctx.resilient_parsing:  # completion does not run the user's code
        from penstock_cli.importing import import_all  # on demand: it loads the plugins

        ctx.meta[IMPORTED] = import_all(given)
        ctx.meta[IMPORTS] = given


def _complete_file(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # on demand

    return [CompletionItem(incomplete, type="file")]


#: `--import`, of the commands that look up components. The modules are imported before the command runs.
import_option: Final = click.option(
    "--import",
    multiple=True,
    metavar="MODULE_OR_FILE",
    expose_value=False,
    callback=_import,
    shell_complete=_complete_file,
    help="Import a module or a Python file first, so that graphs can use its calculators; may be repeated. "
    "Modules are also looked for in the current directory.",
)


def _note_subgraphs(ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> None:
    if given and not ctx.resilient_parsing:
        from penstock_cli.subgraph_files import GIVEN, named_files  # on demand: it loads the plugins

        ctx.meta[GIVEN] = named_files(given)


#: `--subgraph`, of the commands that read graph files; `subgraph_files` has them.
subgraph_option: Final = click.option(
    "--subgraph",
    multiple=True,
    metavar="NAME=FILE",
    expose_value=False,
    callback=_note_subgraphs,
    shell_complete=_complete_file,
    help="Use a graph file as the subgraph of this name; may be repeated. Graph files with a type that lie "
    "beside the graph are found by it.",
)


#: `--side`, of the commands that run a graph.
side_option: Final = click.option(
    "--side",
    "sides",
    multiple=True,
    metavar="NAME=VALUE",
    help="A side packet; may be given several times. The value is read as JSON if it can be (3, 0.5, true, "
    """[1, 2]), else it is a str; for a str that looks like a number, quote it twice: --side 'id="3"'.""",
)


def json_option(what: str) -> Callable[[F], F]:
    """Return the option `--json`, which a command takes as `as_text`.

    Args:
        what: what the option prints, such as "a JSON list instead of a table".
    """
    return click.option("--json", "as_text", is_flag=True, help=f"Print {what}.")
