"""What the pack needs of this machine: FFmpeg's libraries and encoders. Imported when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import DoctorCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Encoders that files get where nobody asks for another, and what they make. Source: `penstock_video.writer`.
_ENCODERS: Final = (("libx264", "H.264"), ("libvpx-vp9", "VP9"))
#: Those of its libraries whose version a report about a file needs.
_LIBRARIES: Final = ("libavcodec", "libavformat", "libswscale")


def checks() -> Iterator[DoctorCheck]:
    """Yield which libraries there are, and for each usual encoder whether it is there."""
    try:
        import av  # that it may fail is the question
    except Exception as error:  # noqa: BLE001  # a missing system library, half of an installation, ...
        said = f"{type(error).__name__}: {error}"
        yield DoctorCheck(
            "FFmpeg libraries", is_well=False, detail=said, cure="pip install --force-reinstall av"
        )
        return
    versions = av.library_versions
    said = ", ".join(
        f"{name} {'.'.join(map(str, versions[name]))}" for name in _LIBRARIES if name in versions
    )
    yield DoctorCheck("FFmpeg libraries", is_well=True, detail=f"PyAV {av.__version__}, {said}")
    for encoder, makes in _ENCODERS:
        yield _encoder(encoder, makes)


def _encoder(name: str, makes: str) -> DoctorCheck:
    import av.codec  # after `checks` has seen that it can be

    what = f"encoder for {makes}"
    try:
        found = av.codec.Codec(name, "w")
    except ValueError:
        cure = "use a PyAV wheel from PyPI, or name another codec in the encoder's options"
        return DoctorCheck(what, is_well=False, detail=f"this build has no {name!r}", cure=cure)
    return DoctorCheck(what, is_well=True, detail=found.name)
