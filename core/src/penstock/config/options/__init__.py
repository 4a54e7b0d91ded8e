"""Options: which a graph gives to a place, as messages or as instances of attrs classes."""
