"""What packs use that show something of theirs in a browser, behind the token and the limits of the page.

`listen` takes a port of this machine, `TlsFiles` are certificate and key, `VideoSite` serves a stream of
pictures or the files of HLS, `PictureSite` the picture of a graph file. `check_web` says what is to be
installed where a library is missing.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_live.listening import Address as Address
    from penstock_live.listening import TlsFiles as TlsFiles
    from penstock_live.listening import is_loopback as is_loopback
    from penstock_live.listening import listen as listen
    from penstock_live.needs import check_web as check_web
    from penstock_live.picture_site import PictureSite as PictureSite
    from penstock_live.video_site import VideoSite as VideoSite

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_live.listening": "Address TlsFiles is_loopback listen",
    "penstock_live.needs": "check_web",
    "penstock_live.picture_site": "PictureSite",
    "penstock_live.video_site": "VideoSite",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
