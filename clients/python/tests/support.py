"""A real server, and a line to it that can be cut."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import tempfile
import threading
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
BINARY = os.environ.get("CHATWRIGHT_BINARY", str(ROOT / "target/debug/chatwright"))
START_SECONDS = 20


class Server:
    """A server with a database of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="chatwright-")
        database = f"sqlite://{self._folder.name}/chatwright.db"
        config = str(ROOT / "clients/test.yaml")
        command = [BINARY, "serve", "--addr", "127.0.0.1:0", "--database", database, "--config", config]
        self._process = subprocess.Popen(
            command, cwd=self._folder.name, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        timer = threading.Timer(START_SECONDS, self._process.kill)
        timer.start()
        assert self._process.stdout
        ready = (re.match(r"listening on (http://\S+)", line) for line in self._process.stdout)
        found = next((one for one in ready if one), None)
        timer.cancel()
        assert found, f"{BINARY} was not ready; build it with `cargo build --package server --features full`"
        self.url = found[1]

    def key(self, *scopes: str) -> str:
        """Returns an API key of the server's owner."""
        body = json.dumps({"name": "test", "scopes": scopes, "expiresInDays": 1}).encode()
        request = urllib.request.Request(f"{self.url}/api/keys", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as response:
            return str(json.load(response)["key"])

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()
        self._folder.cleanup()


class Line:
    """The line between a client and a server, which can be cut and mended."""

    def __init__(self, server: str) -> None:
        self._far = server.removeprefix("http://").split(":")
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_open = True
        self.url = ""

    async def __aenter__(self) -> Line:
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.url = "http://127.0.0.1:{}".format(self._listener.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.cut()
        self._listener.close()

    def cut(self) -> None:
        """Ends all connections, and lets none begin."""
        self._is_open = False
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        self._is_open = True

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_open:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(self._far[0], int(self._far[1]))
        pipes = [(reader, far_writer), (far_reader, writer)]
        await asyncio.gather(*(self._pipe(*pipe) for pipe in pipes))

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while data := await reader.read(4096):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass  # It was cut.
        finally:
            self._writers.discard(writer)
            writer.close()
