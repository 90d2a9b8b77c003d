"""How the tools are served by MCP: what is published, and how a client's arguments are read."""
