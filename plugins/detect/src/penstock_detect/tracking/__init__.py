"""Which detection of a frame is which object of the frames before."""
