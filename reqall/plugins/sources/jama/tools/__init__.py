"""The native tools for language models."""
