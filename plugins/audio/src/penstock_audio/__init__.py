"""Sound as streams: decoded, resampled, framed, as spectra and features. `plugin` lists the names."""
