"""An RTSP server for tests, by GStreamer: run by the Python of Debian, which has its bindings.

Serves /cam on 127.0.0.1, says "ready" when it listens, and ends when its stdin is closed.
"""

import argparse
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("port")
parser.add_argument("--size", default="320x180")
parser.add_argument("--rate", default="25")
parser.add_argument("--user", default="")
parser.add_argument("--password", default="")
given = parser.parse_args()

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(given.port)
factory = GstRtspServer.RTSPMediaFactory()
width, height = given.size.split("x")
factory.set_launch(
    f"( videotestsrc is-live=true ! video/x-raw,width={width},height={height},framerate={given.rate}/1 "
    f"! x264enc tune=zerolatency speed-preset=ultrafast key-int-max={given.rate} "
    "! rtph264pay name=pay0 pt=96 )"
)
factory.set_shared(True)
if given.user:
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(given.user, given.password), token)
    server.set_auth(auth)
    factory.add_role_from_structure(
        Gst.Structure.from_string(
            "user, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"
        )[0]
    )
server.get_mount_points().add_factory("/cam", factory)
loop = GLib.MainLoop()
if not server.attach(None):
    sys.exit("the port is taken")
threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
sys.stdout.write("ready\n")
sys.stdout.flush()
loop.run()
