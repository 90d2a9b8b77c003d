"""The engine: knows nothing of any source, model or transport."""
