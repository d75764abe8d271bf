"""Requests to one server."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from ._errors import ConnectionFailed, RequestError

Credential = str | Callable[[], str | Awaitable[str]]
"""A value, or a function that is asked for it before each request."""

TIMEOUT = httpx.Timeout(40, connect=10)
"""The server sends a comment every 15 seconds while an answer is written, so that longer silence means that the
connection is dead."""

# The codes of statuses, for responses that do not come from the server, such as a proxy's.
_CODES = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    409: "busy",
    413: "too_large",
    422: "invalid",
    429: "rate_limited",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


class Http:
    """Sends requests to one server."""

    def __init__(
        self, url: str, credential: Credential | None, headers: Mapping[str, str], client: httpx.AsyncClient | None
    ) -> None:
        base = httpx.URL(url)
        if base.scheme not in ("http", "https") or not base.host:
            raise ValueError("`url` is not the address of a server: write it as in a browser, https://chat.example.com")
        self._base = str(base.copy_with(query=None, fragment=None)).rstrip("/")
        self._credential = credential
        self._headers = dict(headers)
        self._is_own = client is None
        # A redirect could send the key to another server: none is followed.
        self._client = client or httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False)

    async def aclose(self) -> None:
        """Closes the connections, unless they belong to the client that was given."""
        if self._is_own:
            await self._client.aclose()

    async def stream(
        self,
        method: str,
        path: Sequence[str],
        *,
        query: Mapping[str, Any] | None = None,
        timeout: httpx.Timeout = TIMEOUT,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> httpx.Response:
        """Sends a request; segments of the path are encoded. Returns a successful response, whose body is not read."""
        url = "/".join([self._base, *(quote(segment, safe="") for segment in path)])
        all_headers = {**self._headers, **(headers or {})}
        if self._credential is not None:
            value = self._credential if isinstance(self._credential, str) else self._credential()
            all_headers["authorization"] = f"Bearer {await value if inspect.isawaitable(value) else value}"
        params = {key: value for key, value in (query or {}).items() if value is not None}
        request = self._client.build_request(method, url, params=params, headers=all_headers, timeout=timeout, **body)
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            if response.is_success:
                return response
            await response.aread()
        except httpx.TransportError as error:
            raise ConnectionFailed(f"the server cannot be reached: {error or type(error).__name__}") from error
        raise _refusal(response)

    async def read(self, method: str, path: Sequence[str], **options: Any) -> httpx.Response:
        """Sends a request and reads the response."""
        response = await self.stream(method, path, **options)
        try:
            await response.aread()
        except httpx.TransportError as error:
            raise ConnectionFailed(f"the connection broke: {error or type(error).__name__}") from error
        finally:
            await response.aclose()
        return response

    async def json(self, method: str, path: Sequence[str], **options: Any) -> Any:
        """Sends a request and returns the JSON of the response."""
        response = await self.read(method, path, **options)
        try:
            return response.json()
        except ValueError as error:
            raise ConnectionFailed("the server's answer cannot be read") from error


def _refusal(response: httpx.Response) -> RequestError:
    status = response.status_code
    body: dict[str, Any] = {}
    try:
        body = dict(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        pass  # Not the server's JSON: a proxy has answered.
    body.setdefault("code", _CODES.get(status, "malformed" if status < 500 else "internal"))
    body.setdefault("message", f"The server answered with {status}.")
    wait = response.headers.get("retry-after", "")
    if wait.isdigit():
        body.setdefault("retryAfter", int(wait))
    return RequestError(status, body)
