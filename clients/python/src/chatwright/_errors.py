"""The errors of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._messages import Message


class ChatwrightError(Exception):
    """An error of the client; the classes below say which."""


class RequestError(ChatwrightError):
    """The server refused a request."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body["message"])
        self.status = status
        """The HTTP status."""
        self.code: str = body["code"]
        """The stable code, for programs."""
        self.message: str = body["message"]
        self.reason: str | None = body.get("reason")
        """The specific cause behind the code."""
        self.path: str | None = body.get("path")
        """The invalid field, with the code `invalid`."""
        self.retry_after: float | None = body.get("retryAfter")
        """Seconds to wait before trying again."""
        self.trace_id: str | None = body.get("traceId")
        """The id by which the operator finds the request in the log."""


class ConnectionFailed(ChatwrightError):
    """The server cannot be reached, or the connection broke and could not be restored."""


class AnswerError(ChatwrightError):
    """An answer failed, or the server went down in the middle. The text received so far is in `partial`."""

    def __init__(self, message: str, partial: Message, outcome: str) -> None:
        super().__init__(message)
        self.partial = partial
        self.outcome = outcome
        self.reason: str | None = (partial.metadata.get("error") or {}).get("reason")
        """The cause, if the server knows one."""


class GoneError(ChatwrightError):
    """The answer is no longer in the conversation: it was deleted, or another version of it was selected."""


class NotPendingError(ChatwrightError):
    """No call of the newest message waits for the answer that was given."""
