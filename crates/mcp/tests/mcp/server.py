"""A server as people write them in Python."""

import base64

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def portrait() -> Image:
    """A picture."""
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    return Image(data=base64.b64decode(png), format="png")


@server.tool()
def fail() -> str:
    """Fails."""
    raise RuntimeError("out of paper")


server.run()
