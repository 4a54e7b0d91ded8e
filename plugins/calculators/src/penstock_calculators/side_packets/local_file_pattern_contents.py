"""LocalFilePatternContentsCalculator: the files of a directory as a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop


class LocalFilePatternContentsCalculator(penstock.Calculator):
    """Writes the contents of the files of a directory whose names end in a certain way, then ends.

    Side packets FILE_DIRECTORY (str: a path) and FILE_SUFFIX (str, such as ".jpg"; "" for all). Output
    CONTENTS (bytes): one packet for each file, in the order of their names, at the timestamps 1, 2, 3, ...
    Directories inside are left out. A file is read when its packet is written.

    Raises in `open`: NotFoundError if the directory does not exist, InvalidArgumentError if it is none or
    cannot be read. In `process`: the same for a file that cannot be read.

    Source of the behaviour: MediaPipe `calculators/util/local_file_pattern_contents_calculator.cc`.

    Example config::

        node {
          calculator: "LocalFilePatternContentsCalculator"
          input_side_packet: "FILE_DIRECTORY:folder_of_pictures"
          input_side_packet: "FILE_SUFFIX:jpg"
          output_stream: "CONTENTS:files"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare where files are, and the stream of them."""
        cc.input_side_packets["FILE_DIRECTORY"].set(str, "a directory")
        cc.input_side_packets["FILE_SUFFIX"].set(str, "how the names of its files end")
        cc.outputs["CONTENTS"].set(bytes, "the contents of a file")
        cc.declare(may_skip=False, stateless=False, reads=[cc.input_side_packets["FILE_DIRECTORY"]])

    def open(self, cc: CalculatorContext) -> None:
        """Look for the files.

        Raises:
            NotFoundError: there is no such directory.
            InvalidArgumentError: it is none, or cannot be read.
        """
        sides = cc.input_side_packets
        self._access = cc.service(ACCESS)
        folder, suffix = self._access.folder(sides["FILE_DIRECTORY"].get(str)), sides["FILE_SUFFIX"].get(str)
        try:
            found = sorted(path for path in folder.iterdir() if path.name.endswith(suffix) and path.is_file())
        except FileNotFoundError as error:
            raise NotFoundError(
                f"the directory {str(folder)!r} of the side packet FILE_DIRECTORY does not exist; give "
                "another one"
            ) from error
        except OSError as error:
            raise InvalidArgumentError(
                f"{str(folder)!r} of the side packet FILE_DIRECTORY cannot be read as a directory: {error}; "
                "give another one"
            ) from error
        self._files = enumerate(found, start=1)

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write one file, or end.

        Raises:
            InvalidArgumentError: the file cannot be read.
        """
        number, path = next(self._files, (0, None))
        if path is None:
            return penstock.STOP
        try:
            with self._access.open(path) as file:
                data = file.read()
        except OSError as error:
            raise InvalidArgumentError(
                f"the file {str(path)!r} cannot be read: {error}; look at it, or take it out of the directory"
            ) from error
        cc.output.add(data, number)
        return None
