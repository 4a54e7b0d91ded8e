"""What logs with Rerun's SDK, in a process of its own: the SDK waits without end for a viewer."""
