"""Checks of FFmpeg's libraries and encoders, and their licences. Imported when `penstock doctor` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import DoctorCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Endings of files whose default encoder is checked.
_ENDINGS: Final = (".mp4", ".mov", ".webm")
#: The format that each default encoder makes.
_MAKES: Final = {"libx264": "H.264", "libsvtav1": "AV1", "libvpx-vp9": "VP9", "mpeg4": "MPEG-4 part 2"}
#: FFmpeg's libraries whose version a bug report about a file needs.
_LIBRARIES: Final = ("libavcodec", "libavformat", "libswscale")


def checks(encoders: Sequence[tuple[str, str]] | None = None) -> Iterator[DoctorCheck]:
    """Yield a check of the libraries, and one for each encoder.

    Args:
        encoders: libav's name of each encoder to look for, and the format that it makes; None: those that
            files get by default.
    """
    try:
        import av  # whether this fails is what the check reports
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
    yield DoctorCheck(
        "FFmpeg libraries", is_well=True, detail=f"PyAV {av.__version__}, {said}{_own_licence()}"
    )
    if encoders is None:
        from penstock_video.libav_encoders import default_encoder

        usual = dict.fromkeys(map(default_encoder, _ENDINGS))
        encoders = [(name, _MAKES[name]) for name in usual]
    for encoder, makes in encoders:
        yield _encoder(encoder, makes)


def _encoder(name: str, makes: str) -> DoctorCheck:
    import av.codec  # `checks` has imported av before

    from penstock_video.libav_encoders import licence

    what = f"encoder for {makes}"
    try:
        found = av.codec.Codec(name, "w")
    except ValueError:
        cure = "use a PyAV wheel from PyPI, or name another codec in the encoder's options"
        return DoctorCheck(what, is_well=False, detail=f"this build has no {name!r}", cure=cure)
    return DoctorCheck(what, is_well=True, detail=f"{found.name}, licence {licence(name)}")


def _own_licence() -> str:
    """Return what FFmpeg's build says of its licence; "" where PyAV does not tell.

    The word covers FFmpeg's own code. Libraries that it loads, such as libx264, have other licences.
    """
    import av

    meta = getattr(getattr(av, "_core", None), "library_meta", {})
    said = meta.get("libavcodec", {}).get("license", "")
    return f", licence of FFmpeg itself: {said}" if said else ""
