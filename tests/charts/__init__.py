"""Charts: what they say, not how they look."""
