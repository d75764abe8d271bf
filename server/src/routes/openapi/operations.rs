//! The table of the HTTP API's routes.

use SuccessResponse::{Empty, Json, Stream, Text};
use Tag::{
    Accounts, Administration, Agents, Approvals, Conversations, Endpoints, Files, Operation as Operating, Platforms,
};

/// The group of a route.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Agents,
    Approvals,
    Conversations,
    Files,
    Endpoints,
    Accounts,
    Administration,
    Platforms,
    Operation,
}

impl Tag {
    pub(super) const ALL: [Self; 9] =
        [Agents, Approvals, Conversations, Files, Endpoints, Accounts, Administration, Platforms, Operating];

    pub(super) fn name(self) -> &'static str {
        match self {
            Agents => "agents",
            Approvals => "approvals",
            Conversations => "conversations",
            Files => "files",
            Endpoints => "endpoints",
            Accounts => "accounts",
            Administration => "administration",
            Platforms => "platforms",
            Operating => "operation",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Agents => {
                "Chat with agents, as streams of AI SDK UI messages, or invoke them with a single question. Scope `agents`."
            }
            Approvals => "The caller's standing approvals. Only for signed-in users: API keys cannot use them.",
            Conversations => "The caller's conversations, folders and shared links. Scope `conversations`.",
            Files => "Files attached to messages.",
            Endpoints => "The config's endpoints. Scope `endpoints`.",
            Accounts => "The caller's API keys. Only for signed-in users: API keys cannot use these routes.",
            Administration => "The admin console. Scope `admin`, and the role `admin`.",
            Platforms => "Endpoints as tools for other agent platforms, with a key that the config sets.",
            Operating => "Health, metrics and versions, for operators and monitoring.",
        }
    }
}

/// The response of a successful request.
#[derive(Clone, Copy)]
pub(super) enum SuccessResponse {
    /// The status, and the JSON schema of the body.
    Json(u16, &'static str),
    Empty(u16),
    /// Server-sent events.
    Stream,
    /// A body of this media type, other than JSON.
    Text(&'static str),
}

/// One method of a route.
pub(super) struct Operation {
    pub(super) tag: Tag,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: &'static [(&'static str, &'static str)],
    /// The schema of the request body; empty for bytes.
    pub(super) body: Option<&'static str>,
    pub(super) response: SuccessResponse,
}

const fn get(tag: Tag, path: &'static str, summary: &'static str, answer: SuccessResponse) -> Operation {
    Operation { tag, method: "get", path, summary, query: &[], body: None, response: answer }
}

const fn post(
    tag: Tag,
    path: &'static str,
    summary: &'static str,
    body: &'static str,
    answer: SuccessResponse,
) -> Operation {
    Operation { method: "post", body: Some(body), ..get(tag, path, summary, answer) }
}

/// Creates a `POST` operation without a body.
const fn post_without_body(tag: Tag, path: &'static str, summary: &'static str, answer: SuccessResponse) -> Operation {
    Operation { method: "post", ..get(tag, path, summary, answer) }
}

const fn patch(
    tag: Tag,
    path: &'static str,
    summary: &'static str,
    body: &'static str,
    answer: SuccessResponse,
) -> Operation {
    Operation { method: "patch", body: Some(body), ..get(tag, path, summary, answer) }
}

const fn delete(tag: Tag, path: &'static str, summary: &'static str) -> Operation {
    Operation { method: "delete", ..get(tag, path, summary, Empty(204)) }
}

impl Operation {
    const fn with_query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }
}

const PAGING: [(&str, &str); 2] = [("limit", "Items per page."), ("cursor", "`next` of the previous page.")];
const AFTER: (&str, &str) = ("after", "`next` of the previous page.");

/// All operations.
pub(super) const OPERATIONS: &[Operation] = &[
    post(
        Agents,
        "/api/agent/{page}/{agent}",
        "Send a message, approval decisions or tool outputs; 409 `other_agent` in a conversation with another agent",
        "SendBody",
        Stream,
    )
    .with_query(&[("conversationId", "The conversation; without it, the `id` of the body, or a new one.")]),
    get(Agents, "/api/agent/{page}/{agent}/{conversation}/stream", "Stream a running answer", Stream),
    post_without_body(Agents, "/api/agent/{page}/{agent}/{conversation}/stop", "Stop a running answer", Empty(204)),
    post(
        Agents,
        "/api/runs/invoke",
        "Invoke an agent with a single question, without tools",
        "InvokeRequest",
        Json(200, "Invocation"),
    ),
    get(Agents, "/api/runs", "List invocations", Json(200, "InvocationList"))
        .with_query(&[("limit", "The maximum number of items.")]),
    get(Agents, "/api/runs/{id}", "Get an invocation", Json(200, "Invocation")),
    get(Approvals, "/api/grants", "List the caller's standing approvals", Json(200, "Object")),
    delete(Approvals, "/api/grants/{id}", "Revoke a standing approval"),
    get(Conversations, "/api/conversations", "List conversations", Json(200, "ConversationList")).with_query(&[
        PAGING[0],
        PAGING[1],
        ("archived", "`true` for archived conversations."),
        ("folder", "Only conversations in this folder."),
    ]),
    post(Conversations, "/api/conversations", "Import a conversation", "ExportedConversation", Json(201, "Object")),
    get(Conversations, "/api/conversations/{id}", "Get a conversation with its messages", Json(200, "Conversation")),
    patch(
        Conversations,
        "/api/conversations/{id}",
        "Change the title, folder, pin or archive state of a conversation",
        "ConversationChange",
        Empty(204),
    ),
    delete(Conversations, "/api/conversations/{id}", "Delete a conversation; it can be restored for five minutes"),
    post(
        Conversations,
        "/api/conversations/{id}/change",
        "Change a message of a conversation: switch its branch, delete, restore, rate or copy",
        "Object",
        Json(200, "Object"),
    ),
    get(Conversations, "/api/conversations/{id}/usage", "Get the usage of a conversation", Json(200, "Object")),
    get(Conversations, "/api/conversations/{id}/export", "Export a conversation", Json(200, "ExportedConversation"))
        .with_query(&[("format", "`json`, `markdown` or `html`.")]),
    get(
        Conversations,
        "/api/conversations/{id}/shares",
        "List the shared links of a conversation",
        Json(200, "ShareList"),
    ),
    post(Conversations, "/api/conversations/{id}/shares", "Create a shared link", "ShareRequest", Json(201, "Share")),
    delete(Conversations, "/api/shares/{id}", "Delete a shared link"),
    get(Conversations, "/api/folders", "List folders", Json(200, "FolderList")),
    post(Conversations, "/api/folders", "Create a folder", "Name", Json(201, "Folder")),
    patch(Conversations, "/api/folders/{id}", "Rename a folder", "Name", Empty(204)),
    delete(Conversations, "/api/folders/{id}", "Delete a folder; its conversations are kept"),
    get(Conversations, "/api/search", "Search titles and messages", Json(200, "Object")).with_query(&[
        ("q", "The text to search for."),
        PAGING[0],
        PAGING[1],
    ]),
    post(Files, "/api/files", "Upload a file", "", Json(201, "File")).with_query(&[("name", "The file name.")]),
    get(Files, "/api/files/{id}", "Download a file", Text("application/octet-stream")),
    delete(Files, "/api/files/{id}", "Delete a file"),
    post(Endpoints, "/api/endpoints/{page}/{endpoint}", "Call an endpoint with a payload", "Any", Json(200, "Any")),
    get(Accounts, "/api/keys", "List the caller's API keys", Json(200, "Object")),
    post(Accounts, "/api/keys", "Create an API key; it is shown once", "KeyRequest", Json(201, "Object")),
    delete(Accounts, "/api/keys/{id}", "Delete an API key"),
    get(Administration, "/api/admin/overview", "Get the usage of the last days", Json(200, "Object"))
        .with_query(&[("days", "`7` or `30`.")]),
    get(Administration, "/api/admin/users", "List users", Json(200, "Page")).with_query(&[
        ("text", "Part of the name."),
        ("role", "Only users with this role."),
        ("state", "`all`, `enabled` or `disabled`."),
        ("sort", "`name` or `newest`."),
        AFTER,
    ]),
    post(Administration, "/api/admin/users", "Add a user", "NewUser", Json(201, "Object")),
    get(Administration, "/api/admin/users/{id}", "Get a user", Json(200, "Object")),
    patch(
        Administration,
        "/api/admin/users/{id}",
        "Change a user's roles, or disable them",
        "UserChange",
        Json(200, "Object"),
    ),
    delete(Administration, "/api/admin/users/{id}", "Delete a user and everything they own, in the background")
        .with_response(Empty(202))
        .with_query(&[("name", "The user's name, as a confirmation.")]),
    post_without_body(Administration, "/api/admin/users/{id}/password", "Reset a user's password", Json(200, "Object")),
    delete(Administration, "/api/admin/users/{id}/sessions", "Sign a user out everywhere"),
    get(Administration, "/api/admin/conversations", "List the conversations of all users", Json(200, "Page"))
        .with_query(&[
            ("text", "The text to search for."),
            ("owner", "Only conversations of this user (id)."),
            ("agent", "Only conversations with this agent."),
            ("from", "A day, such as 2026-11-21."),
            ("to", "A day."),
            ("judged", "`any`, `up` or `down`."),
            ("errors", "`1` for conversations in which an answer failed."),
            ("cost", "Minimum cost in US dollars."),
            ("sort", "`newest`, `oldest` or `cost`."),
            AFTER,
        ]),
    get(
        Administration,
        "/api/admin/conversations/{id}",
        "Get a conversation with its tool calls and model requests",
        Json(200, "Object"),
    ),
    delete(Administration, "/api/admin/conversations/{id}", "Delete a conversation"),
    get(Administration, "/api/admin/feedback", "List feedback on answers", Json(200, "Page")).with_query(&[
        ("judged", "`any`, `up` or `down`."),
        ("sort", "`newest` or `oldest`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/agents", "List agents with their usage", Json(200, "Page")).with_query(&[
        ("text", "Part of the name or the model."),
        ("sort", "`config`, `name`, `requests`, `errors`, `slowest` or `cost`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/agents/{id}", "Get an agent with its config and last answers", Json(200, "Object")),
    post(
        Administration,
        "/api/admin/agents/{id}/ask",
        "Ask an agent, in a conversation that is marked as a test",
        "Text",
        Json(200, "Object"),
    ),
    get(Administration, "/api/admin/agents/{id}/tools", "List the tools that an agent has now", Json(200, "Object")),
    post(Administration, "/api/admin/agents/{id}/tools/{tool}", "Run a tool as a test", "Attempt", Json(200, "Object")),
    get(Administration, "/api/admin/custom-agents", "List custom agents", Json(200, "Page")).with_query(&[
        ("text", "Part of the name, the purpose or the base agent."),
        ("sort", "`name`, `newest` or `oldest`."),
        AFTER,
    ]),
    post(Administration, "/api/admin/custom-agents", "Create a custom agent", "CustomAgent", Json(201, "Object")),
    get(Administration, "/api/admin/custom-agents/{id}", "Get a custom agent with its versions", Json(200, "Object")),
    post(Administration, "/api/admin/custom-agents/{id}", "Change a custom agent", "CustomAgent", Json(200, "Object"))
        .with_put(),
    delete(Administration, "/api/admin/custom-agents/{id}", "Delete a custom agent"),
    get(Administration, "/api/admin/tools", "List MCP servers and tools with their health", Json(200, "Object"))
        .with_query(&[
            ("text", "Part of the tool's name."),
            ("agent", "Only those of this agent."),
            ("sort", "`errors`, `calls`, `slowest`, `newest` or `name`."),
            AFTER,
        ]),
    get(Administration, "/api/admin/approvals", "List the standing approvals of all users", Json(200, "Page"))
        .with_query(&[
            ("user", "Only those of this user (id)."),
            ("agent", "Only those for this agent."),
            ("tool", "Only those for this tool."),
            ("sort", "`newest`, `oldest` or `tool`."),
            AFTER,
        ]),
    delete(Administration, "/api/admin/approvals/{id}", "Revoke a standing approval"),
    get(Administration, "/api/admin/access", "List the sessions and API keys of all users", Json(200, "Page"))
        .with_query(&[
            ("user", "Only those of this user (id)."),
            ("kind", "`any`, `session`, `key`, or `outside` for API keys of external users."),
            ("sort", "`newest`, `oldest` or `used`."),
            AFTER,
        ]),
    delete(Administration, "/api/admin/access/{kind}/{id}", "Revoke a session or an API key"),
    get(Administration, "/api/admin/retention", "Get the retention rules and the next deletions", Json(200, "Object")),
    post_without_body(Administration, "/api/admin/retention", "Delete due data now", Json(200, "Object")),
    get(Administration, "/api/admin/config", "Get the state of the config, and its last reloads", Json(200, "Object")),
    get(Administration, "/api/admin/audit", "List the audit log, newest first", Json(200, "Page")).with_query(&[
        ("user", "Only rows of this user (id or name)."),
        ("kind", "`any`, `tools`, `accounts` or `administration`."),
        ("tool", "The tool or action."),
        ("agent", "Only rows of this agent."),
        ("conversation", "Only rows of this conversation."),
        ("outcome", "`any`, `ok`, `error`, `denied`, `refused` or `interrupted`."),
        ("from", "A day, such as 2026-11-21."),
        ("to", "A day."),
        AFTER,
    ]),
    get(Administration, "/api/admin/audit/verify", "Verify the chain of the audit log", Json(200, "Object")),
    get(Platforms, "/remote-agent/tools", "List tools", Json(200, "Object")),
    post(Platforms, "/remote-agent/tools/{tool}", "Call a tool", "Object", Json(200, "Object")),
    post(Platforms, "/remote-agent/resource", "Get context for a task", "Object", Json(200, "Object")),
    get(Operating, "/api/config/status", "Get the version of the config, and of a page", Json(200, "Object"))
        .with_query(&[("page", "The id of a page; empty for the one at `/`.")]),
    get(Operating, super::PATH, "Get this document", Json(200, "Object")),
    get(Operating, "/healthz", "Check that the server runs", Text("text/plain")),
    get(Operating, "/readyz", "Check that the server is ready", Text("text/plain")),
    get(Operating, "/metrics", "Get metrics for Prometheus; only from the server's own machine", Text("text/plain")),
];

impl Operation {
    const fn with_put(self) -> Self {
        Self { method: "put", ..self }
    }

    const fn with_response(self, answer: SuccessResponse) -> Self {
        Self { response: answer, ..self }
    }
}
