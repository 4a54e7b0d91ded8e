"""What the outputs of detectors are, and how they become boxes."""
