"""Runs the MCP server from a checkout: `python server.py`."""

from reqall.server import main

main()
