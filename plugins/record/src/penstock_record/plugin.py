"""What penstock-record brings, as names; nothing is imported until it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components(
        calculators={
            "McapSinkCalculator": "penstock_record.sink:McapSinkCalculator",
            "McapSourceCalculator": "penstock_record.source:McapSourceCalculator",
        },
        codecs={
            "Protobuf": "penstock_record.codecs:ProtobufCodec",
            "ImageFrame": "penstock_record.codecs:ImageFrameCodec",
            "Header": "penstock_record.codecs:VideoHeaderCodec",
            "Array": "penstock_record.codecs:ArrayCodec",
            "Json": "penstock_record.codecs:JsonCodec",
            "Value": "penstock_record.codecs:ValueCodec",
        },
    )


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the commands `record`, `replay`, `diff` and `repair`."""
    from penstock_record.commands import COMMANDS  # only for the command line

    for command in COMMANDS:
        group.add_command(command)
