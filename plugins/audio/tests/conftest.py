"""What the tests of this pack share: a series through a calculator, and what they are compared with."""

from __future__ import annotations

import importlib
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from penstock_formats import Matrix, TimeSeriesHeader
from penstock_testing import run_calculator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


class Series(NamedTuple):
    """What came out: the header, timestamps, and payloads as arrays."""

    header: Any
    stamps: list[int]
    arrays: list[NDArray[Any]]

    @property
    def joined(self) -> NDArray[Any]:
        """All columns."""
        return np.concatenate(self.arrays, axis=1)


def array_of(payload: object) -> Any:
    return [array_of(one) for one in payload] if isinstance(payload, list) else np.asarray(payload)


@pytest.fixture
def through() -> Callable[..., Series]:
    """Return a function that sends arrays, (channels, samples), through a calculator.

    Packets follow each other at `rate` from `start` on, unless `stamps` says when they come.
    """

    def run(  # noqa: PLR0913, PLR0917  # each is one thing that a series can have
        calculator: type,
        blocks: Sequence[Any],
        rate: float = 1000.0,
        start: int = 0,
        stamps: Sequence[int] | None = None,
        tags: tuple[Any, Any] = (0, 0),
        header: Any = None,
        **arguments: Any,
    ) -> Series:
        arrays = [np.asarray(block, np.float32) for block in blocks]
        before = itertools.accumulate((array.shape[1] for array in arrays), initial=0)
        times = stamps or [start + round(count * 1e6 / rate) for count in before]
        if header is None:
            header = TimeSeriesHeader(sample_rate=rate, num_channels=arrays[0].shape[0])
        ran = run_calculator(
            calculator,
            {tags[0]: [(at, Matrix(array)) for at, array in zip(times, arrays, strict=False)]},
            outputs=[tags[1]],
            headers={tags[0]: header} if header else None,
            **arguments,
        )
        packets = ran.outputs[tags[1]]
        return Series(
            ran.headers[tags[1]],
            [int(one.timestamp) for one in packets],
            [array_of(one.payload) for one in packets],
        )

    return run


@pytest.fixture
def noise() -> Callable[..., NDArray[np.float32]]:
    """Return a maker of noise, the same each time."""

    def make(channels: int, samples: int, seed: int = 7) -> NDArray[np.float32]:
        return np.random.default_rng(seed).normal(size=(channels, samples)).astype(np.float32)

    return make


@pytest.fixture
def cut() -> Callable[..., list[NDArray[Any]]]:
    """Return a function that cuts an array, (channels, samples), at samples."""
    return lambda array, *at: np.split(array, at, axis=1)


@pytest.fixture
def peer() -> Callable[[str], Any]:
    """Return a function that imports a module which computes the same in another way, or skips the test."""

    def find(module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            pytest.skip(f"the numbers are compared with those of {module}, which is missing: {error}")

    return find
