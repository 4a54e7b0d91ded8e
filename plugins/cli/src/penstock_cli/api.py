"""What packs use that add to the command `penstock`: commands of their own, and options of `run` and `demo`.

A command is a click command that the hook `penstock_cli(group)` adds; options are added by
`penstock_run_options(command)`. `contrib/room-sensors` has an example of both.

Commands
    `RunningCommand` is a command that runs graphs and takes the options that packs add; `ValueIfAny` is an
    option whose value may be left out; `FileOrAddress` is the type of an argument VIDEO: a file, or an
    `Address`, whose frames may come in real time (`is_live_address`). `debug_option`, `import_option`,
    `subgraph_option` and `json_option` are options that all commands share; `access_options` adds
    `--sandbox` and its like. `existing_file` finds the files that are named, `registry_with_subgraphs` the
    subgraphs of a graph file, `graph_faults` what keeps it from running; `read_sides` reads
    `--side NAME=VALUE`. An option of `penstock show` that shows a graph in another way puts a `Viewer` into
    the context, at `VIEWER`.
Runs
    `run_file` runs a graph file as `penstock run` does, in a `Manner`; `read_manner` makes one of the
    options that `run_options` adds. `run_over_video` runs a graph over a video or a camera, as an `OverVideo`
    says; `are_pictures` finds out whether a path means pictures, and `default_picture_path` where they go.
    `check_target_file` refuses a file that cannot be written before the run begins.
Files
    `rewrite_file` replaces an existing file as a whole.
What is said, and how it ends
    `say` prints a line on stderr; `plural` and `amount` word numbers. `WrongUsage`, `FileMissing`,
    `GraphInvalid` and `RunFailed` end the command with a message and the exit code of their kind, which
    `EXIT_CODES` explains below each `--help`; `INTERRUPTED` is the code after Ctrl-C,
    `TERMINATED` the code after SIGTERM.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_cli.access_options import access_options as access_options
    from penstock_cli.existing_files import existing_file as existing_file
    from penstock_cli.exit_codes import EXIT_CODES as EXIT_CODES
    from penstock_cli.exit_codes import INTERRUPTED as INTERRUPTED
    from penstock_cli.exit_codes import TERMINATED as TERMINATED
    from penstock_cli.failures import FileMissing as FileMissing
    from penstock_cli.failures import GraphInvalid as GraphInvalid
    from penstock_cli.failures import RunFailed as RunFailed
    from penstock_cli.failures import WrongUsage as WrongUsage
    from penstock_cli.graphs.checking import graph_faults as graph_faults
    from penstock_cli.graphs.viewer import VIEWER as VIEWER
    from penstock_cli.graphs.viewer import Viewer as Viewer
    from penstock_cli.options import ValueIfAny as ValueIfAny
    from penstock_cli.options import debug_option as debug_option
    from penstock_cli.options import import_option as import_option
    from penstock_cli.options import json_option as json_option
    from penstock_cli.options import subgraph_option as subgraph_option
    from penstock_cli.running_command import RunningCommand as RunningCommand
    from penstock_cli.runs.addresses import Address as Address
    from penstock_cli.runs.addresses import FileOrAddress as FileOrAddress
    from penstock_cli.runs.addresses import is_live_address as is_live_address
    from penstock_cli.runs.manner import Manner as Manner
    from penstock_cli.runs.manner import read_manner as read_manner
    from penstock_cli.runs.over_video import OverVideo as OverVideo
    from penstock_cli.runs.over_video import run_over_video as run_over_video
    from penstock_cli.runs.picture_files import are_pictures as are_pictures
    from penstock_cli.runs.picture_files import default_picture_path as default_picture_path
    from penstock_cli.runs.run import run_file as run_file
    from penstock_cli.runs.run_options import run_options as run_options
    from penstock_cli.runs.side_values import read_sides as read_sides
    from penstock_cli.saying import say as say
    from penstock_cli.subgraph_files import registry_with_subgraphs as registry_with_subgraphs
    from penstock_cli.target_file import check_target_file as check_target_file
    from penstock_cli.whole_file import rewrite_file as rewrite_file
    from penstock_cli.wording import amount as amount
    from penstock_cli.wording import plural as plural

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_cli.access_options": "access_options",
    "penstock_cli.exit_codes": "EXIT_CODES INTERRUPTED TERMINATED",
    "penstock_cli.failures": "FileMissing GraphInvalid RunFailed WrongUsage",
    "penstock_cli.graphs.checking": "graph_faults",
    "penstock_cli.graphs.viewer": "VIEWER Viewer",
    "penstock_cli.existing_files": "existing_file",
    "penstock_cli.subgraph_files": "registry_with_subgraphs",
    "penstock_cli.options": "ValueIfAny debug_option import_option json_option subgraph_option",
    "penstock_cli.runs.addresses": "Address FileOrAddress is_live_address",
    "penstock_cli.runs.over_video": "OverVideo run_over_video",
    "penstock_cli.runs.picture_files": "are_pictures default_picture_path",
    "penstock_cli.runs.manner": "Manner read_manner",
    "penstock_cli.runs.run": "run_file",
    "penstock_cli.runs.run_options": "run_options",
    "penstock_cli.running_command": "RunningCommand",
    "penstock_cli.saying": "say",
    "penstock_cli.runs.side_values": "read_sides",
    "penstock_cli.target_file": "check_target_file",
    "penstock_cli.whole_file": "rewrite_file",
    "penstock_cli.wording": "amount plural",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
