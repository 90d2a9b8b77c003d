"""The browse tools: what the files hold, read live; they need no index."""
