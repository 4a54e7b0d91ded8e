"""Network cameras, streams and cameras of this machine: frames that come in real time."""
