"""Side packets: made, and turned into streams and back."""
