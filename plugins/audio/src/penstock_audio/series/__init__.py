"""Series of samples: resampled, framed, filtered, one matrix for each."""
