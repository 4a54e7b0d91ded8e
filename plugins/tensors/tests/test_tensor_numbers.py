"""The sigmoid in single precision, with and without a number that none is below."""

from __future__ import annotations

import numpy as np
import pytest

from penstock_tensors.outputs.tensor_numbers import sigmoid


@pytest.mark.parametrize("least", [None, -1000.0, -100.0])
def test_a_sigmoid_of_very_low_numbers_is_zero_without_a_warning(least):
    values = np.array([-100, 0, 100, np.nan], np.float32)

    assert np.array_equal(sigmoid(values, least), np.array([0, 0.5, 1, np.nan], np.float32), equal_nan=True)


def test_a_limit_changes_no_number():
    values = np.random.default_rng(2).normal(size=1000).astype(np.float32) * 20

    assert np.array_equal(sigmoid(values[values > -80], -80.0), sigmoid(values)[values > -80])
