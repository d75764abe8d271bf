"""A client of Chatwright for asyncio: chats with agents as typed events."""

from . import _events as events
from . import _openapi as api
from ._chat import Answer, Chat, Choices, new_id
from ._client import Agent, Chatwright, Conversations, Files, Runs
from ._errors import AnswerError, ChatwrightError, ConnectionFailed, GoneError, NotPendingError, RequestError
from ._events import Event, TextDelta
from ._messages import Conversation, Message, Part, ToolCall
from ._reply import Reply

__all__ = [
    "Agent",
    "Answer",
    "AnswerError",
    "Chat",
    "Chatwright",
    "ChatwrightError",
    "Choices",
    "ConnectionFailed",
    "Conversation",
    "Conversations",
    "Event",
    "Files",
    "GoneError",
    "Message",
    "NotPendingError",
    "Part",
    "Reply",
    "RequestError",
    "Runs",
    "TextDelta",
    "ToolCall",
    "api",
    "events",
    "new_id",
]
