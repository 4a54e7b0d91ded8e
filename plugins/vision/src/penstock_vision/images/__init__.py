"""Images and masks: handles, sizes, motion between frames."""
