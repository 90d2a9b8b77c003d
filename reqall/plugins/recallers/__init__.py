"""Built-in recallers."""
