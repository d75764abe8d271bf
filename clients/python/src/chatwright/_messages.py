"""Messages and conversations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Part = dict[str, Any]
"""A part of a message, in the form of the AI SDK; `type` says which."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool with its result."""

    id: str
    name: str
    state: str
    """`input-streaming`, `input-available`, `approval-requested`, `approval-responded`, `output-available`,
    `output-error` or `output-denied`."""
    input: Any
    output: Any
    error_text: str | None
    approval: dict[str, Any] | None
    """The request for an approval, and the decision."""
    provider_executed: bool
    """Whether the model's provider runs the tool."""

    @property
    def is_pending(self) -> bool:
        """Whether it waits for an approval, for an answer of the user, or for the result of a client tool."""
        return self.state == "approval-requested" or (self.state == "input-available" and not self.provider_executed)

    @classmethod
    def from_part(cls, part: Part) -> ToolCall:
        return cls(
            id=part["toolCallId"],
            name=part.get("toolName", "") if part["type"] == "dynamic-tool" else part["type"].removeprefix("tool-"),
            state=part["state"],
            input=part.get("input"),
            output=part.get("output"),
            error_text=part.get("errorText"),
            approval=part.get("approval"),
            provider_executed=part.get("providerExecuted", False),
        )


def is_tool(part: Part) -> bool:
    """Returns whether a part is a tool call."""
    return bool(part["type"].startswith("tool-") or part["type"] == "dynamic-tool")


@dataclass(frozen=True)
class Message:
    """A message. Its JSON is that of the AI SDK's `UIMessage`."""

    id: str
    role: str
    """`user`, `assistant` or `system`."""
    parts: list[Part] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    """What the server records: `outcome`, `usage`, `costUsd`, `model`, …"""

    @property
    def text(self) -> str:
        """The text, without reasoning. Between two texts is a blank line."""
        return "\n\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def tools(self) -> list[ToolCall]:
        """The tool calls."""
        return [ToolCall.from_part(part) for part in self.parts if is_tool(part)]

    @property
    def pending_calls(self) -> list[ToolCall]:
        """The calls that wait for an approval, for an answer of the user, or for the result of a client tool."""
        return [call for call in self.tools if call.is_pending] if self.role == "assistant" else []

    @property
    def outcome(self) -> str | None:
        """How the answer ended: `done`, `waiting`, `stopped`, `limit`, `failed` or `interrupted`."""
        return self.metadata.get("outcome")

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Message:
        return cls(value["id"], value["role"], value.get("parts", []), value.get("metadata") or {})

    def to_json(self) -> dict[str, Any]:
        message: dict[str, Any] = {"id": self.id, "role": self.role, "parts": self.parts}
        return {**message, "metadata": self.metadata} if self.metadata else message


@dataclass(frozen=True)
class Conversation:
    """A conversation with the messages of its active branch, oldest first."""

    id: str
    title: str
    messages: list[Message]
    running: bool
    """Whether an answer is being written."""
    waiting: bool
    """Whether the newest answer waits for the user."""
    raw: dict[str, Any]
    """Everything that the server says, in the form of `ConversationView`."""

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Conversation:
        messages = [Message.from_json(message) for message in value["messages"]]
        return cls(value["id"], value["title"], messages, value["running"], value["waiting"], value)
