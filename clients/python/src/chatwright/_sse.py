"""A decoder of server-sent events."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

_LONGEST = 8 * 1024 * 1024
"""The longest event, in characters; the server's own limit is lower."""


class SseDecoder:
    """Decodes server-sent events; of their fields only `id` and `data` are used."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._id: str | None = None
        self._data: list[str] = []
        self._size = 0

    def push(self, data: bytes) -> Iterator[tuple[str | None, str]]:
        """Returns the events (id and data) that are complete with these bytes."""
        *lines, self._rest = (self._rest + self._text.decode(data)).split("\n")
        if len(self._rest) + self._size > _LONGEST:
            raise ValueError("an event of the stream is too long")
        for line in lines:
            line = line.removesuffix("\r")
            if not line:
                if self._data:
                    yield self._id, "\n".join(self._data)
                self._id, self._data, self._size = None, [], 0
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "id":
                self._id = value
            elif field == "data":
                self._data.append(value)
                self._size += len(value)
