from __future__ import annotations

import pytest

from penstock.errors import InvalidArgumentError
from penstock_gpu import egl, gl
from penstock_gpu.contexts import device
from penstock_gpu.contexts.device import candidates
from penstock_gpu.contexts.probe import probe
from penstock_gpu.errors import GpuUnavailableError


class Listed(egl.Egl):
    """A libEGL that lists devices of another machine: software first, then two GPUs."""

    KINDS = (
        (frozenset({"EGL_MESA_device_software"}), (), None),
        (frozenset({"EGL_EXT_device_drm"}), ("/dev/dri/card1", "/dev/dri/renderD129"), 1),
        (frozenset({"EGL_EXT_device_drm"}), ("/dev/dri/card0", "/dev/dri/renderD128"), 0),
    )

    def __init__(self):
        pass

    def devices(self):
        return (101, 102, 103)

    def device_extensions(self, handle):
        return self.KINDS[handle - 101][0]

    def device_files(self, handle):
        return self.KINDS[handle - 101][1]

    def device_cuda(self, handle):
        return self.KINDS[handle - 101][2]


@pytest.fixture
def three_devices(monkeypatch):
    monkeypatch.setattr(egl, "_loaded", Listed())
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")  # a desktop


def names(found):
    return [one.name for one in found]


def test_hardware_is_tried_first_and_software_last_and_then_the_drivers_choice(three_devices):
    assert names(candidates()) == ["device 1", "device 2", "device 0", "surfaceless", "default"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (0, ["device 0"]),
        (2, ["device 2"]),
        ("2", ["device 2"]),
        ("cuda:0", ["device 2"]),
        ("cuda:1", ["device 1"]),
        ("/dev/dri/renderD129", ["device 1"]),
        ("/dev/dri/card0", ["device 2"]),
        ("software", ["device 0", "surfaceless", "default"]),
        ("surfaceless", ["surfaceless"]),
        ("default", ["default"]),
    ],
)
def test_a_device_is_found_by_number_cuda_ordinal_path_or_kind(three_devices, wanted, expected):
    assert names(candidates(wanted)) == expected


@pytest.mark.parametrize("wanted", [3, "7", "cuda:5", "/dev/dri/renderD200", -1])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(three_devices, wanted):
    with pytest.raises(GpuUnavailableError) as caught:
        candidates(wanted)

    assert repr(wanted).strip("'") in str(caught.value)
    assert (
        "EGL lists: device 0 (software), device 1 (/dev/dri/card1, /dev/dri/renderD129, cuda:1), device 2"
        " (/dev/dri/card0, /dev/dri/renderD128, cuda:0); choose one of these devices, or none for "
        "automatic choice"
    ) in str(caught.value)


@pytest.mark.parametrize("wanted", ["gpu", "cuda", "cuda:x", "", True, 1.5])
def test_what_names_no_device_is_refused_with_what_would(three_devices, wanted):
    with pytest.raises(InvalidArgumentError, match=r'is no device, expected 0, 1, ..., "cuda:0", "software"'):
        candidates(wanted)


def test_a_device_says_what_it_is(three_devices):
    software, gpu, _ = device.devices()

    assert (str(software), software.is_software, software.cuda) == ("device 0 (software)", True, None)
    assert (gpu.index, gpu.cuda, gpu.files) == (1, 1, ("/dev/dri/card1", "/dev/dri/renderD129"))


def test_the_environment_chooses_where_the_program_does_not(make_context, monkeypatch):
    monkeypatch.setenv("PENSTOCK_GPU_DEVICE", " surfaceless ")

    assert make_context().device.name == "surfaceless"

    monkeypatch.setenv("PENSTOCK_GPU_DEVICE", "99")
    with pytest.raises(
        GpuUnavailableError, match=r"there is no device 99 \(from PENSTOCK_GPU_DEVICE\); EGL lists: "
    ):
        make_context()
    monkeypatch.setenv("PENSTOCK_GPU_DEVICE", "nonsense")
    with pytest.raises(InvalidArgumentError, match=r"'nonsense' \(from PENSTOCK_GPU_DEVICE\) is no device"):
        make_context()
    assert make_context(device="surfaceless").device.name == "surfaceless"


def test_where_there_is_no_desktop_the_default_says_so_and_asks_for_no_packages(make_context, monkeypatch):
    def no_display(self):
        raise egl.EglError("eglInitialize", egl.NOT_INITIALIZED)

    monkeypatch.setattr(device.GpuDevice, "display", no_display)
    with pytest.raises(GpuUnavailableError, match="EGL finds no desktop") as caught:
        make_context(device="default")

    assert "DISPLAY" in caught.value.cure
    assert "apt-get" not in str(caught.value)


@pytest.mark.parametrize("wanted", [None, "software"])
def test_the_default_display_is_tried_unasked_only_where_there_is_a_desktop(
    three_devices, monkeypatch, wanted
):
    assert names(candidates(wanted))[-2:] == ["surfaceless", "default"]

    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "EGL_PLATFORM"):
        monkeypatch.delenv(variable, raising=False)
    assert names(candidates(wanted))[-1] == "surfaceless"
    assert names(candidates("default")) == ["default"]


def test_every_device_that_is_listed_as_working_gives_a_context(make_context):
    for report in probe().devices:
        if report.works:
            where = report.device.name if report.device.index is None else report.device.index
            context = make_context(device=where)
            assert context.renderer == report.renderer
            assert context.is_software == report.is_software


def test_asked_for_software_a_context_draws_in_software(make_context):
    assert make_context(device="software").is_software


@pytest.mark.parametrize(
    ("renderer", "is_software"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True),
        ("SwiftShader Device (LLVM 16.0.0)", True),
        ("D3D12 (Microsoft Basic Render Driver)", True),
        ("zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits))", True),
        ("NVIDIA H200/PCIe/SSE2", False),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", False),
        ("D3D12 (NVIDIA GeForce RTX 3060)", False),
    ],
)
def test_a_renderer_that_draws_on_the_cpu_is_known_by_its_name(
    make_context, monkeypatch, renderer, is_software
):
    monkeypatch.setattr(device, "_SOFTWARE_EXTENSION", "EGL_none")
    monkeypatch.setattr(gl, "get_string", lambda _name: renderer)

    assert make_context().is_software == is_software


@pytest.mark.gpu
def test_asked_for_software_hardware_is_given_back_and_refused(make_context, monkeypatch):
    monkeypatch.setattr("penstock_gpu.contexts.context._SOFTWARE", ())
    monkeypatch.setattr(device, "_SOFTWARE_EXTENSION", "EGL_none")
    with pytest.raises(GpuUnavailableError, match="surfaceless with gl: draws with "):
        make_context(device="software")


@pytest.mark.gpu
def test_the_probe_says_what_a_context_would_be(make_context, monkeypatch):
    monkeypatch.delenv("PENSTOCK_GPU_DEVICE", raising=False)
    report = probe()
    context = make_context()

    assert report.chosen in report.devices
    assert report.chosen.works
    assert (report.chosen.device, report.chosen.api) == (context.device, context.api)
    assert report.chosen.version == ".".join(map(str, context.version))
    assert (report.chosen.vendor, report.chosen.renderer) == (context.vendor, context.renderer)
    assert (report.why_not, report.cure) == ("", "")


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("wanted", "why_not"),
    [("cuda:77", "there is no device 'cuda:77'"), ("nonsense", "'nonsense' is no device")],
)
def test_the_probe_says_why_the_environments_device_is_none(monkeypatch, wanted, why_not):
    monkeypatch.setenv("PENSTOCK_GPU_DEVICE", wanted)
    report = probe()

    assert report.chosen is None
    assert report.why_not.startswith(why_not)
    assert report.devices, "the devices are listed all the same"


@pytest.mark.gpu
def test_the_probe_leaves_no_thread_behind(monkeypatch):
    import threading  # to count

    before = threading.active_count()
    probe()
    assert threading.active_count() <= before
