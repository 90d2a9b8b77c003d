"""Tries one plugin in a process of its own: what it does at import, builds, and the laws of its kinds."""
