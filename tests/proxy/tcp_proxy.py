"""TcpProxy: stands before one server of any protocol and passes bytes, until it is told otherwise. For Kafka.

pass_on()  new connections go through (the state at the start)
refuse()   new connections are closed at once; those that are there stay
stall()    no byte moves any more, in either direction, and no connection ends: a cable that was pulled out
cut()      every connection is reset now
delay      seconds that each piece waits, both ways
"""
import asyncio
import socket
import struct

from proxy.loop_thread import LoopThread


class TcpProxy:
    def __init__(self, server_port, server_host="127.0.0.1", name="tcp"):
        self.server_port = server_port   # may be set later, when the server has to know the proxy first
        self._server_host = server_host
        self._thread = LoopThread(f"proxy {name}")
        self._writers = set()
        self._flows = asyncio.Event()
        self._refuses = False
        self.delay = 0.0
        self.connections = 0   # passed on
        self.refused = 0
        self.bytes = 0         # passed, both ways
        self.port = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        self._thread.loop.call_soon_threadsafe(self._flows.set)
        self._listener = self._thread.call(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._listener.sockets[0].getsockname()[1]

    def stop(self):
        self.cut()
        self._thread.call(self._close())
        self._thread.stop()

    async def _close(self):
        self._listener.close()

    def pass_on(self):
        self._refuses = False
        self._thread.loop.call_soon_threadsafe(self._flows.set)

    def refuse(self):
        self._refuses = True

    def stall(self):
        self._thread.loop.call_soon_threadsafe(self._flows.clear)

    def cut(self):
        """Returns how many connections were reset."""
        return self._thread.call(self._cut())

    async def _cut(self):
        writers = list(self._writers)
        for writer in writers:
            sock = writer.get_extra_info("socket")
            if sock is not None and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        return len(writers)

    async def _serve(self, reader, writer):
        if self._refuses:
            self.refused += 1
            writer.transport.abort()
            return
        self.connections += 1
        try:
            server_reader, server_writer = await asyncio.open_connection(self._server_host, self.server_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, server_writer}
        try:
            await asyncio.gather(self._pump(reader, server_writer), self._pump(server_reader, writer))
        finally:
            self._writers -= {writer, server_writer}

    async def _pump(self, reader, writer):
        try:
            while piece := await reader.read(65536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self._flows.wait()
                self.bytes += len(piece)   # before: who has got them may ask
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        finally:
            await self._flows.wait()
            writer.close()
