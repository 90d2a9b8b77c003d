"""From Jama's rows to documents."""
