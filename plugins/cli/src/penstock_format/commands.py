"""The command `penstock format`: its options and help. What it needs is imported when it runs."""

from __future__ import annotations

import click

from penstock_cli.api import EXIT_CODES, debug_option, import_option


@click.command("format", short_help="Write graph files in one layout.", epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE... | -")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option(
    "--diff", is_flag=True, help="Write nothing; print what would change, and exit with 1 if something would."
)
@import_option
@debug_option
def format_command(files: tuple[str, ...], check: bool, diff: bool) -> None:  # noqa: FBT001  # click passes flags so
    """Write graph files in one layout: .pbtxt and .textproto files, templates too.

    A line for each field, two blanks for each bracket; what stands in brackets on one line stays there if the
    line is not longer than 100 characters. Comments and the order of everything stay. The new text is read
    before it is written, and must be the same graph; a graph that cannot be read is reported with its place,
    and its file stays as it is. Whether the graph can run does not matter.

    With - the graph is read from standard input, and its new text printed.

    \b
    Examples:
      penstock format graph.pbtxt
      penstock format --check graphs/*.pbtxt
      penstock format --diff graph.pbtxt
      penstock format - < graph.pbtxt
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_format.files import format_files  # on demand

    if format_files(files, check=check, diff=diff):
        click.get_current_context().exit(1)
