"""Pictures in files as streams of frames, and frames as files of pictures."""
