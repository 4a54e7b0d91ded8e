"""The command `penstock language-server`. The server is imported when it runs."""

from __future__ import annotations

import click

from penstock_cli.api import EXIT_CODES, debug_option, import_option


@click.command("language-server", short_help="Help editors with graph files.", epilog=EXIT_CODES)
@import_option
@debug_option
def language_server_command() -> None:
    """Serve an editor over standard input and output, by the Language Server Protocol.

    Editors start this command themselves; the page "Edit graph files" of the documentation has the settings
    for several. It ends when the editor says so or closes its end.

    Calculators of the graphs are imported, to know their ports and options, and nothing is run. What they
    print goes to stderr. --import names calculators of your own, as for `penstock run`.

    \b
    Examples:
      penstock language-server
      penstock language-server --import ./gate.py
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    from penstock_editor.serving import serve  # on demand

    serve()
