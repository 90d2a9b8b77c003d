"""The HTTP server under the simulator: uvicorn, quiet, quick to stop, able to cut a connection."""

import asyncio
import socket
import struct

import uvicorn  # noqa: TID253 - who imports the simulator's server wants it to run

from reqall.testing.jama_simulator.app import Door

_TICK = 0.02


class HttpServer(uvicorn.Server):
    """A uvicorn server on a socket that already listens."""

    def __init__(self, door: Door) -> None:
        """Serve the door; uvicorn's own logging stays off."""
        super().__init__(
            uvicorn.Config(
                door,
                http="h11",
                ws="none",
                lifespan="off",
                loop="asyncio",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                timeout_keep_alive=60,
            )
        )
        door.reset = self.reset

    async def main_loop(self) -> None:
        """Run until told to stop, which is seen within a fiftieth of a second."""
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110 - set from other threads and by signals
            await asyncio.sleep(_TICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop at once: a client that still waits for an answer is cut off."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in self.server_state.tasks:
            task.cancel()
        for listener in sockets or []:
            listener.close()
        # One turn of the loop each for the aborted transports and the cancelled tasks.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def reset(self, client: tuple[str, int]) -> None:
        """Break a client's connection with a TCP reset, no answer sent."""
        for connection in list(self.server_state.connections):
            if getattr(connection, "client", None) == client:
                peer = connection.transport.get_extra_info("socket")
                # To linger for no time makes the close a reset.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.transport.abort()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface; port 0 takes a free one."""
    # asyncio turns Nagle's delay off only where the protocol is named: 40 ms a request otherwise.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener
