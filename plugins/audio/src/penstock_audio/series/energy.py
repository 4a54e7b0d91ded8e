"""EnergyCalculator: how loud each packet of a series is."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_audio.series.series_operation import SeriesOperation, one_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_formats import TimeSeriesHeader


#: The largest number of decibels whose energy is a float.
_MOST_DB: Final = 3000


class EnergyScale(Enum):
    """How the energy of a packet is written."""

    #: The mean of the squares of the samples.
    MEAN_SQUARE = 0
    #: Its root.
    RMS = 1
    #: 10 log10 of it: a full square wave has 0 dB, a full sine wave -3 dB.
    DECIBELS = 2


@attrs.frozen(kw_only=True)
class EnergyCalculatorOptions:
    """How the energy of a packet is written.

    Attributes:
        scale: MEAN_SQUARE, RMS or DECIBELS.
        floor_db: of DECIBELS, what silence has, and all that is quieter.
    """

    scale: EnergyScale = EnergyScale.MEAN_SQUARE
    floor_db: float = -120.0

    def __attrs_post_init__(self) -> None:
        if not abs(self.floor_db) <= _MOST_DB:
            raise InvalidArgumentError(
                f"the energy's floor_db is {self.floor_db}, but must be from -{_MOST_DB} to {_MOST_DB} "
                "decibels"
            )


class EnergyCalculator(SeriesOperation):
    """Computes the mean square of each channel in the packet: its energy for each sample.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels by 1,
    float32), of each frame where a TimeSeriesFramerCalculator stands before it. The header has `num_samples`
    1, and as `sample_rate` the `packet_rate`. Timestamp offset 0.

    Options: `scale`: MEAN_SQUARE (default), RMS (its root) or DECIBELS (10 log10 of it); `floor_db` (-120):
    what silence has in DECIBELS, and all that is quieter. It is a calculator of Penstock's own.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements.

    Example config::

        node {
          calculator: "EnergyCalculator"
          input_stream: "frames"
          output_stream: "loudness"
          node_options { [type.googleapis.com/penstock_audio.EnergyCalculatorOptions] { scale: DECIBELS } }
        }
    """

    Options = EnergyCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one."""
        super().get_contract(cc)
        cc.options(EnergyCalculatorOptions)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Send the header.

        Raises:
            InvalidArgumentError: there is none.
        """
        self._options = cc.options(EnergyCalculatorOptions)
        super().open(cc)

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Say that a packet is one sample."""
        one_sample(header)

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the energies."""
        energy = np.square(matrix, dtype=np.float64).mean(axis=1, keepdims=True)
        scale, floor = self._options.scale, self._options.floor_db
        if scale is EnergyScale.RMS:
            return np.sqrt(energy)
        if scale is EnergyScale.DECIBELS:
            return np.maximum(10 * np.log10(np.maximum(energy, 10 ** (floor / 10))), floor)
        return energy
