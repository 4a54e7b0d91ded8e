"""The commands for authors of packs: new, validate-pack. `main` adds them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from penstock_cli.exit_codes import EXIT_CODES
from penstock_cli.options import debug_option, json_option


@click.group("new", short_help="Write the files of a new pack.", epilog=EXIT_CODES)
def new_group() -> None:
    """Write the files of something new; existing files are not overwritten.

    \b
    Examples:
      penstock new pack fog
    """  # noqa: D301  # \b is click's mark for text that stays as it is


@new_group.command("pack", short_help="Write the files of a new pack.", epilog=EXIT_CODES)
@click.argument("name")
@click.option(
    "--directory",
    type=click.Path(path_type=Path),
    help="Where its pyproject.toml goes; penstock-NAME if not given.",
)
@click.option("--description", metavar="TEXT", help="What the pack is, in one line.")
@click.option("--author", metavar="TEXT", help="'Name' or 'Name <address>'.")
@debug_option
def new_pack_command(name: str, directory: Path | None, description: str | None, author: str | None) -> None:
    """Write a pack: a distribution with calculators of your own, which Penstock finds once it is installed.

    NAME is words joined by "-"; "my-pack" makes the distribution penstock-my-pack with the package
    penstock_my_pack and the entry point my-pack. It has a calculator written as a class, one written
    as a function, a subgraph, and tests, which pass as written.

    \b
    Examples:
      penstock new pack my-pack
      penstock new pack my-pack --description "What my sensors need." --author "Ada <ada@example.org>"
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_cli.packs.new_pack import write_pack  # on demand, as in `main`

    write_pack(name, directory, description, author)


@click.command(
    "validate-pack", short_help="Check a pack: names, contracts, examples, imports.", epilog=EXIT_CODES
)
@click.argument("name_or_path", required=False)
@json_option("a JSON list of reports instead")
@debug_option
def validate_pack_command(name_or_path: str | None, as_text: bool) -> None:  # noqa: FBT001  # click's
    """Check an installed pack, and exit with 1 if it has faults; warnings do not count as faults.

    NAME_OR_PATH is a plugin, a distribution, or the directory that it is installed from; the current
    directory if not given. The command checks the entry point, what loading it imports, the
    distribution's requirements and files, each name and its component, the example of each calculator as
    a node, subgraphs, and options. No graph is run.

    \b
    Examples:
      penstock validate-pack my-pack
      pip install -e . && penstock validate-pack      (in the pack's CI)
    """  # noqa: D301
    from penstock_cli.packs.validate_pack import validate  # on demand, as in `main`

    validate(name_or_path, as_json=as_text)


#: In the order of the help page.
PACK_COMMANDS: Final = (new_group, validate_pack_command)
