"""The client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypedDict, cast

import httpx

from . import _openapi as api
from ._chat import Chat, Choices, SharedState
from ._http import Credential, Http
from ._messages import Conversation, Message, Part
from ._reply import Reply

_MOST_DEFINITIONS = 100
"""The most definitions that the server takes in one request."""
_UNLIMITED = httpx.Timeout(None, connect=10)
"""For requests whose answer takes as long as the agent; the server ends them by the tier."""


class Agent(TypedDict):
    """An agent that the caller may use."""

    id: str
    models: list[api.ListedModel]


class Chatwright:
    """A client of one server.

    `key` is an API key of the user, `token` a token of the host application (auth mode `jwt`); each may be a function
    that is asked before each request. Without `http`, the client has connections of its own, which `aclose`, or the end
    of `async with`, closes.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Credential | None = None,
        token: Credential | None = None,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = Http(url, key if key is not None else token, headers or {}, http)
        self.conversations = Conversations(self._http)
        self.files = Files(self._http)
        self.runs = Runs(self._http)

    async def __aenter__(self) -> Chatwright:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    def chat(
        self,
        agent: str,
        *,
        page: str | None = None,
        conversation: str | None = None,
        block: str | None = None,
        shared_state: SharedState | None = None,
        choices: Choices | None = None,
    ) -> Chat:
        """Returns a chat with an agent: in a new conversation, or in that with the id `conversation`.

        `page` is the page with the agent's chat; by default the one with the agent's id, as agents made at run time
        have one. `block` is the id of the chat's block, if the page has several with this agent. `shared_state` is
        what the agent sees as the shared state of the page; a function is asked before each request.
        """
        return Chat(self._http, agent, page, conversation, block, shared_state, choices or {})

    def send(
        self,
        agent: str,
        text: str = "",
        *,
        page: str | None = None,
        conversation: str | None = None,
        files: Sequence[Part] = (),
        parts: Sequence[Part] = (),
        history: Sequence[Message] = (),
        shared_state: SharedState | None = None,
        choices: Choices | None = None,
    ) -> Reply:
        """Sends one message to an agent, in a new conversation or in that with the id `conversation`."""
        chat = self.chat(agent, page=page, conversation=conversation, shared_state=shared_state, choices=choices)
        return chat.send(text, files=files, parts=parts, history=history)

    async def models(self) -> list[api.ListedModel]:
        """Lists the models of the agents that the caller may use."""
        return cast("list[api.ListedModel]", (await self._http.json("GET", ["api", "models"]))["models"])

    async def agents(self) -> list[Agent]:
        """Lists the agents that the caller may use, with their models."""
        agents: dict[str, Agent] = {}
        for model in await self.models():
            for agent in model["agents"]:
                agents.setdefault(agent["id"], {"id": agent["id"], "models": []})["models"].append(model)
        return list(agents.values())

    async def call_endpoint(self, page: str, endpoint: str, payload: Mapping[str, Any] | None = None) -> Any:
        """Calls an endpoint of a page."""
        return await self._http.json("POST", ["api", "endpoints", page, endpoint], json=dict(payload or {}))

    async def standing_approvals(self) -> list[api.StandingApproval]:
        """Lists the standing approvals of the user. It needs a session or a token."""
        return cast("list[api.StandingApproval]", (await self._http.json("GET", ["api", "grants"]))["items"])

    async def revoke_standing_approval(self, id: str) -> None:
        """Revokes a standing approval."""
        await self._http.read("DELETE", ["api", "grants", id])

    async def sync_agent_definitions(self, definitions: Sequence[Mapping[str, Any]]) -> api.SyncResult:
        """Stores the agents that an app brings along. What is already there does not change, so an app does this each
        time it starts. One that cannot be stored is `failed` in the result and does not keep the others from being
        stored. A definition has the form `AgentDefinition`."""
        result: api.SyncResult = {"state": "synced", "created": 0, "updated": 0, "unchanged": 0, "failed": 0, "results": []}
        for at in range(0, len(definitions), _MOST_DEFINITIONS):
            body = [dict(definition) for definition in definitions[at : at + _MOST_DEFINITIONS]]
            part = cast(api.SyncResult, await self._http.json("POST", ["api", "agents", "definitions"], json=body))
            result["created"] += part["created"]
            result["updated"] += part["updated"]
            result["unchanged"] += part["unchanged"]
            result["failed"] += part["failed"]
            result["results"] += part["results"]
        if result["failed"]:
            result["state"] = "failed" if result["failed"] == len(result["results"]) else "partial"
        return result

    async def agent_definitions(self) -> list[api.StoredDefinition]:
        """Lists the stored definitions of agents, with whether the config still allows each."""
        found = await self._http.json("GET", ["api", "agents", "definitions"])
        return cast("list[api.StoredDefinition]", found["items"])

    async def delete_agent_definition(self, name: str) -> None:
        """Deletes the definition of an agent, by its name."""
        await self._http.read("DELETE", ["api", "agents", "definitions", name])


class Conversations:
    """The conversations of the user."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        archived: bool | None = None,
        folder: str | None = None,
    ) -> api.ConversationList:
        """Lists one page of conversations; `cursor` is `next` of the page before."""
        query = {"limit": limit, "cursor": cursor, "archived": archived, "folder": folder}
        return cast(api.ConversationList, await self._http.json("GET", ["api", "conversations"], query=query))

    async def all(
        self, *, archived: bool | None = None, folder: str | None = None, limit: int | None = None
    ) -> AsyncIterator[api.ConversationSummary]:
        """Iterates over all conversations, page by page."""
        cursor: str | None = None
        while True:
            page = await self.list(limit=limit, cursor=cursor, archived=archived, folder=folder)
            for item in page["items"]:
                yield item
            cursor = page.get("next")
            if cursor is None:
                return

    async def get(self, id: str) -> Conversation:
        return Conversation.from_json(await self._http.json("GET", ["api", "conversations", id]))

    async def update(self, id: str, change: api.ConversationChange) -> None:
        """Changes the title, the folder, or whether it is pinned, archived, unread or temporary."""
        await self._http.read("PATCH", ["api", "conversations", id], json=change)

    async def rename(self, id: str, title: str) -> None:
        await self.update(id, {"title": title})

    async def delete(self, id: str) -> None:
        """Deletes a conversation; `restore` undoes it for five minutes."""
        await self._http.read("DELETE", ["api", "conversations", id])

    async def restore(self, id: str) -> None:
        await self.update(id, {"deleted": False})

    async def usage(self, id: str) -> api.ConversationUsage:
        return cast(api.ConversationUsage, await self._http.json("GET", ["api", "conversations", id, "usage"]))

    async def search(self, query: str) -> api.SearchHitList:
        """Searches titles and messages."""
        return cast(api.SearchHitList, await self._http.json("GET", ["api", "search"], query={"q": query}))

    async def rate(self, id: str, message_id: str, rating: api.Rating | None, reason: str | None = None) -> None:
        """Rates an answer; without a rating, the user's rating is withdrawn."""
        feedback = None if rating is None else {"rating": rating, **({"reason": reason} if reason is not None else {})}
        await self._change(id, {"kind": "rate", "messageId": message_id, "feedback": feedback})

    async def switch_branch(self, id: str, message_id: str) -> None:
        """Selects the version of a message with what followed it."""
        await self._change(id, {"kind": "switch", "messageId": message_id})

    async def delete_message(self, id: str, message_id: str) -> None:
        """Deletes a message and what follows it; `restore_message` undoes it for a while."""
        await self._change(id, {"kind": "delete", "messageId": message_id})

    async def restore_message(self, id: str, message_id: str) -> None:
        await self._change(id, {"kind": "restore", "messageId": message_id})

    async def copy(self, id: str, message_id: str) -> str:
        """Copies everything up to a message into a new conversation; returns its id."""
        return await self._change(id, {"kind": "copy", "messageId": message_id})

    async def _change(self, id: str, change: dict[str, Any]) -> str:
        changed = await self._http.json("POST", ["api", "conversations", id, "change"], json=change)
        return str(changed["conversationId"])

    async def files(self, id: str) -> Sequence[api.WorkspaceFile]:
        """Lists the files of a conversation's workspace."""
        found = await self._http.json("GET", ["api", "conversations", id, "files"])
        return cast("Sequence[api.WorkspaceFile]", found["items"])

    async def upload_files(self, id: str, files: Mapping[str, bytes]) -> Sequence[api.WorkspaceFile]:
        """Uploads files, by their names, to a conversation's workspace: all or none."""
        parts = [("file", (name, data)) for name, data in files.items()]
        found = await self._http.json("POST", ["api", "conversations", id, "files"], files=parts)
        return cast("Sequence[api.WorkspaceFile]", found["items"])

    async def download_file(self, id: str, version: str) -> bytes:
        """Downloads a version of a file of a conversation's workspace."""
        return (await self._http.read("GET", ["api", "conversations", id, "files", version])).content

    async def delete_file(self, id: str, path: str) -> None:
        """Deletes a file of a conversation's workspace, with all its versions."""
        await self._http.read("DELETE", ["api", "conversations", id, "files"], query={"path": path})


class Files:
    """Files for messages. They need a session or a token: an API key cannot use them."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def upload(self, data: bytes, *, name: str = "") -> api.StoredFile:
        """Uploads a file. `to_part` makes it a part of a message."""
        headers = {"content-type": "application/octet-stream"}
        stored = await self._http.json("POST", ["api", "files"], query={"name": name}, content=data, headers=headers)
        return cast(api.StoredFile, stored)

    async def download(self, id: str) -> bytes:
        return (await self._http.read("GET", ["api", "files", id])).content

    async def delete(self, id: str) -> None:
        await self._http.read("DELETE", ["api", "files", id])

    @staticmethod
    def to_part(file: api.StoredFile) -> Part:
        """Returns the part of a message with a stored file."""
        return {"type": "file", "url": file["url"], "mediaType": file["mediaType"], "filename": file["filename"]}


class Runs:
    """Agents without a conversation: one question, one answer."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def invoke(self, agent: str, prompt: str, **options: Any) -> api.Invocation:
        """Asks an agent a single question and waits for the answer: a text, or JSON that fits `response_schema`. The
        options are those of `InvokeRequest`."""
        return await self._post(["invoke"], {**options, "agent_name": agent, "input": {"prompt": prompt}})

    async def start(self, agent: str, prompt: str, **options: Any) -> api.Invocation:
        """Runs an agent with its tools, in the mode `sync` (the default) or `queued`. The options are those of
        `RunRequest`."""
        return await self._post([], {**options, "agent_name": agent, "input": {"prompt": prompt}})

    async def get(self, id: str) -> api.Invocation:
        return cast(api.Invocation, await self._http.json("GET", ["api", "runs", id]))

    async def answer(self, id: str, call_id: str, approved: bool, reason: str | None = None) -> api.Invocation:
        """Decides about a call for which the run waits."""
        return await self._post([id, "answer"], {"call_id": call_id, "approved": approved, "reason": reason})

    async def stop(self, id: str) -> None:
        await self._http.read("POST", ["api", "runs", id, "stop"])

    async def _post(self, path: Sequence[str], body: dict[str, Any]) -> api.Invocation:
        done = await self._http.json("POST", ["api", "runs", *path], json=body, timeout=_UNLIMITED)
        return cast(api.Invocation, done)
