"""Built-in fusers."""
