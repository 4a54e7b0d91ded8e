"""What libav may do with a file or address that a graph names, where the application limits the graph.

libav follows what media files say: playlists, descriptions of sessions and lists of parts name other files
and addresses. So a limited graph gets containers that hold their data themselves. A web server may lead a
limited graph nowhere else. libav has no such limit for servers of RTSP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.access import is_address

if TYPE_CHECKING:
    from penstock.access import Access

#: Demuxers of libav that open nothing else.
_WHOLE: Final = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,gif,h264,hevc,ivf,m4v,matroska,mjpeg,mov,mp3,mpeg,mpegts,"
    "mpegvideo,mpjpeg,mxf,nut,ogg,rm,rtsp,w64,wav,wv,yuv4mpegpipe"
)
_NETWORK: Final = "http,https,httpproxy,rtmp,rtmps,rtp,rtsp,srt,tcp,tls,udp"


def libav_options(access: Access, name: str) -> dict[str, str]:
    """Return the options with which libav opens a file or address; none where the graph is not limited.

    Args:
        access: of the graph.
        name: what `Access.medium` returned. An RTSP server at an allowed address may lead libav to others.
    """
    if is_address(name):
        if not access.is_limited("connects"):
            return {}
        return {"protocol_whitelist": _NETWORK, "format_whitelist": _WHOLE, "max_redirects": "0"}
    if not access.is_limited("reads"):
        return {}
    return {"protocol_whitelist": "file", "format_whitelist": _WHOLE}
