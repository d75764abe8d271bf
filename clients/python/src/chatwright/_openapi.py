# Generated from the server's OpenAPI document by `node clients/generate.mjs`. Do not edit.
"""The bodies of requests and responses."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeAlias, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class ActiveRun(TypedDict):
    """An active run."""

    runId: str
    """The run's id."""

    messageId: str
    """The assistant message that it writes."""


AgentDefinition = TypedDict(
    "AgentDefinition",
    {
        "name": "str",
        "display_name": "NotRequired[str | None]",
        "description": "NotRequired[str]",
        "instructions": "str",
        "from": "NotRequired[str | None]",
        "model": "NotRequired[str | None]",
        "tools": "NotRequired[ToolNamesInput]",
        "workflows": "NotRequired[WorkSettings | None]",
        "scopes": "NotRequired[list[str]]",
        "allow_frontier_fallback": "NotRequired[bool | None]",
        "is_builtin": "NotRequired[bool]",
    },
)
"""The definition of an agent."""


AgentDefinitions: TypeAlias = "AgentDefinition | list[AgentDefinition]"
"""One definition, or a list of them."""


AgentTier: TypeAlias = Literal["simple", "complex", "batch"]
"""The time limit of an invocation, as the config sets it."""


class Approval(TypedDict):
    """An approval request for a tool call, and the user's decision."""

    id: str
    """A unique id; a decision names it."""

    approved: NotRequired[bool]
    """The decision, if there is one."""

    reason: NotRequired[str]
    """The user's comment."""

    signature: NotRequired[str]
    """A signature that binds the request to its arguments, for clients that return it."""

    terms: NotRequired[ApprovalTerms]
    """The terms of the request. Unreadable terms are dropped: the server never trusts a client's."""

    expired: NotRequired[bool]
    """Whether the request expired without a decision."""

    passedOver: NotRequired[bool]
    """Whether the user sent a new message instead of deciding."""


class ApprovalTerms(TypedDict):
    """The terms of an approval request."""

    tool: NotRequired[str]
    """The fingerprint of the tool when the request was made; absent for a nested call."""

    mayRemember: NotRequired[bool]
    """Whether the user may create a standing approval."""

    expiresAt: NotRequired[int]
    """When the request expires; Unix time in milliseconds."""

    visibleParameters: NotRequired[list[str]]
    """The arguments that are shown first and that the user may edit; all if absent."""

    exposed: NotRequired[Exposure]
    """The data in the conversation because of which a tool that sends data out needs an approval."""

    cutOff: NotRequired[CutOff]
    """Set if the call was interrupted while it ran: the request asks whether to run it again."""


class ChangeResult(TypedDict):
    """The conversation with which the user continues: the changed one, or the copy."""

    conversationId: str
    """Its id."""


class ContextParts(TypedDict):
    """The parts of a model's context, in estimated tokens."""

    instructions: int
    """The instructions."""

    tools: int
    """The descriptions of the tools."""

    summary: int
    """The summary of earlier messages."""

    messages: int
    """The texts of the user and the agent, with the agent's calls."""

    results: int
    """The results of tools."""

    files: int
    """Files."""

    reply: int
    """The tokens of the newest reply, which are a part of `contextUsed`."""

    measured: bool
    """Whether the provider reported the tokens in all, `contextUsed`; otherwise they are estimated, too."""


class ConversationChange(TypedDict):
    """A change to conversations; absent fields stay unchanged."""

    title: NotRequired[str | None]
    """A new title, 1 to 200 characters. Hooks no longer change it afterwards."""

    pinned: NotRequired[bool | None]
    """Pins or unpins."""

    archived: NotRequired[bool | None]
    """Moves into the archive or out of it."""

    folderId: NotRequired[str | None]
    """Moves into a folder, or out of any folder with `null`."""

    unread: NotRequired[bool | None]
    """Marks as unread or read."""

    deleted: NotRequired[bool | None]
    """Deletes, or restores while that is still possible."""

    temporary: NotRequired[bool | None]
    """Makes temporary (deleted for good after a day, unless the config says otherwise) or permanent."""


class ConversationList(TypedDict):
    """One page of the conversation list: pinned conversations first, then the others, each newest first."""

    items: list[ConversationSummary]
    """At most the requested number of entries."""

    next: NotRequired[str]
    """The opaque cursor of the next page; absent on the last page."""


class ConversationSummary(TypedDict):
    """An entry of the conversation list."""

    id: str
    """The conversation's id."""

    title: str
    """The title; the first words of the first message until a better one is set."""

    pageId: str
    """The page on which the conversation started."""

    agentId: str
    """The agent that answers."""

    createdAt: int
    """Unix time, milliseconds."""

    updatedAt: int
    """Unix time, milliseconds; the list is sorted by it."""

    running: bool
    """Whether an answer is being generated."""

    waiting: bool
    """Whether the newest answer waits for the user: for a decision on a call or for an answer to a question."""

    pinned: bool
    """Whether it is pinned to the top of the list."""

    archived: bool
    """Whether it is archived, and so not in the list."""

    unread: bool
    """Whether it has an answer that its owner has not seen."""

    temporary: bool
    """Whether it will be deleted automatically and for good."""

    folderId: NotRequired[str]
    """The folder that contains it."""


class ConversationUsage(TypedDict):
    """The usage of a conversation."""

    steps: int
    """The number of requests."""

    usage: TokenUsage
    """The token usage."""

    costUsd: NotRequired[float]
    """The cost in US dollars, as far as prices are known; absent if no price is known."""

    savedUsd: NotRequired[float]
    """The savings by the caches of providers, in US dollars, as far as prices are known."""

    requests: list[StepRecord]
    """The last model requests, oldest first."""


class ConversationView(TypedDict):
    """A conversation with the messages of its active branch, oldest first."""

    id: str
    """The conversation's id."""

    title: str
    """The title; the first words of the first message until a better one is set."""

    pageId: str
    """The page on which the conversation started."""

    agentId: str
    """The agent that answers."""

    createdAt: int
    """Unix time, milliseconds."""

    updatedAt: int
    """Unix time, milliseconds; the list is sorted by it."""

    running: bool
    """Whether an answer is being generated."""

    waiting: bool
    """Whether the newest answer waits for the user: for a decision on a call or for an answer to a question."""

    pinned: bool
    """Whether it is pinned to the top of the list."""

    archived: bool
    """Whether it is archived, and so not in the list."""

    unread: bool
    """Whether it has an answer that its owner has not seen."""

    temporary: bool
    """Whether it will be deleted automatically and for good."""

    folderId: NotRequired[str]
    """The folder that contains it."""

    messages: list[UiMessage]
    """The active branch, including a message that is still being generated, as far as it exists."""

    active: NotRequired[ActiveRun]
    """The active run, if any. Its stream, read from the start, contains its whole message."""

    firstModel: NotRequired[str]
    """The id of the model that answers first, until the user chooses another one, if the conversation began with one."""

    forks: NotRequired[dict[str, list[str]]]
    """For each message of the branch that has siblings: all siblings including itself, oldest first."""

    feedback: NotRequired[dict[str, Feedback]]
    """The user's feedback on answers, by message."""


CutOff: TypeAlias = Literal["open", "again"]
"""The decision about an interrupted call."""


class DataPart(TypedDict):
    """A data part, `data-{name}`: application data for the page, for example `data-chat-title`."""

    type: str
    """The whole type, including `data-`."""

    id: NotRequired[str]
    """A later part of the same kind and id replaces this one."""

    data: Any
    """The content."""


class DefinitionError(TypedDict):
    """Why a definition was not stored."""

    path: str
    """The field."""

    message: str
    """The problem of the field."""


class DefinitionList(TypedDict):
    """The stored definitions."""

    items: list[StoredDefinition]
    """All of them, in the order in which they were created."""


class DefinitionResult(TypedDict):
    """The result of storing a definition."""

    name: str
    """Its name; empty if it has none."""

    state: SyncOutcome
    """The outcome."""

    id: NotRequired[str]
    """The id of the agent, and of its page. Absent if it failed."""

    version: NotRequired[int]
    """The version of the agent. Absent if it failed."""

    error: NotRequired[DefinitionError]
    """Why it failed."""


EndReason: TypeAlias = Literal["done", "waiting", "maxSteps", "stopOnToolCall", "time", "requests", "totalTokens", "toolCalls", "costUsd", "loop", "maxOutputTokens", "contentFilter", "tooLong", "stoppedByUser", "stoppedByAdmin", "shutdown", "deleted", "replaced", "modelCredentials", "modelBusy", "modelRefused", "modelAway", "modelTimeout", "streamBroken", "unknownPrice", "invalidCall", "unfit", "storage", "memory", "panic", "expired", "serverGone", "leaseLost", "other"]
"""Why a run ended. More values may be added."""


class Error(TypedDict):
    """The body of an error response."""

    error: UserError


ErrorCode: TypeAlias = Literal["malformed", "unauthenticated", "forbidden", "not_found", "busy", "conflict", "other_agent", "too_large", "invalid", "rate_limited", "internal", "unavailable"]
"""A stable error code with an HTTP status."""


ErrorReason: TypeAlias = Literal["model_credentials", "model_limit", "quota_day", "quota_month", "model_refused", "model_away", "answer_broken", "not_saved", "server_busy", "server_failed", "other"]
"""The specific cause of an error. More values may be added."""


ExecutionModeName: TypeAlias = Literal["run_once", "run_until_done", "run_max_iterations"]
"""How often an agent goes on by itself."""


class Exposure(TypedDict):
    """The kinds of data that an agent has read in a conversation. Each field names the tool that first returned such data."""

    private: NotRequired[str]
    """The tool that returned private data."""

    untrusted: NotRequired[str]
    """The tool that returned text from outside, which may contain instructions."""


class Feedback(TypedDict):
    """A user's feedback on an answer."""

    rating: Rating
    """The rating."""

    reason: NotRequired[str]
    """The user's comment."""


class FilePart(TypedDict):
    """A file, by URL or inline as a `data:` URL."""

    mediaType: str
    """The media type, for example `image/png`."""

    url: str
    """An `https:` or `data:` URL."""

    filename: NotRequired[str]
    """The name that the user gave it."""

    providerMetadata: NotRequired[dict[str, Any]]
    """See `ProviderMetadata`."""


FinishReason: TypeAlias = Literal["stop", "length", "content-filter", "tool-calls", "error", "other"]
"""Why a turn or a step ended."""


class Invocation(TypedDict):
    """An invocation with its result."""

    run_id: str
    """The id of the run."""

    agent_name: str
    """The agent."""

    status: InvocationStatus
    """The status."""

    output: Any
    """The answer: a text, or the requested JSON; `null` if there is none."""

    error: str | None
    """The error message, if it failed."""

    reason: NotRequired[EndReason]
    """Why the run ended; absent while it runs."""

    questions: NotRequired[list[RunQuestion]]
    """The tool calls that wait for an answer."""

    created_at: int
    """Unix time, milliseconds."""


InvocationStatus: TypeAlias = Literal["pending", "running", "waiting", "succeeded", "failed", "timeout", "stopped"]
"""The status of an invocation."""


class InvokeInput(TypedDict):
    """The input of an invocation."""

    prompt: str
    """The prompt."""


class InvokeLimits(TypedDict):
    """The limits of an invocation. Sub-agents and all attempts count."""

    request_limit: NotRequired[int | None]
    """The most requests to models, at least 1."""

    total_tokens_limit: NotRequired[int | None]
    """The most tokens, at least 1."""

    tool_calls_limit: NotRequired[int | None]
    """The most tool calls."""

    max_cost_dollars: NotRequired[float | None]
    """The highest cost in US dollars."""

    timeout_seconds: NotRequired[int | None]
    """The longest duration in seconds, at least 1."""


class InvokeRequest(TypedDict):
    """A request to invoke an agent."""

    agent_name: str
    """The agent's id."""

    input: InvokeInput
    """The input."""

    response_schema: NotRequired[ResponseSchema | None]
    """The schema of the answer; if absent, the answer is text."""

    agent_tier: NotRequired[AgentTier]
    """The time limit."""

    tools: NotRequired[InvokeTools]
    """The tools that the agent may use: `true` for all that run on the server, or their names. Default: none."""

    approved_tools: NotRequired[list[str]]
    """The tools whose calls are approved in advance. Other calls that need an approval are denied, because nobody can be asked. A policy that asks is not satisfied by this."""

    limits: NotRequired[InvokeLimits]
    """Limits for this run beside those of the agent; the stricter ones apply."""


InvokeTools: TypeAlias = bool | list[str]
"""The tools of an invocation."""


class ListedModel(TypedDict):
    """A model with its features."""

    id: NotRequired[str]
    """The id by which requests choose the model. Absent if it is an agent's only one, which the config does not list under `models`."""

    title: str
    """The name for users."""

    model: str
    """The provider's name for the model."""

    provider: str
    """The type of its connection, such as `Anthropic`."""

    thinking: bool
    """Whether requests can switch its thinking on."""

    vision: NotRequired[bool]
    """Whether it reads images; absent if the config does not say."""

    files: NotRequired[bool]
    """Whether it reads other files, such as PDF; absent if the config does not say."""

    contextTokens: NotRequired[int]
    """The size of its context window in tokens, if known."""

    price: NotRequired[Price]
    """Its price in US dollars per million tokens, if known."""

    agents: list[ModelAgent]
    """The agents that have it."""


MessageChange: TypeAlias = "dict[str, Any]"
"""A change to a conversation; each names one of its messages."""


class MessageMetadata(TypedDict):
    """The server's metadata on a message (its `metadata` field)."""

    createdAt: NotRequired[int]
    """Unix time in milliseconds."""

    outcome: NotRequired[Outcome]
    """How the newest run of this message ended; absent while it runs and on user messages."""

    error: NotRequired[UserError]
    """The error that the user reads, with `Outcome::Failed`."""

    reason: NotRequired[EndReason]
    """Why the newest run of this message ended; more specific than `outcome`."""

    limit: NotRequired[EndReason]
    """The limit that was reached, with `Outcome::Limit`; equal to `reason`."""

    finishReason: NotRequired[FinishReason]
    """Why the model ended its newest reply; absent if the run was stopped or interrupted."""

    usage: NotRequired[TokenUsage]
    """The token usage of all runs of this message so far."""

    costUsd: NotRequired[float]
    """The cost in US dollars, as far as prices are known."""

    model: NotRequired[str]
    """The model that answered."""

    modelId: NotRequired[str]
    """The id of the model that the user chose for the answer, where the agent allows a choice."""

    thinking: NotRequired[bool]
    """Whether that model thought before it answered."""

    delegate: NotRequired[bool]
    """Whether the agent could hand tasks to a copy of itself, where the user chooses that."""

    contextUsed: NotRequired[int]
    """Tokens of the context window that the newest request and its reply used."""

    contextSize: NotRequired[int]
    """The size of the model's context window in tokens, if known."""

    contextParts: NotRequired[ContextParts]
    """The parts of these tokens, as `ContextParts`. Few pages need them, so they are decoded where they are shown."""


class ModelAgent(TypedDict):
    """An agent that has a model."""

    id: str
    """The agent's id."""

    default: bool
    """Whether the model answers if the request names none."""


class ModelList(TypedDict):
    """The models of the agents that a caller may use."""

    models: list[ListedModel]


Outcome: TypeAlias = Literal["done", "waiting", "stopped", "limit", "failed", "interrupted"]
"""How a run ended; `EndReason` says why."""


class Price(TypedDict):
    """The price of a model in US dollars per million tokens."""

    input: float
    """The price of input tokens."""

    output: float
    """Output, reasoning included."""

    cacheRead: NotRequired[float]
    """The price of input tokens that are read from the provider's cache. Default: `input`."""

    cacheWrite: NotRequired[float]
    """The price of input tokens that are written to the provider's cache. Default: `input`."""


Rating: TypeAlias = Literal["up", "down"]
"""A rating of an answer."""


class ResponseSchema(TypedDict):
    """The required format of an answer."""

    name: str
    """The name of the schema."""

    strict: NotRequired[bool]
    """Whether the provider should enforce it, if it can."""

    schema: Any
    """A JSON Schema."""


Role: TypeAlias = Literal["system", "user", "assistant"]
"""The author of a message."""


class RunAnswer(TypedDict):
    """The answer to a question of a run."""

    call_id: str
    """The call."""

    approved: bool
    """Whether it runs."""

    reason: NotRequired[str | None]
    """Why not, for the model; at most 2,000 characters."""


RunMode: TypeAlias = Literal["sync", "stream", "queued"]
"""How the result of a run is returned."""


class RunQuestion(TypedDict):
    """A tool call that waits for an answer."""

    call_id: str
    """The id of the call, for the answer."""

    tool_name: str
    """The tool."""

    input: Any
    """The arguments."""

    cut_off: bool
    """Whether the server died while the call ran, so that it may have had its effect: approving it runs it again."""

    expires_at: NotRequired[int]
    """When it is denied unless it is answered; Unix time, milliseconds."""


class RunRequest(TypedDict):
    """A request to run an agent with its tools, without a conversation: `POST /api/runs`."""

    agent_name: str
    """The agent's id."""

    input: InvokeInput
    """The input."""

    mode: NotRequired[RunMode]
    """How the result is returned."""

    response_schema: NotRequired[ResponseSchema | None]
    """The schema of the answer; if absent, the answer is text."""

    agent_tier: NotRequired[AgentTier]
    """The limits of time and memory."""

    tools: NotRequired[InvokeTools]
    """The tools that the agent may use: `true` for all that run on the server (the default), or their names."""

    approved_tools: NotRequired[list[str]]
    """The tools whose calls are approved in advance. Other calls that need an approval wait for an answer (`POST /api/runs/{id}/answer`). A policy that asks is not satisfied by this."""

    limits: NotRequired[InvokeLimits]
    """Limits for this run beside those of the agent; the stricter ones apply. Those of an administrator replace the agent's."""

    approvers: NotRequired[list[str]]
    """The roles whose users decide on calls that need an approval, instead of the caller; at most 20. If the agent's config names some, those apply, and the request may only narrow them."""


class SearchHit(TypedDict):
    """A search hit: a conversation."""

    conversation: ConversationSummary
    """Its entry in the conversation list."""

    messageId: NotRequired[str]
    """The newest matching message; absent if only the title matches."""

    outcome: NotRequired[Outcome]
    """The outcome of that message, if it is an incomplete answer."""

    passage: list[str]
    """The text around the match, as alternating segments: every second one is a match."""


class SearchHitList(TypedDict):
    """One page of search results, newest first."""

    items: list[SearchHit]
    """At most the requested number of hits."""

    next: NotRequired[str]
    """The opaque cursor of the next page; absent on the last page."""


class SendBody(TypedDict):
    """The body of the AI SDK's `DefaultChatTransport`; unknown keys belong to the application."""

    id: NotRequired[str | None]
    """The client's id of the chat."""

    conversationId: NotRequired[str | None]
    """The conversation, as in the query, which comes first."""

    messages: list[UiMessageInput]
    """The client's transcript. Only the newest message counts. A new conversation begins with the earlier ones, at most 500: they keep their ids (1 to 128 letters, digits, `-` or `_`) and their parts. The model is told that nobody has checked the results of their tool calls."""

    trigger: NotRequired[str | None]
    """`submit-message` (the default) or `regenerate-message`."""

    messageId: NotRequired[str | None]
    """The message to edit or to regenerate."""

    blockId: NotRequired[str | None]
    """The id of the chat block, if the page has several with this agent, or if the client shows what running tools ask (`data-tool-question`)."""

    urlQuery: NotRequired[dict[str, Any]]
    """The query string of the page."""

    sharedState: NotRequired[dict[str, Any]]
    """The shared state of the page."""

    switches: NotRequired[dict[str, Any]]
    """The states of the composer's switches (`true` or `false`)."""

    planMode: NotRequired[bool | None]
    """Whether the agent writes a plan, for agents whose users may choose (`planMode: optional`)."""

    documents: NotRequired[bool | None]
    """Whether the agent searches documents, for agents whose users may choose (`documents` in `knowledge`)."""

    libraries: NotRequired[list[str] | None]
    """The ids of the libraries that the agent searches, at most 20, for agents whose users may choose (`choose` in `knowledge`). `GET /api/libraries?agentId=` lists them."""

    web: NotRequired[bool | None]
    """Whether the agent uses the web, for agents whose users may choose (`web`)."""

    model: NotRequired[str | None]
    """The id of the model that answers, for agents whose users may choose (`models`). It holds for the conversation until another is chosen."""

    thinking: NotRequired[bool | None]
    """Whether the model thinks before it answers, for models whose users may choose (`thinking`). It holds for the conversation, too."""

    delegate: NotRequired[bool | None]
    """Whether the agent may hand tasks to a copy of itself in this answer, for agents whose users may choose (`delegate: optional`)."""


class SourceDocument(TypedDict):
    """A document that the model used."""

    sourceId: str
    """Unique within the message."""

    mediaType: str
    """The media type, for example `application/pdf`."""

    title: str
    """Its title."""

    filename: NotRequired[str]
    """Its file name."""

    providerMetadata: NotRequired[dict[str, Any]]
    """See `ProviderMetadata`."""


class SourceUrl(TypedDict):
    """A web page that the model used."""

    sourceId: str
    """Unique within the message."""

    url: str
    """The URL."""

    title: NotRequired[str]
    """Its title."""

    providerMetadata: NotRequired[dict[str, Any]]
    """See `ProviderMetadata`."""


class StandingApproval(TypedDict):
    """A standing approval: it covers further calls of this tool by this agent, as long as the tool's declaration does not change."""

    id: str
    """The id by which it is revoked."""

    agentId: str
    """The agent."""

    toolName: str
    """The tool."""

    conversationId: NotRequired[str]
    """The conversation to which it is limited; absent if it covers all conversations."""

    conversationTitle: NotRequired[str]
    """That conversation's title."""

    createdAt: int
    """Unix time, milliseconds."""


class StandingApprovals(TypedDict):
    """The user's standing approvals."""

    items: list[StandingApproval]
    """Newest first."""


class StepRecord(TypedDict):
    """A completed request to a model."""

    at: int
    """When the reply ended; Unix time, milliseconds."""

    messageId: str | None
    """The assistant message that the reply is part of."""

    runId: str
    """The run, or the invocation."""

    agentId: str
    """The agent."""

    callId: NotRequired[str]
    """For a sub-agent: the call that started it; for a nested one, the ids of all calls on the path, separated by `/`. `generateTitle` for the title of the conversation."""

    number: int
    """The step's number within the run of its agent; counts from 1."""

    provider: str
    """The provider of the model."""

    model: str
    """The model."""

    finishReason: str
    """The reason why the reply ended."""

    usage: TokenUsage
    """The token usage."""

    costUsd: NotRequired[float]
    """The cost in US dollars; absent if the price is unknown."""

    savedUsd: NotRequired[float]
    """The savings by the provider's cache, in US dollars: the cost without it, less the cost. Below zero if writing to the cache cost more than reading saved; absent if the price is unknown."""

    firstPartMs: int
    """The time from the request to the first part of the reply, in milliseconds."""

    wholeMs: int
    """The time from the request to the end of the reply, in milliseconds."""


StoredDefinition = TypedDict(
    "StoredDefinition",
    {
        "name": "str",
        "display_name": "NotRequired[str]",
        "description": "str",
        "instructions": "str",
        "from": "NotRequired[str]",
        "model": "NotRequired[str]",
        "tools": "ToolNames",
        "workflows": "NotRequired[WorkSettings]",
        "scopes": "list[str]",
        "allow_frontier_fallback": "NotRequired[bool]",
        "is_builtin": "bool",
        "id": "str",
        "version": "int",
        "available": "bool",
        "created_at": "int",
        "updated_at": "int",
    },
)
"""A stored definition."""


class StoredFile(TypedDict):
    """A file that the server stores for its owner."""

    id: str
    """The id by which it is read and deleted."""

    url: str
    """Its URL, as in a `file` part of a message."""

    mediaType: str
    """The media type detected from its bytes, for example `image/png`."""

    filename: str
    """The name that its owner gave it."""

    size: int
    """The size in bytes."""


SyncOutcome: TypeAlias = Literal["created", "updated", "unchanged", "failed"]
"""The outcome of storing a definition."""


class SyncResult(TypedDict):
    """The result of storing definitions."""

    state: SyncState
    """`synced` if all are stored, `partial` if some are, `failed` if none is."""

    created: int
    """How many agents are new."""

    updated: int
    """How many have a new version."""

    unchanged: int
    """How many were already like this."""

    failed: int
    """How many could not be stored."""

    results: list[DefinitionResult]
    """Each definition, in the order of the request."""


SyncState: TypeAlias = Literal["synced", "partial", "failed"]
"""Whether the definitions of a request are stored."""


class TextPart(TypedDict):
    """Text or reasoning."""

    id: NotRequired[str]
    """The stream's id of a reasoning part; absent on text."""

    text: str
    """The text so far."""

    state: NotRequired[TextState]
    """Whether the part is still growing."""

    providerMetadata: NotRequired[dict[str, Any]]
    """See `ProviderMetadata`."""

    citations: NotRequired[list[Any]]
    """The citations of a text: `{source, startIndex?, endIndex?, citedText?}`, in the order of the text."""


TextState: TypeAlias = Literal["streaming", "done"]
"""The state of a text part."""


class TokenUsage(TypedDict):
    """Token usage, summed over the steps."""

    inputTokens: int
    """All input tokens, including cached ones."""

    outputTokens: int
    """All output tokens, including reasoning."""

    cacheReadTokens: int
    """The part of the input that was read from a cache."""

    cacheWriteTokens: int
    """The part of the input that was written to a cache."""

    reasoningTokens: int
    """The part of the output that was reasoning."""


class ToolNames(TypedDict):
    """The tools of an agent."""

    names: list[str]
    """Names of tools, and `knowledge:LIBRARY`, `skills:SKILL`, `mcp:SERVER` and so on, as in the console."""


class ToolNamesInput(TypedDict):
    """The tools of an agent."""

    names: NotRequired[list[str]]
    """Names of tools, and `knowledge:LIBRARY`, `skills:SKILL`, `mcp:SERVER` and so on, as in the console."""


class ToolPart(TypedDict):
    """A tool call and its result. Which fields are present depends on `state`."""

    toolCallId: str
    """Unique within the conversation."""

    state: ToolState
    """The state of the call."""

    title: NotRequired[str]
    """A human-readable name."""

    providerExecuted: NotRequired[bool]
    """Whether the provider itself runs the tool."""

    input: NotRequired[Any]
    """The arguments; incomplete while `input-streaming`."""

    rawInput: NotRequired[Any]
    """Unusable arguments, as received."""

    output: NotRequired[Any]
    """The result."""

    errorText: NotRequired[str]
    """The error message, if the call failed."""

    preliminary: NotRequired[bool]
    """Whether a later output will replace this one."""

    approval: NotRequired[Approval]
    """The approval request and its decision."""

    callProviderMetadata: NotRequired[dict[str, Any]]
    """The provider's metadata of the call; see `ProviderMetadata`."""

    resultProviderMetadata: NotRequired[dict[str, Any]]
    """The provider's metadata of the result; see `ProviderMetadata`."""

    toolMetadata: NotRequired[Any]
    """Metadata of the tool call."""


ToolState: TypeAlias = Literal["input-streaming", "input-available", "approval-requested", "approval-responded", "output-available", "output-error", "output-denied"]
"""The state of a tool call."""


ToolStrategyName: TypeAlias = Literal["llm_driven", "sequential", "parallel", "predefined_pipeline"]
"""In which way an agent uses its tools."""


class UiMessage(TypedDict):
    """One message of a conversation."""

    id: str
    """Unique within the conversation."""

    role: Role
    """The author."""

    metadata: NotRequired[MessageMetadata]
    """Metadata of the message; the server writes `MessageMetadata`."""

    parts: list[UiPart]
    """The content, in order."""


class UiMessageInput(TypedDict):
    """One message of a conversation."""

    id: str
    """Unique within the conversation."""

    role: Role
    """The author."""

    metadata: NotRequired[MessageMetadata | None]
    """Metadata of the message; the server writes `MessageMetadata`."""

    parts: NotRequired[list[UiPart]]
    """The content, in order."""


UiPart: TypeAlias = "dict[str, Any]"
"""A part of a message. More types may be added."""


class UserError(TypedDict):
    """An error for the caller, as `{"code", "message"}`; HTTP responses wrap it as `{"error": {…}}`."""

    code: ErrorCode
    """The code, for programs."""

    reason: NotRequired[ErrorReason]
    """The specific cause behind the code, for which a localized UI has its own text."""

    message: str
    """The message for people: what happened and what to do next. It never contains a secret, a provider's response body or a path."""

    path: NotRequired[str]
    """The invalid field, for example `/messages/0/parts`, with `ErrorCode::Invalid`."""

    retryAfter: NotRequired[int]
    """Seconds to wait before trying again, with `ErrorCode::RateLimited` and `ErrorCode::Unavailable`."""

    traceId: NotRequired[str]
    """The trace id, by which an operator finds the request in logs and traces."""


class WorkSettings(TypedDict):
    """How an agent works."""

    execution_mode: NotRequired[ExecutionModeName]
    """How often it goes on by itself."""

    tool_strategy: NotRequired[ToolStrategyName]
    """In which way it uses its tools."""

    max_iterations: NotRequired[int]
    """The most steps with tool calls, with `run_max_iterations`."""


class WorkspaceFile(TypedDict):
    """A file, or a version of one."""

    path: str
    """The path, for example `/outputs/report.md`."""

    version: NotRequired[int]
    """The number of the version, which is unique in the conversation. Files that are attached to messages have none."""

    url: str
    """The URL of the content. It always refers to this version."""

    mediaType: str
    """The media type that was detected from the content and the name."""

    size: int
    """The size in bytes."""

    changedAt: int
    """When it was written; Unix time, milliseconds."""


class WorkspaceFiles(TypedDict):
    """Files, or versions of one."""

    items: list[WorkspaceFile]
