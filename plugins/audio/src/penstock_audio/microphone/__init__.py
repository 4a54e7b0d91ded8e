"""Sound of a microphone."""
