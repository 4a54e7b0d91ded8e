"""The rules, by what they look at."""
