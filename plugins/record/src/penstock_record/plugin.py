"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_record.components import CALCULATORS

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and codecs by name."""
    return Components(
        calculators=CALCULATORS,
        codecs={
            "Protobuf": "penstock_record.payload_codecs:ProtobufCodec",
            "ImageFrame": "penstock_record.payload_codecs:ImageFrameCodec",
            "Header": "penstock_record.payload_codecs:VideoHeaderCodec",
            "Array": "penstock_record.payload_codecs:ArrayCodec",
            "Json": "penstock_record.payload_codecs:JsonCodec",
            "Value": "penstock_record.payload_codecs:ValueCodec",
        },
    )


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the commands `record`, `replay`, `diff` and `repair`."""
    from penstock_record.commands import COMMANDS  # only for the command line

    for command in COMMANDS:
        group.add_command(command)
