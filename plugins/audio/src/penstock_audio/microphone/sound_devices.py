"""The sound devices of this machine that record, through sounddevice and PortAudio."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final

from penstock.errors import FailedPreconditionError, InvalidArgumentError

_INSTALL: Final = 'pip install "penstock-audio[microphone]"'
#: What brings PortAudio where sounddevice's wheels do not have it.
_PORTAUDIO: Final = "apt-get install libportaudio2 (on Debian and Ubuntu; elsewhere the package of PortAudio)"


def sounddevice() -> Any:
    """Return the module sounddevice.

    Raises:
        FailedPreconditionError: it is not installed, or the system has no PortAudio; has the command that
            brings what is missing.
    """
    try:
        return import_module("sounddevice")
    except ImportError as error:
        raise FailedPreconditionError(
            f"a microphone needs sounddevice, which cannot be imported ({error}); run: {_INSTALL}"
        ) from error
    except OSError as error:  # it loads PortAudio when it is imported
        cure = _PORTAUDIO if sys.platform.startswith("linux") else f"{_INSTALL} --force-reinstall"
        raise FailedPreconditionError(
            f"a microphone needs PortAudio, which cannot be loaded ({error}); run: {cure}"
        ) from error


def check_microphone(device: str = "") -> str:
    """Return the name of a microphone, if it is there.

    Args:
        device: its number, or a part of its name; "": the default one of the system.

    Raises:
        FailedPreconditionError: what is needed is not installed; has the command that brings it.
        InvalidArgumentError: there is no such microphone; lists those that there are.
    """
    sd = sounddevice()
    try:
        return str(sd.query_devices(device_of(device), "input")["name"])
    except (ValueError, sd.PortAudioError) as error:
        what = f"microphone {device!r}" if device else "the default microphone"
        there = [
            f"{i} {one['name']!r}" for i, one in enumerate(sd.query_devices()) if one["max_input_channels"]
        ]
        known = f"there are {', '.join(there)}" if there else "this machine has no microphone"
        raise InvalidArgumentError(
            f"{what} cannot be used as a sound device: {said_by(error)}; {known}"
        ) from error


def device_of(device: str) -> int | str | None:
    """Return what sounddevice takes for a device: a number, a part of a name, or None for the default."""
    return int(device) if device.isdecimal() else device or None


def said_by(error: Exception) -> str:
    """Return what an error of PortAudio says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
