"""Built-in expanders."""
