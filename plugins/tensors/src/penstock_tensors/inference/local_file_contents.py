"""LocalFileContentsCalculator: the contents of files as side packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_tensors.messages.local_file_contents_pb2 import LocalFileContentsCalculatorOptions
from penstock_tensors.models.resource_finder import RESOURCES

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class LocalFileContentsCalculator(penstock.Calculator):
    """Reads files, and gives the contents of each as a side packet.

    Input side packets FILE_PATH:i (str: the name of file i), output side packets CONTENTS:i (bytes; str with
    `text_mode`), as many, one at least. The service RESOURCES (`penstock_tensors.RESOURCES`) finds the
    files, as it finds models; a path is a name too. ResourceProviderCalculator gives files to the nodes of
    this pack.

    Options `LocalFileContentsCalculatorOptions`: `text_mode` (false): the contents are text in UTF-8; ends of
    lines become newlines.

    Raises InvalidArgumentError in `get_contract` if there are not as many outputs as inputs. In `open`:
    NotFoundError, which names the places searched; InvalidArgumentError for a file that cannot be read, or is
    no text where text is asked for.

    Source of the behaviour: MediaPipe `calculators/util/local_file_contents_calculator.cc`.

    Config::

        node {
          calculator: "LocalFileContentsCalculator"
          input_side_packet: "FILE_PATH:path_of_labels"
          output_side_packet: "CONTENTS:labels"
          options { [penstock.LocalFileContentsCalculatorOptions.ext] { text_mode: true } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a name and the contents for each file.

        Raises:
            InvalidArgumentError: there are not as many outputs as inputs.
        """
        names, outputs = cc.input_side_packets.count("FILE_PATH"), cc.output_side_packets.count("CONTENTS")
        if not names or names != outputs:
            raise InvalidArgumentError(
                f"the node has {names} side packets FILE_PATH and {outputs} outputs CONTENTS, but needs as "
                "many of both, and at least one"
            )
        is_text = cc.options(LocalFileContentsCalculatorOptions).text_mode
        for i in range(names):
            cc.input_side_packets["FILE_PATH", i].set(str, "the name of a file")
            cc.output_side_packets["CONTENTS", i].set(str if is_text else bytes, "its contents")
        cc.set_timestamp_offset(0)
        cc.use_service(RESOURCES)
        ports = [cc.input_side_packets["FILE_PATH", i] for i in range(names)]
        cc.declare(may_skip=False, stateless=False, reads=ports)

    def open(self, cc: CalculatorContext) -> None:
        """Find and read the files."""
        finder, is_text = cc.service(RESOURCES), cc.options(LocalFileContentsCalculatorOptions).text_mode
        for i in range(cc.input_side_packets.count("FILE_PATH")):
            name = cc.input_side_packets["FILE_PATH", i].get(str)
            data = finder.find(name, cc.service(ACCESS)).data
            cc.output_side_packets["CONTENTS", i].set(_text(data, name) if is_text else data)

    def process(self, cc: CalculatorContext) -> None:
        """Do nothing: the node has no streams."""


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"the file {name!r} is no text in UTF-8: {error}; give another local file, or leave out text_mode"
        ) from error
