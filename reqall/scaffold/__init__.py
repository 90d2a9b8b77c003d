"""Writes packages for plugins: checked names, templates, and a folder that is whole or not there."""
