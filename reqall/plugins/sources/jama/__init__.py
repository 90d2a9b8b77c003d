"""The Jama Connect source."""
