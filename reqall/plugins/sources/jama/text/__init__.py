"""Jama's rich text to clean text."""
