"""Sound files, read and written."""
