"""What libav may do with a file or address that a graph names, where the application limits the graph.

libav follows what media files say: playlists and lists of parts name other files and addresses. So a limited
graph gets containers that hold their data themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.access import is_address

if TYPE_CHECKING:
    from penstock.access import Access

#: Demuxers of libav that open nothing else.
_WHOLE: Final = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,gif,h264,hevc,ivf,m4v,matroska,mjpeg,mov,mp3,mpeg,mpegts,"
    "mpegvideo,mpjpeg,mxf,nut,ogg,rm,rtsp,sdp,w64,wav,wv,yuv4mpegpipe"
)
_NETWORK: Final = "http,https,httpproxy,rtmp,rtmps,rtp,rtsp,srt,tcp,tls,udp"


def libav_options(access: Access, name: str) -> dict[str, str]:
    """Return the options with which libav opens a file or address; none where the graph is not limited.

    Args:
        access: of the graph.
        name: what `Access.medium` returned. A server at an allowed address may lead libav to others.
    """
    if is_address(name):
        limited, protocols = access.is_limited("connects"), _NETWORK
    else:
        limited, protocols = access.is_limited("reads"), "file"
    return {"protocol_whitelist": protocols, "format_whitelist": _WHOLE} if limited else {}
