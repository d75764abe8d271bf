"""The events of an answer: the chunks of the AI SDK's UI message stream as dataclasses."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

from ._messages import Message

Chunk = dict[str, Any]
"""A chunk as JSON."""


@dataclass(frozen=True)
class Event:
    """An event. The subclasses say which; an event of this class itself is one that this version does not know."""

    raw: Chunk = dataclasses.field(repr=False)
    """The chunk as it was received."""


@dataclass(frozen=True)
class Start(Event):
    """The answer begins, or goes on (the same id)."""

    message_id: str | None = None
    message_metadata: dict[str, Any] | None = None


@dataclass(frozen=True)
class StartStep(Event):
    """A step begins: one request to the model."""


@dataclass(frozen=True)
class TextStart(Event):
    """A text begins."""

    id: str = ""


@dataclass(frozen=True)
class TextDelta(Event):
    """A text goes on."""

    id: str = ""
    delta: str = ""


@dataclass(frozen=True)
class TextEnd(Event):
    """A text is complete."""

    id: str = ""
    citations: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class ReasoningStart(Event):
    """Reasoning begins."""

    id: str = ""


@dataclass(frozen=True)
class ReasoningDelta(Event):
    """Reasoning goes on."""

    id: str = ""
    delta: str = ""


@dataclass(frozen=True)
class ReasoningEnd(Event):
    """Reasoning is complete."""

    id: str = ""


@dataclass(frozen=True)
class ToolInputStart(Event):
    """A tool call begins; its arguments follow."""

    tool_call_id: str = ""
    tool_name: str = ""
    title: str | None = None


@dataclass(frozen=True)
class ToolInputDelta(Event):
    """The JSON of the arguments goes on."""

    tool_call_id: str = ""
    input_text_delta: str = ""


@dataclass(frozen=True)
class ToolInputAvailable(Event):
    """The arguments are complete."""

    tool_call_id: str = ""
    tool_name: str = ""
    input: Any = None
    provider_executed: bool | None = None
    title: str | None = None


@dataclass(frozen=True)
class ToolInputError(Event):
    """The arguments are unusable."""

    tool_call_id: str = ""
    tool_name: str = ""
    input: Any = None
    error_text: str = ""


@dataclass(frozen=True)
class ToolApprovalRequest(Event):
    """A call needs an approval."""

    tool_call_id: str = ""
    approval_id: str = ""
    terms: dict[str, Any] | None = None
    approved: bool | None = None
    """The decision, if the request is told again after it."""


@dataclass(frozen=True)
class ToolOutputAvailable(Event):
    """A call has a result."""

    tool_call_id: str = ""
    output: Any = None
    preliminary: bool | None = None


@dataclass(frozen=True)
class ToolOutputError(Event):
    """A call has failed."""

    tool_call_id: str = ""
    error_text: str = ""


@dataclass(frozen=True)
class ToolOutputDenied(Event):
    """A call was denied."""

    tool_call_id: str = ""


@dataclass(frozen=True)
class SourceUrl(Event):
    """A web page that the model used."""

    source_id: str = ""
    url: str = ""
    title: str | None = None


@dataclass(frozen=True)
class SourceDocument(Event):
    """A document that the model used."""

    source_id: str = ""
    media_type: str = ""
    title: str = ""
    filename: str | None = None


@dataclass(frozen=True)
class File(Event):
    """A file that the model made."""

    url: str = ""
    media_type: str = ""


@dataclass(frozen=True)
class FinishStep(Event):
    """A step has ended."""


@dataclass(frozen=True)
class Finish(Event):
    """The answer has ended."""

    finish_reason: str | None = None
    message_metadata: dict[str, Any] | None = None


@dataclass(frozen=True)
class MessageMetadata(Event):
    """What the server records has changed."""

    message_metadata: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Abort(Event):
    """The answer was stopped."""

    reason: str | None = None


@dataclass(frozen=True)
class Error(Event):
    """The answer has failed; an `AnswerError` follows."""

    error_text: str = ""


@dataclass(frozen=True)
class Data(Event):
    """Data of the application."""

    type: str = ""
    """The whole type, including `data-`."""
    id: str | None = None
    data: Any = None
    transient: bool | None = None
    """Whether it is for this moment only and in no message."""


@dataclass(frozen=True)
class Snapshot(Event):
    """The message was read anew, because a part of the stream could not be read again and does not continue what was
    received. It replaces everything before. The client makes it, not the server."""

    message: Message = dataclasses.field(default_factory=lambda: Message("", "assistant"))


def _type_of(event: type[Event]) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"-\1", event.__name__).lower()


_BY_TYPE: dict[str, type[Event]] = {
    _type_of(event): event for event in Event.__subclasses__() if event not in (Data, Snapshot)
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def parse_event(chunk: Chunk) -> Event:
    """Returns the event of a chunk."""
    if chunk["type"] == "snapshot":
        return Snapshot(chunk, Message.from_json(chunk["message"]))
    kind = Data if chunk["type"].startswith("data-") else _BY_TYPE.get(chunk["type"], Event)
    names = [field.name for field in dataclasses.fields(kind) if field.name != "raw"]
    return kind(chunk, **{name: chunk[_camel(name)] for name in names if _camel(name) in chunk})
