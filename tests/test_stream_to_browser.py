"""`examples/stream_to_browser.py`: prints an address that shows pictures, and ends on Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "stream_to_browser.py"


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_the_example_shows_pictures_until_ctrl_c():
    with subprocess.Popen(
        [sys.executable, str(EXAMPLE), "600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said = process.stdout.readline()
            address = re.fullmatch(r"open (http://127\.0\.0\.1:\d+/\?token=\S{32})\n", said)
            assert address, said
            video = address[1].replace("/?", "/video.mjpeg?")
            with urllib.request.urlopen(video, timeout=30) as answer:  # noqa: S310  # of this machine
                shown = answer.read(50_000)
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert shown.count(b"Content-Type: image/jpeg") > 1
    assert b"\xff\xd8\xff" in shown
    assert re.fullmatch(r"[1-9]\d* frames\n", rest), errors
    assert process.returncode == 0
