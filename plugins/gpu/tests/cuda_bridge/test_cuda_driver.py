"""The CUDA driver: what is said where it is missing, and that no failed call goes unnoticed."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import subprocess
import sys

import pytest

from penstock.errors import UnavailableError
from penstock_gpu.cuda import driver as cuda_driver
from penstock_gpu.cuda.driver import CudaDriver, CudaError
from penstock_gpu.errors import CudaUnavailableError

#: The lowest number that a CUDA driver has for "no device".
NO_DEVICE = 100


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture
def bindings(monkeypatch):
    """Return a function that puts a module, or an error, in place of cuda.bindings.driver."""
    monkeypatch.setattr(cuda_driver, "_loaded", [])

    def put(found):
        def find(name):
            assert name == "cuda.bindings.driver"
            if isinstance(found, Exception):
                raise found
            return found

        monkeypatch.setattr(cuda_driver, "import_module", find)

    return put


def test_importing_the_bridge_needs_no_cuda_and_loads_no_opengl():
    code = (
        "import sys, penstock_gpu.cuda; "
        "print([name for name in sys.modules if name.split('.')[0] in ('OpenGL', 'cuda')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_without_the_extra_the_error_says_how_to_install_it(bindings):
    bindings(ModuleNotFoundError("No module named 'cuda'", name="cuda"))

    with pytest.raises(CudaUnavailableError) as caught:
        cuda_driver.load()

    assert str(caught.value) == (
        "cuda.bindings.driver cannot be imported: No module named 'cuda'; pip install \"penstock-gpu[cuda]\""
    )
    assert caught.value.cure == 'pip install "penstock-gpu[cuda]"'
    assert isinstance(caught.value, UnavailableError)


def test_without_a_driver_the_error_names_the_library_that_is_missing(bindings, cuda):
    def no_library(flags):
        raise RuntimeError('Failed to dlopen "libcuda.so.1"')

    cuda.cuInit = no_library
    bindings(cuda)

    with pytest.raises(
        CudaUnavailableError,
        match=r"no CUDA driver: libcuda\.so\.1 not found; install NVIDIA's driver; in a co",
    ):
        cuda_driver.load()


def test_a_driver_that_does_not_start_is_quoted_and_what_hides_devices_is_named(bindings, cuda, monkeypatch):
    status = type(cuda.cuInit(0)[0]).CUDA_ERROR_NO_DEVICE
    cuda.refuse["cuInit"] = status
    bindings(cuda)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    with pytest.raises(CudaUnavailableError) as caught:
        cuda_driver.load()

    assert str(caught.value) == (
        f"the CUDA driver does not start: cuInit: CUDA_ERROR_NO_DEVICE: fake words for {NO_DEVICE}; "
        "see what nvidia-smi says; CUDA_VISIBLE_DEVICES is ''"
    )


def test_what_failed_once_is_tried_again_and_what_worked_is_kept(bindings, cuda):
    bindings(ImportError("not yet"))
    with pytest.raises(CudaUnavailableError):
        cuda_driver.load()
    bindings(cuda)

    assert cuda_driver.load().table is cuda
    assert cuda_driver.load() is cuda_driver.load()


def test_a_failed_call_names_the_function_and_what_the_driver_says(cuda):
    driver = CudaDriver(cuda)

    with pytest.raises(CudaError) as caught:
        driver.call("cuEventCreate", 2)

    assert str(caught.value) == "cuEventCreate: CUDA_ERROR_INVALID_CONTEXT: fake words for 201"
    assert (caught.value.call, caught.value.status) == ("cuEventCreate", "CUDA_ERROR_INVALID_CONTEXT")


def test_a_call_returns_what_the_function_returns_beside_its_status(cuda):
    driver = CudaDriver(cuda)

    assert driver.call("cuInit", 0) is None
    assert driver.call("cuDeviceGetCount") == 2
    assert driver.devices() == ["Fake A", "Fake B"]


def test_a_cuda_context_is_popped_whatever_happens_in_the_block(cuda):
    driver = CudaDriver(cuda)

    def fails():
        with driver.current("mine"):
            assert cuda.pushed == ["mine"]
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert cuda.pushed == []


@pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason="cuda-bindings is not installed")
def test_the_bindings_have_every_function_and_type_that_is_used(cuda):
    real = importlib.import_module(cuda_driver.BINDINGS)

    for name in dir(cuda):
        if name.startswith(("cu", "CU")):
            assert hasattr(real, name), name
            for member in vars(getattr(cuda, name)) if name[:2] == "CU" and name != "CUstream" else ():
                if member.startswith("CU_"):
                    value = getattr(getattr(cuda, name), member)
                    assert int(getattr(getattr(real, name), member)) == value, member


@pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason="cuda-bindings is not installed")
@pytest.mark.skipif(has_driver(), reason="there is a CUDA driver, libcuda.so.1")
def test_the_real_bindings_without_a_driver_say_so():
    with pytest.raises(CudaUnavailableError, match=r"no CUDA driver: libcuda\.so\.1 not found"):
        cuda_driver.load()
