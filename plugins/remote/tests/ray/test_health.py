"""What `penstock doctor` says of Ray, whether it is installed here or not."""

from __future__ import annotations

import sys

import pytest

from penstock_ray import health


def test_the_doctor_names_version_and_cluster(monkeypatch) -> None:
    ray = pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.5:6379")

    (check,) = health.checks()

    assert check.is_well
    assert check.detail == f"{ray.__version__}; the cluster is at '10.0.0.5:6379' (RAY_ADDRESS)"


def test_a_machine_without_ray_is_well_and_the_doctor_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setattr(health, "find_spec", lambda _: None)

    (check,) = health.checks()

    assert check.is_well
    assert 'not installed; a RayExecutor needs it: pip install "penstock-remote[ray]"' in check.detail


def test_a_ray_that_cannot_be_imported_is_not_well(monkeypatch) -> None:
    monkeypatch.setattr(health, "find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "ray", None)

    (check,) = health.checks()

    assert not check.is_well
    assert check.cure == 'pip install "penstock-remote[ray]"'
