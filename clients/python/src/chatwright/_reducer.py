"""Builds messages from chunks, and chunks from messages."""

from __future__ import annotations

from typing import Any

from ._events import Chunk
from ._messages import Message, Part, ToolCall, is_tool

_STATES = [
    "input-streaming",
    "approval-requested",
    "approval-responded",
    "input-available",
    "output-available",
    "output-error",
    "output-denied",
]
"""The states of a call, in the order in which it can reach them."""


class Reducer:
    """Builds a message from chunks, by the rules of the AI SDK's client. Arguments of a tool are there once they are
    complete."""

    def __init__(self, message: Message | None = None) -> None:
        self.id = message.id if message else ""
        self.metadata: dict[str, Any] = dict(message.metadata) if message else {}
        self.parts: list[Part] = list(message.parts) if message else []
        self._texts: dict[str, int] = {}
        self._reasonings: dict[str, int] = {}

    @property
    def message(self) -> Message:
        """The message so far."""
        return Message(self.id, "assistant", list(self.parts), self.metadata)

    def open_id(self, index: int) -> str | None:
        """Returns the id of the open text or reasoning part at this index."""
        for open_parts in (self._texts, self._reasonings):
            for open_id, at in open_parts.items():
                if at == index:
                    return open_id
        return None

    def reset(self, message: Message) -> None:
        """Replaces the message. The ids of its open parts are kept as far as the parts are still open."""
        self.id, self.metadata, self.parts = message.id, dict(message.metadata), list(message.parts)
        for open_parts in (self._texts, self._reasonings):
            for open_id, at in list(open_parts.items()):
                if at >= len(self.parts) or self.parts[at].get("state") != "streaming":
                    del open_parts[open_id]

    def apply(self, chunk: Chunk) -> None:
        """Applies a chunk; one that does not fit is ignored."""
        kind: str = chunk["type"]
        if kind == "start":
            self.id = chunk.get("messageId", self.id)
            self._merge(chunk)
        elif kind in ("finish", "message-metadata"):
            self._merge(chunk)
        elif kind == "start-step":
            self.parts.append({"type": "step-start"})
        elif kind == "finish-step":
            self._texts.clear()
            self._reasonings.clear()
        elif kind.startswith(("text-", "reasoning-")):
            self._text(chunk, kind)
        elif kind in ("source-url", "source-document", "file"):
            self.parts.append(chunk)
        elif kind == "snapshot":
            self.reset(Message.from_json(chunk["message"]))
        elif kind.startswith("data-"):
            self._put_data(chunk)
        elif kind in ("tool-input-start", "tool-input-available", "tool-input-error"):
            self._begin(chunk, kind)
        elif kind.startswith("tool-"):
            self._update(chunk, kind)

    def _merge(self, chunk: Chunk) -> None:
        if chunk.get("messageMetadata"):
            self.metadata = _merged(self.metadata, chunk["messageMetadata"])

    def _text(self, chunk: Chunk, kind: str) -> None:
        part_type, _, action = kind.partition("-")
        open_parts = self._texts if part_type == "text" else self._reasonings
        metadata = {"providerMetadata": chunk["providerMetadata"]} if chunk.get("providerMetadata") else {}
        if action == "start":
            open_parts[chunk["id"]] = len(self.parts)
            part = {"type": part_type, "text": "", "state": "streaming", **metadata}
            self.parts.append(part if part_type == "text" else {**part, "id": chunk["id"]})
            return
        at = open_parts.get(chunk["id"])
        if at is None:
            return
        grown = {**self.parts[at], "text": self.parts[at]["text"] + chunk.get("delta", ""), **metadata}
        if action == "end":
            del open_parts[chunk["id"]]
            grown["state"] = "done"
            if part_type == "text" and chunk.get("citations"):
                grown["citations"] = chunk["citations"]
        self.parts[at] = grown

    def _put_data(self, chunk: Chunk) -> None:
        if chunk.get("transient"):
            return
        part = {key: value for key, value in chunk.items() if key != "transient"}
        for at, known in enumerate(self.parts):
            if "id" in part and known["type"] == part["type"] and known.get("id") == part["id"]:
                self.parts[at] = part
                return
        self.parts.append(part)

    def _find(self, call_id: str) -> int | None:
        found = (at for at in reversed(range(len(self.parts))) if self.parts[at].get("toolCallId") == call_id)
        return next(found, None)

    def _begin(self, chunk: Chunk, kind: str) -> None:
        newest = self._find(chunk["toolCallId"])
        part_type = "dynamic-tool" if chunk.get("dynamic") else f"tool-{chunk['toolName']}"
        if kind == "tool-input-error" and newest is not None:
            part_type = self.parts[newest]["type"]
        is_dynamic = part_type == "dynamic-tool"
        steps = (at + 1 for at in reversed(range(len(self.parts))) if self.parts[at]["type"] == "step-start")
        at = next(steps, 0)
        while at < len(self.parts):
            part = self.parts[at]
            is_same_kind = (part["type"] == "dynamic-tool") == is_dynamic
            if part.get("toolCallId") == chunk["toolCallId"] and is_same_kind:
                break
            at += 1
        known = self.parts[at] if at < len(self.parts) else {}
        call: Part = {"type": part_type, "toolCallId": chunk["toolCallId"]}
        if is_dynamic:
            call["toolName"] = chunk["toolName"]
        for key in ("title", "providerExecuted", "approval", "callProviderMetadata", "resultProviderMetadata"):
            value = chunk.get(key, known.get(key))
            if value is not None:
                call[key] = value
        metadata = chunk.get("providerMetadata")
        if kind == "tool-input-start":
            call["state"] = "input-streaming"
        elif kind == "tool-input-available":
            call |= {"state": "input-available", "input": chunk["input"]}
            if metadata:
                call["callProviderMetadata"] = metadata
        else:
            key = "input" if is_dynamic else "rawInput"
            call |= {"state": "output-error", key: chunk["input"], "errorText": chunk["errorText"]}
            if metadata:
                call["resultProviderMetadata"] = metadata
        self.parts[at:] = [call, *self.parts[at + 1 :]]

    def _update(self, chunk: Chunk, kind: str) -> None:
        at = self._find(chunk["toolCallId"])
        if at is None:
            return
        call = dict(self.parts[at])
        if kind == "tool-approval-request":
            approval = {"id": chunk["approvalId"]}
            call |= {"state": "approval-requested", "approval": approval}
            if "approved" in chunk:
                approval["approved"] = chunk["approved"]
                call["state"] = "approval-responded"
            if chunk.get("terms"):
                approval["terms"] = chunk["terms"]
        elif kind == "tool-output-available":
            for key in ("errorText", "rawInput", "preliminary"):
                call.pop(key, None)
            call |= {"state": "output-available", "output": chunk["output"]}
            if "preliminary" in chunk:
                call["preliminary"] = chunk["preliminary"]
            if chunk.get("providerMetadata"):
                call["resultProviderMetadata"] = chunk["providerMetadata"]
        elif kind == "tool-output-error":
            for key in ("output", "preliminary"):
                call.pop(key, None)
            call |= {"state": "output-error", "errorText": chunk["errorText"]}
        elif kind == "tool-output-denied":
            call["state"] = "output-denied"
        self.parts[at] = call


def _merged(known: Any, change: Any) -> Any:
    if not isinstance(known, dict) or not isinstance(change, dict):
        return change
    return {**known, **{key: _merged(known.get(key), value) for key, value in change.items()}}


def is_behind(message: Message, known: Message) -> bool:
    """Returns whether a message that is read from its beginning again has not reached what is known of it."""
    if len(message.parts) < len(known.parts):
        return True
    for part, before in zip(message.parts, known.parts):
        if "text" in part and "text" in before:
            if len(part["text"]) < len(before["text"]):
                return True
        elif is_tool(part) and is_tool(before):
            if _STATES.index(part["state"]) < _STATES.index(before["state"]):
                return True
    return False


def catch_up(reducer: Reducer, target: Message) -> list[Chunk]:
    """Returns the chunks that turn the reducer's message into this one, and applies them: those that were missed
    while the connection was broken. The text deltas then contain each word exactly once. If the message does not
    continue the known one, the only chunk is a snapshot."""
    known = reducer.message
    chunks = _missing(known, target, reducer) if known.id in ("", target.id) else None
    if chunks is None:
        chunks = [{"type": "snapshot", "message": target.to_json()}]
    for chunk in chunks:
        reducer.apply(chunk)
    # Details that no chunk carries.
    reducer.reset(target)
    return chunks


def _missing(known: Message, target: Message, reducer: Reducer) -> list[Chunk] | None:
    if len(known.parts) > len(target.parts):
        return None
    chunks: list[Chunk] = [] if known.id else [{"type": "start", "messageId": target.id}]
    for index, part in enumerate(target.parts):
        is_new = index >= len(known.parts)
        more = _added(part, f"missed-{index}") if is_new else _changed(known.parts[index], part, reducer.open_id(index))
        if more is None:
            return None
        if part["type"] == "step-start" and is_new and index > 0:
            chunks.append({"type": "finish-step"})
        chunks += more
    if target.metadata and known.metadata != target.metadata:
        chunks.append({"type": "message-metadata", "messageMetadata": target.metadata})
    return chunks


def _changed(before: Part, part: Part, open_id: str | None) -> list[Chunk] | None:
    if part["type"] != before["type"]:
        return None
    if part["type"] in ("text", "reasoning"):
        if not part["text"].startswith(before["text"]):
            return None
        delta = part["text"][len(before["text"]) :]
        # A part whose end was received does not grow.
        if open_id is None:
            return None if delta else []
        return _text_chunks(part, open_id, delta, is_new=False)
    if part == before:
        return []
    if is_tool(part):
        return _call_chunks(part, before) if part["toolCallId"] == before["toolCallId"] else None
    return [part] if part["type"].startswith("data-") else None


def _added(part: Part, new_id: str) -> list[Chunk]:
    if part["type"] in ("text", "reasoning"):
        return _text_chunks(part, new_id, part["text"], is_new=True)
    if part["type"] == "step-start":
        return [{"type": "start-step"}]
    return _call_chunks(part, None) if is_tool(part) else [part]


def _text_chunks(part: Part, part_id: str, delta: str, *, is_new: bool) -> list[Chunk]:
    kind = part["type"]
    metadata = {key: part[key] for key in ("providerMetadata",) if key in part}
    chunks: list[Chunk] = [{"type": f"{kind}-start", "id": part_id, **metadata}] if is_new else []
    if delta:
        chunks.append({"type": f"{kind}-delta", "id": part_id, "delta": delta})
    if part.get("state") != "streaming":
        citations = {key: part[key] for key in ("citations",) if key in part}
        chunks.append({"type": f"{kind}-end", "id": part_id, **citations, **metadata})
    return chunks


def _call_chunks(part: Part, before: Part | None) -> list[Chunk]:
    """Returns the chunks of a call, without those that it has had before."""
    call_id, state, approval = part["toolCallId"], part["state"], part.get("approval")
    common: Chunk = {"toolCallId": call_id, "toolName": ToolCall.from_part(part).name}
    if part["type"] == "dynamic-tool":
        common["dynamic"] = True
    common |= {key: part[key] for key in ("providerExecuted", "title") if key in part}
    if state == "input-streaming":
        return [] if before else [{"type": "tool-input-start", **common}]
    error_text = part.get("errorText", "")
    if "input" not in part and "rawInput" in part:
        return [{"type": "tool-input-error", **common, "input": part["rawInput"], "errorText": error_text}]
    chunks: list[Chunk] = []
    if not before or before["state"] == "input-streaming" or before.get("input") != part.get("input"):
        chunks.append({"type": "tool-input-available", **common, "input": part.get("input")})
    if state == "approval-requested" and approval:
        terms = {"terms": approval["terms"]} if "terms" in approval else {}
        chunks.append({"type": "tool-approval-request", "approvalId": approval["id"], "toolCallId": call_id, **terms})
    elif state == "output-available":
        preliminary = {key: part[key] for key in ("preliminary",) if key in part}
        chunks.append({"type": "tool-output-available", "toolCallId": call_id, "output": part.get("output"), **preliminary})
    elif state == "output-error":
        chunks.append({"type": "tool-output-error", "toolCallId": call_id, "errorText": error_text})
    elif state == "output-denied":
        chunks.append({"type": "tool-output-denied", "toolCallId": call_id})
    return chunks
