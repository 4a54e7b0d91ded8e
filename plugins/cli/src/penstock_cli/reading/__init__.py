"""Commands that read traces, or the readings of a run."""
