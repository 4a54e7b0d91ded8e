"""Workers on systems without `memfd_create`, such as macOS: they take the shared memory of POSIX."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_processes import arena, process_executor
from penstock_processes.arena import Arena, OwnArena, memory_file
from penstock_processes.process_executor import ProcessExecutor

SHARED = Path("/dev/shm")  # noqa: S108  # where Linux has the names of POSIX's shared memory


@pytest.fixture(autouse=True)
def without_memfd(monkeypatch):
    """Take `memfd_create` away from this process; workers get descriptors, and make no memory."""
    monkeypatch.delattr(os, "memfd_create", raising=False)


def names():
    return (
        {one.name for one in SHARED.iterdir() if one.name.startswith("penstock-")}
        if SHARED.is_dir()
        else set()
    )


def test_what_one_mapping_writes_another_reads_and_no_name_is_left():
    descriptor = memory_file(1 << 16)
    try:
        own, other = OwnArena(0, descriptor, 1 << 16), Arena(0, descriptor, 1 << 16)
    finally:
        os.close(descriptor)

    array = own.take((4,), "<i4", 16)
    array[:] = range(4)

    assert other.view(
        (4,), "<i4", own.offset_of(array.__array_interface__["data"][0], 16), [], 0
    ).tolist() == [0, 1, 2, 3]
    assert names() == set()


@pytest.mark.usefixtures("nothing_left")
def test_arrays_go_there_and_back_in_shared_memory(driven):
    one = driven("Inverts")
    image = np.arange(720 * 1280 * 3, dtype=np.uint8).reshape(720, 1280, 3)

    (found,) = one.run(image)

    assert np.array_equal(found, 255 - image)
    assert not found.flags.writeable
    one.graph.close(60)
    del found, one.got[:]


def test_a_system_without_such_memory_is_refused_with_another_executor(monkeypatch):
    monkeypatch.setattr(arena, "_POSIX_MEMORY", "no_such_module")

    with pytest.raises(InvalidArgumentError, match="which Linux and macOS have; name a ThreadPoolExecutor"):
        ProcessExecutor(1)
    assert not process_executor.has_memory_files()
