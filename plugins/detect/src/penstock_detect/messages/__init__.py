"""Messages of this pack."""
