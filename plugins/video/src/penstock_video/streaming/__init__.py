"""Live sinks: frames as they come, to a server (RTSP, RTMP), by UDP, as HLS, or to browsers over HTTP."""
