"""An executor whose nodes work in other processes, with frames in shared memory."""
