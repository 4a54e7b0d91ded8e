"""The command `penstock bag`: what a bag has, and the node that plays it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.errors import PenstockError
from penstock_bridges import check_needs
from penstock_cli.api import EXIT_CODES, FileMissing, WrongUsage, debug_option, json_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock_ros.client.bag_reader import Bag, Topic

#: A message is not read: the limit only counts for chunks.
_LIMIT = 2**31


@click.command("bag", short_help="List the topics of a bag of ROS.", epilog=EXIT_CODES)
@click.argument("bag", type=click.Path(path_type=Path))
@json_option("a JSON object in place of a table")
@debug_option
def bag_command(bag: Path, as_text: bool) -> None:  # noqa: FBT001
    """List the topics of a bag of ROS 1 or ROS 2, and print the node that sends them.

    BAG is a .bag file, a folder with metadata.yaml, or one .mcap or .db3 file.

    \b
    Examples:
      penstock bag drive.bag
      penstock run graph.pbtxt --side bag=drive.bag
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    if not bag.exists():
        raise FileMissing(f"the bag command finds no ROS bag at {str(bag)!r}; check the path")
    check_needs("penstock bag", "ros")
    from penstock_ros.client.bag_reader import Bag

    try:
        opened = Bag(bag, _LIMIT)
    except PenstockError as error:
        raise WrongUsage(str(error)) from error
    except OSError as error:
        raise FileMissing(str(error)) from error
    try:
        about = _about(opened)
        if as_text:
            click.echo(json.dumps(about, indent=2))
        else:
            _show(about, opened.topics.values())
    finally:
        opened.close()


def _about(bag: Bag) -> dict[str, Any]:
    from penstock_ros.client.from_ros import PAYLOADS

    begin, end = bag.span_ns
    return {
        "begin_s": begin / 1e9,
        "seconds": (end - begin) / 1e9,
        "topics": [
            {
                "topic": one.name,
                "type": one.type,
                "messages": one.count,
                "payload": PAYLOADS.get(one.type, "a message of rosbags"),
            }
            for one in sorted(bag.topics.values(), key=lambda one: one.name)
        ],
    }


def _show(about: dict[str, Any], topics: Iterable[Topic]) -> None:
    rows = [[str(one[key]) for key in ("topic", "type", "messages", "payload")] for one in about["topics"]]
    head = ["topic", "type", "messages", "payload"]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows):
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"{about['seconds']:.1f} s of messages\n")
    names = sorted(one.name for one in topics)
    streams = [re.sub(r"\W+", "_", name.strip("/")).lower() or "topic" for name in names]
    click.echo('input_side_packet: "bag"\nnode {\n  calculator: "RosBagSourceCalculator"')
    click.echo('  input_side_packet: "PATH:bag"')
    for name in streams:
        click.echo(f'  output_stream: "{name}"')
    chosen = "".join(f' topic: "{name}"' for name in names)
    options = "type.googleapis.com/penstock_ros.RosBagSourceCalculatorOptions"
    click.echo(f"  node_options {{\n    [{options}] {{{chosen} }}\n  }}\n}}")
