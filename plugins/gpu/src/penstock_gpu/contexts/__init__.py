"""GL contexts: how they are found, made, shared and ended, and the threads that their jobs run on."""
