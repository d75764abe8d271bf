"""A chat with an agent."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypedDict

import httpx

from ._errors import GoneError, NotPendingError, RequestError
from ._http import Http
from ._messages import Conversation, Message, Part
from ._reply import Reply, Source


class Choices(TypedDict, total=False):
    """What is said with each request. What a user chooses counts where the agent allows a choice."""

    model: str
    """The id of the model."""
    thinking: bool
    """Whether the model thinks before it answers."""
    plan_mode: bool
    """Whether the agent writes a plan."""
    documents: bool
    """Whether the agent searches documents."""
    libraries: list[str]
    """The ids of the libraries that it searches."""
    web: bool
    """Whether the agent uses the web."""
    delegate: bool
    """Whether the agent may hand tasks to a copy of itself."""
    switches: dict[str, bool]
    """The states of the composer's switches."""
    url_query: dict[str, Any]
    """What expressions of the config read as the query of the page."""


_BODY_KEYS = {"plan_mode": "planMode", "url_query": "urlQuery"}

SharedState = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


class Answer(TypedDict, total=False):
    """An answer to a call that waits: a decision, or the result of a tool that the program runs."""

    tool_call_id: str
    approved: bool
    reason: str
    """For the model, with a decision."""
    output: Any
    error_text: str


class Chat:
    """A chat with an agent in one conversation."""

    def __init__(
        self,
        http: Http,
        agent: str,
        page: str | None,
        conversation: str | None,
        block: str | None,
        shared_state: SharedState | None,
        choices: Choices,
    ) -> None:
        self._http = http
        self.agent = agent
        self.page = page or agent
        self.conversation = conversation or new_id()
        """The id of the conversation. It exists on the server once a message was sent."""
        self._block = block
        self._shared_state = shared_state
        self._choices = choices
        self._path = ["api", "agent", self.page, agent]

    def send(
        self,
        text: str = "",
        *,
        files: Sequence[Part] = (),
        parts: Sequence[Part] = (),
        id: str | None = None,
        history: Sequence[Message] = (),
        choices: Choices | None = None,
    ) -> Reply:
        """Sends a message; the reply is the answer. A new conversation begins with the messages of `history`."""
        message = _message(text, files, parts, id)
        body = {"messages": [*(earlier.to_json() for earlier in history), message]}

        def find(conversation: Conversation) -> Message | None:
            ids = [one.id for one in conversation.messages]
            following = conversation.messages[ids.index(message["id"]) + 1 :] if message["id"] in ids else []
            return following[0] if following and following[0].role == "assistant" else None

        # The id of the message is the idempotency key.
        return self._reply(lambda: self._post(body, choices), is_idempotent=True, find=find)

    def edit(
        self,
        message_id: str,
        text: str = "",
        *,
        files: Sequence[Part] = (),
        parts: Sequence[Part] = (),
        choices: Choices | None = None,
    ) -> Reply:
        """Sends another version of a message of the user. The old one stays on a branch of its own."""
        message = _message(text, files, parts, message_id)
        return self._another({"messageId": message_id, "messages": [message]}, choices)

    def regenerate(self, message_id: str | None = None, *, choices: Choices | None = None) -> Reply:
        """Answers again: the newest message, or the one that the message with this id answered."""
        body = {"trigger": "regenerate-message", **({"messageId": message_id} if message_id else {})}
        return self._another(body, choices)

    def _another(self, body: dict[str, Any], choices: Choices | None) -> Reply:
        """Sends what makes another answer, which must not be sent twice."""
        before: set[str] = set()

        async def open_() -> httpx.Response:
            messages = (await self.load()).messages
            if not messages:
                raise GoneError("The conversation has no message.")
            if not before:
                before.update(message.id for message in messages)
            newest = messages[-1]
            return await self._post({"messages": [newest.to_json()], "messageId": newest.id, **body}, choices)

        def find(conversation: Conversation) -> Message | None:
            new = [one for one in conversation.messages if one.role == "assistant" and one.id not in before]
            return new[-1] if new else None

        return self._reply(open_, is_idempotent=False, find=find)

    def answer(self, answers: Sequence[Answer], *, choices: Choices | None = None) -> Reply:
        """Answers calls of the newest message that wait. The reply goes on once none waits."""
        base: list[Message] = []

        async def open_() -> httpx.Response:
            messages = (await self.load()).messages
            if not base:
                base.append(_fill(messages[-1] if messages else None, answers))
            return await self._post({"messages": [base[0].to_json()]}, choices)

        def find(conversation: Conversation) -> Message | None:
            same = [one for one in conversation.messages if base and one.id == base[0].id]
            pending = {call.id for one in same for call in one.pending_calls}
            return same[0] if same and not any(one["tool_call_id"] in pending for one in answers) else None

        return self._reply(open_, is_idempotent=False, find=find, base=lambda: base[0] if base else None)

    def approve(self, tool_call_id: str, *, reason: str | None = None, choices: Choices | None = None) -> Reply:
        """Approves a call."""
        return self._decide(tool_call_id, True, reason, choices)

    def deny(self, tool_call_id: str, *, reason: str | None = None, choices: Choices | None = None) -> Reply:
        """Denies a call; the model reads the reason."""
        return self._decide(tool_call_id, False, reason, choices)

    def _decide(self, call_id: str, approved: bool, reason: str | None, choices: Choices | None) -> Reply:
        answer: Answer = {"tool_call_id": call_id, "approved": approved}
        if reason is not None:
            answer["reason"] = reason
        return self.answer([answer], choices=choices)

    def resume(self) -> Reply:
        """Reads the answer in progress, from its beginning. If there is none, the reply has no events, and its message
        is the newest answer."""

        def find(conversation: Conversation) -> Message | None:
            answers = [one for one in conversation.messages if one.role == "assistant"]
            return answers[-1] if answers else None

        return self._reply(lambda: self._stream(None), is_idempotent=True, find=find)

    async def stop(self) -> None:
        """Stops the answer in progress. The text received so far is kept."""
        await self._http.read("POST", [*self._path, self.conversation, "stop"])

    async def load(self) -> Conversation:
        """Loads the conversation with its messages."""
        return Conversation.from_json(await self._http.json("GET", ["api", "conversations", self.conversation]))

    def _reply(self, open_: Callable[[], Awaitable[httpx.Response | None]], **source: Any) -> Reply:
        own: dict[str, Any] = {"resume": self._stream, "load": self.load, "stop": self.stop}
        return Reply(Source(self.conversation, open_, **own, **source))

    async def _post(self, body: dict[str, Any], choices: Choices | None) -> httpx.Response:
        state = self._shared_state() if callable(self._shared_state) else self._shared_state
        said = {**self._choices, **(choices or {})}
        json = {_BODY_KEYS.get(key, key): value for key, value in said.items()}
        if state is not None:
            json["sharedState"] = dict(state)
        if self._block is not None:
            json["blockId"] = self._block
        query = {"conversationId": self.conversation}
        return await self._http.stream("POST", self._path, query=query, json={**json, **body})

    async def _stream(self, cursor: str | None) -> httpx.Response | None:
        headers = {} if cursor is None else {"last-event-id": cursor}
        try:
            response = await self._http.stream("GET", [*self._path, self.conversation, "stream"], headers=headers)
        except RequestError as error:
            # The conversation does not exist: nothing was sent yet.
            if error.status == 404:
                return None
            raise
        if response.status_code == 204:
            await response.aclose()
            return None
        return response


def new_id() -> str:
    """Returns an id that does not exist yet and sorts by time."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def _message(text: str, files: Sequence[Part], parts: Sequence[Part], id: str | None) -> dict[str, Any]:
    words = [{"type": "text", "text": text}] if text else []
    return {"id": id or new_id(), "role": "user", "parts": [*parts, *files, *words]}


def _fill(message: Message | None, answers: Sequence[Answer]) -> Message:
    """Returns the message with answers to its calls, as the server expects them."""
    pending = {call.id for call in message.pending_calls} if message else set()
    by_call = {answer["tool_call_id"]: answer for answer in answers}
    for call_id in by_call:
        if not message or call_id not in pending:
            raise NotPendingError(f"No call `{call_id}` waits for an answer.")
    assert message is not None
    parts = []
    for part in message.parts:
        answer = by_call.get(part.get("toolCallId", ""))
        if answer is None:
            parts.append(part)
        elif "output" in answer:
            parts.append({**part, "state": "output-available", "output": answer["output"]})
        elif "error_text" in answer:
            parts.append({**part, "state": "output-error", "errorText": answer["error_text"]})
        elif "approval" not in part:
            raise NotPendingError(f"The call `{part['toolCallId']}` waits for a result, not for a decision.")
        else:
            decision = {key: answer[key] for key in ("approved", "reason") if key in answer}
            approval = {**part["approval"], **decision}
            parts.append({**part, "state": "approval-responded", "approval": approval})
    return Message(message.id, message.role, parts, message.metadata)
