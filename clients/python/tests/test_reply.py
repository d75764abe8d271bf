"""How an answer is read from streams that a server rarely sends."""

from __future__ import annotations

import json
from typing import Any
from unittest import IsolatedAsyncioTestCase, TestCase

import httpx

from chatwright import Chatwright, Message, TextDelta, events
from chatwright._events import Chunk, parse_event
from chatwright._reducer import Reducer
from chatwright._sse import SseDecoder

BEGIN: list[Chunk] = [{"type": "start", "messageId": "a"}, {"type": "start-step"}, {"type": "text-start", "id": "t"}]
END: list[Chunk] = [{"type": "text-end", "id": "t"}, {"type": "finish-step"}, {"type": "finish", "finishReason": "stop"}]
GAP = 'data: {"type":"data-gap","data":{},"transient":true}\n\ndata: [DONE]\n\n'
USER = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
POST, STREAM, LOAD = "POST helper", "GET stream", "GET c"


def delta(text: str) -> Chunk:
    return {"type": "text-delta", "id": "t", "delta": text}


def stream(chunks: list[Chunk], *, first: int | None = 1, is_whole: bool = True) -> str:
    """Returns events, with cursors that begin at a number or without."""
    lines = [
        ("" if first is None else f"id: 1.{first + at}\n") + f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
        for at, chunk in enumerate(chunks)
    ]
    return ": keep-alive\n\n" + "".join(lines) + ("data: [DONE]\n\n" if is_whole else "")


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": "a", "role": "assistant", "parts": [{"type": "step-start"}, *parts]}


def part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "state": "done"}


class Script:
    """A server that gives these responses in this order: a stream, nothing, or the messages of a conversation."""

    def __init__(self, *responses: str | None | list[dict[str, Any]]) -> None:
        self.responses = list(responses)
        self.asked: list[str] = []
        self.client = Chatwright("http://server", http=httpx.AsyncClient(transport=httpx.MockTransport(self._respond)))

    def _respond(self, request: httpx.Request) -> httpx.Response:
        cursor = request.headers.get("last-event-id")
        name = request.url.path.rsplit("/", 1)[-1]
        self.asked.append(f"{request.method} {name}" + (f" after {cursor}" if cursor else ""))
        response = self.responses.pop(0)
        if response is None:
            return httpx.Response(204)
        if isinstance(response, list):
            view = {"id": "c", "title": "", "running": False, "waiting": False, "messages": response}
            return httpx.Response(200, json=view)
        return httpx.Response(200, content=response.encode())


class ReplyTest(IsolatedAsyncioTestCase):
    async def check(self, script: Script, asked: list[str], text: str, snapshots: int = 0) -> None:
        reply = script.client.chat("helper", conversation="c").send("Hi", id="u")
        read, seen, kinds = "", 0, []
        async for event in reply:
            kinds.append(type(event))
            if isinstance(event, TextDelta):
                read += event.delta
            if isinstance(event, events.Snapshot):
                read, seen = event.message.text, seen + 1
        self.assertEqual((script.asked, read, seen), (asked, text, snapshots))
        self.assertEqual((await reply).text, text)
        self.assertEqual((kinds.count(events.Start), kinds[-1]), (1, events.Finish))

    async def test_a_broken_stream_goes_on_after_its_newest_event(self) -> None:
        begun = stream([*BEGIN, delta("Grü")], is_whole=False)
        script = Script(begun, stream([delta("ße"), *END], first=5))
        await self.check(script, [POST, f"{STREAM} after 1.4"], "Grüße")

    async def test_what_was_missed_for_good_comes_from_the_conversation(self) -> None:
        cut = stream([*BEGIN, delta("one")], is_whole=False)
        asked = [POST, f"{STREAM} after 1.4", LOAD]
        await self.check(Script(cut, None, [USER, answer(part("one two"))]), asked, "one two")
        # A text that does not continue the words that were read replaces them.
        await self.check(Script(cut, None, [USER, answer(part("two"))]), asked, "two", snapshots=1)

    async def test_after_a_gap_the_answer_is_read_from_its_beginning(self) -> None:
        cut = stream([*BEGIN, delta("one")], is_whole=False)
        whole = stream([*BEGIN, delta("o"), delta("ne"), delta(" two"), *END])
        await self.check(Script(cut, GAP, whole), [POST, f"{STREAM} after 1.4", STREAM], "one two")
        ended = Script(cut, GAP, None, [USER, answer(part("one two"))])
        await self.check(ended, [POST, f"{STREAM} after 1.4", STREAM, LOAD], "one two")

    async def test_a_request_without_a_response_is_sent_again(self) -> None:
        await self.check(Script("", stream([*BEGIN, delta("one"), *END])), [POST, POST], "one")

    async def test_answers_that_leave_calls_open_change_only_what_they_must(self) -> None:
        def call(id: str, state: str) -> dict[str, Any]:
            approval = {"id": f"ask-{id}", **({"approved": True} if state == "approval-responded" else {})}
            return {"type": "tool-send", "toolCallId": id, "state": state, "input": {}, "approval": approval}

        before = answer(call("c1", "approval-requested"), call("c2", "approval-requested"))
        after = answer(call("c1", "approval-responded"), call("c2", "approval-requested"))

        def request(id: str, **decision: bool) -> list[Chunk]:
            return [
                {"type": "tool-input-available", "toolCallId": id, "toolName": "send", "input": {}},
                {"type": "tool-approval-request", "toolCallId": id, "approvalId": f"ask-{id}", **decision},
            ]

        whole = stream([*BEGIN[:2], *request("c1", approved=True), *request("c2"), *END[1:]], first=None)
        script = Script([USER, before], whole, [USER, after])
        message = await script.client.chat("helper", conversation="c").approve("c1")
        self.assertEqual((script.asked, message.parts), ([LOAD, POST, LOAD], after["parts"]))


class PartsTest(TestCase):
    def test_events_have_types(self) -> None:
        def check(chunk: Chunk, expected: events.Event) -> None:
            self.assertEqual(parse_event(chunk), expected)

        chunk: Chunk = {"type": "tool-input-available", "toolCallId": "c", "toolName": "t", "input": 1}
        check(chunk, events.ToolInputAvailable(chunk, "c", "t", 1))
        chunk = {"type": "data-mood", "data": "good", "transient": True}
        check(chunk, events.Data(chunk, "data-mood", None, "good", True))
        chunk = {"type": "of-tomorrow"}
        check(chunk, events.Event(chunk))

    def test_chunks_build_messages(self) -> None:
        def check(chunks: list[Chunk], parts: list[dict[str, Any]]) -> None:
            reducer = Reducer()
            for chunk in chunks:
                reducer.apply(chunk)
            self.assertEqual(reducer.message, Message("", "assistant", parts))

        call = {"toolCallId": "c", "toolName": "find"}
        failed = {"type": "tool-input-error", **call, "input": "x", "errorText": "bad"}
        check(
            [{"type": "tool-input-start", **call, "dynamic": True, "title": "Find"}, failed],
            [
                {
                    "type": "dynamic-tool",
                    "toolName": "find",
                    "toolCallId": "c",
                    "state": "output-error",
                    "title": "Find",
                    "input": "x",
                    "errorText": "bad",
                }
            ],
        )
        check(
            [
                {"type": "data-mood", "id": "1", "data": "good"},
                {"type": "data-mood", "id": "1", "data": "better"},
                {"type": "data-mood", "data": "x", "transient": True},
                {"type": "text-delta", "id": "unknown", "delta": "x"},
            ],
            [{"type": "data-mood", "id": "1", "data": "better"}],
        )

    def test_events_are_decoded_from_any_pieces_within_a_bound(self) -> None:
        data = ": comment\r\nid: 1.1\r\ndata: ä\r\ndata:b\r\n\r\ndata: c\n\n".encode()
        for size in range(1, len(data) + 1):
            decoder = SseDecoder()
            found = [event for at in range(0, len(data), size) for event in decoder.push(data[at : at + size])]
            self.assertEqual(found, [("1.1", "ä\nb"), (None, "c")])
        decoder = SseDecoder()
        with self.assertRaises(ValueError):
            for _ in range(10):
                list(decoder.push(b"x" * 1024 * 1024))
