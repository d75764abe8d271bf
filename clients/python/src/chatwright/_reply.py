"""The answer of an agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

from ._errors import AnswerError, ChatwrightError, ConnectionFailed, GoneError, RequestError
from ._events import Chunk, Event, TextDelta, parse_event
from ._messages import Conversation, Message
from ._reducer import Reducer, catch_up, is_behind
from ._sse import SseDecoder

_BACKOFF = (0.1, 0.5, 1, 2, 4, 8, 15)
"""The waits before attempts to reconnect, in seconds. An event that arrives begins them anew."""
_DONE = "[DONE]"


@dataclass
class Source:
    """Where an answer comes from."""

    conversation: str
    open: Callable[[], Awaitable[httpx.Response | None]]
    """Sends the request that makes the answer; `None` if there is none."""
    is_idempotent: bool
    """Whether the request can be sent twice with the effect of once."""
    find: Callable[[Conversation], Message | None]
    """Returns the answer when it is not known by its id; `None` if the request had no effect."""
    resume: Callable[[str | None], Awaitable[httpx.Response | None]]
    """Reads the answer in progress, after a cursor or from its beginning; `None` if there is none."""
    load: Callable[[], Awaitable[Conversation]]
    stop: Callable[[], Awaitable[None]]
    base: Callable[[], Message | None] = lambda: None
    """Returns the message that the answer continues, known once the request was sent."""


class Reply:
    """An answer. It is read event by event, with `async for`, or awaited as a whole. It reconnects when the connection
    breaks, and each part of the answer is read once.

    The request is sent when the reading begins. The answer belongs to the server: to end the loop only ends the reading.
    Use `async with`, or `aclose`, where a loop may end early; `stop` stops the answer.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._reducer = Reducer()
        self._second: Reducer | None = None
        self._cursor: str | None = None
        self._has_begun = False
        self._is_complete = False
        self._is_behind = False
        self._is_old = False
        self._failure: str | None = None
        self._error: BaseException | None = None
        self._is_over = False
        self._events = self._run()

    @property
    def conversation(self) -> str:
        """The id of the conversation."""
        return self._source.conversation

    @property
    def message(self) -> Message:
        """The message so far."""
        return self._reducer.message

    async def stop(self) -> None:
        """Stops the answer on the server. The text received so far is kept."""
        await self._source.stop()

    async def aclose(self) -> None:
        """Ends the reading; the answer goes on."""
        await self._events.aclose()

    async def texts(self) -> AsyncIterator[str]:
        """The text of the answer, as it is written."""
        async for event in self:
            if isinstance(event, TextDelta):
                yield event.delta

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        return await self._events.__anext__()

    def __await__(self) -> Generator[Any, None, Message]:
        return self._finished().__await__()

    async def __aenter__(self) -> Reply:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _finished(self) -> Message:
        async for _ in self:
            pass
        if self._error:
            raise self._error
        if not self._is_over:
            raise ChatwrightError("The reading was ended before the answer has.")
        return self.message

    async def _run(self) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(self._read()) as chunks:
                async for chunk in chunks:
                    yield parse_event(chunk)
            message = self.message
            outcome = None if self._is_old else message.outcome
            if self._failure is not None or outcome in ("failed", "interrupted"):
                told = message.metadata.get("error", {}).get("message")
                raise AnswerError(told or self._failure or "The answer was interrupted.", message, outcome or "failed")
            self._is_over = True
        except Exception as error:
            self._error = error
            raise

    async def _read(self) -> AsyncGenerator[Chunk, None]:
        source = self._source
        attempt = 0
        broken: ConnectionFailed | None = None
        response: httpx.Response | None = None
        stored: Conversation | None = None
        try:
            response = await source.open()
            if response is None:
                self._settle(await source.load())
                return
            self._begin()
        except ConnectionFailed as error:
            broken = error
        while True:
            if stored:
                for chunk in self._complete(stored):
                    yield chunk
                return
            if response is not None:
                try:
                    async for event_id, data in _events(response):
                        attempt = 0
                        for chunk in self._accept(event_id, data):
                            yield chunk
                        if self._is_complete and data == _DONE:
                            return
                        if self._is_behind:
                            for chunk in self._complete(await source.load()):
                                yield chunk
                            return
                except ConnectionFailed as error:
                    broken = error
                finally:
                    await response.aclose()
            # A stream that ends without its last event was cut off.
            response = None
            if attempt == len(_BACKOFF):
                raise broken or ConnectionFailed("The connection broke.")
            wait = _BACKOFF[attempt]
            attempt += 1
            while not response and not stored:
                await asyncio.sleep(wait)
                try:
                    response = await self._reconnect()
                    if response is None:
                        stored = await source.load()
                except (ConnectionFailed, RequestError) as error:
                    is_refused = isinstance(error, RequestError) and error.status < 500 and error.status != 429
                    if is_refused or attempt == len(_BACKOFF):
                        raise
                    wait = _BACKOFF[attempt]
                    if isinstance(error, RequestError):
                        wait = max(wait, error.retry_after or 0)
                    attempt += 1

    def _begin(self) -> None:
        base = self._source.base()
        if base and not self._has_begun:
            self._reducer = Reducer(base)

    async def _reconnect(self) -> httpx.Response | None:
        """Returns the response that goes on, or `None` if the answer has ended."""
        source = self._source
        if self._has_begun:
            # From the beginning, if the server cannot repeat what follows the newest event.
            if self._cursor is None:
                self._second = Reducer()
            return await source.resume(self._cursor)
        if source.is_idempotent:
            return await source.open()
        running = await source.resume(None)
        self._begin()
        if running is not None:
            self._second = Reducer()
            return running
        return None if source.find(await source.load()) else await source.open()

    def _settle(self, conversation: Conversation) -> None:
        """Takes the newest answer of a conversation in which none is in progress."""
        found = self._source.find(conversation)
        if not found:
            raise GoneError("The conversation has no answer.")
        self._is_old = True
        self._reducer.reset(found)

    def _complete(self, conversation: Conversation) -> Generator[Chunk, None, None]:
        """Adds what the conversation has of the answer and what was not received."""
        own_id = self._reducer.id
        same = (message for message in conversation.messages if message.id == own_id)
        found = next(same, None) if self._has_begun else self._source.find(conversation)
        if not found:
            raise GoneError("The conversation no longer has this answer.")
        yield from catch_up(self._reducer, found)
        if not self._is_complete:
            self._is_complete = True
            reason = found.metadata.get("finishReason")
            yield {"type": "finish", "finishReason": reason} if reason else {"type": "finish"}

    def _accept(self, event_id: str | None, data: str) -> Generator[Chunk, None, None]:
        """Applies an event; returns what the reader is told."""
        if data == _DONE:
            if self._is_complete:
                return
            raise ConnectionFailed("The answer broke off.")
        try:
            chunk: Chunk = json.loads(data)
        except ValueError as error:
            raise ChatwrightError("The server's answer cannot be read.") from error
        if chunk["type"] == "data-gap":
            self._cursor = None
            raise ConnectionFailed("The server cannot repeat a part of the answer.")
        # A continuation that is not streamed by a run is the whole message: it has no cursors.
        if not self._has_begun and event_id is None and self._source.base():
            self._second = Reducer()
        self._has_begun = True
        self._cursor = event_id or self._cursor
        is_end = chunk["type"] in ("finish", "abort", "error")
        if chunk["type"] == "error":
            self._failure = chunk["errorText"]
        if self._second is None:
            self._reducer.apply(chunk)
            self._is_complete = self._is_complete or is_end
            yield chunk
            return
        self._second.apply(chunk)
        message = self._second.message
        if not is_behind(message, self._reducer.message):
            yield from catch_up(self._reducer, message)
        elif is_end:
            self._is_behind = True
            return
        self._is_complete = self._is_complete or is_end
        if is_end or chunk.get("transient"):
            yield chunk


async def _events(response: httpx.Response) -> AsyncGenerator[tuple[str | None, str], None]:
    decoder = SseDecoder()
    try:
        async for data in response.aiter_bytes():
            for event in decoder.push(data):
                yield event
    except httpx.TransportError as error:
        raise ConnectionFailed(f"the connection broke: {error or type(error).__name__}") from error
    except ValueError as error:
        raise ChatwrightError("The server's answer cannot be read.") from error
