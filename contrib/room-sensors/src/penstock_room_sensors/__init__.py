"""The state of a room from what its sensors say."""
