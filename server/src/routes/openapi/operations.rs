//! The routes for programs, one line each.

use Answer::{Empty, Json, Stream, Text};
use Tag::{Accounts, Administration, Agents, Conversations, Endpoints, Files, Operation as Operating, Platforms};

/// What routes are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Agents,
    Conversations,
    Files,
    Endpoints,
    Accounts,
    Administration,
    Platforms,
    Operation,
}

impl Tag {
    pub(super) const ALL: [Self; 8] =
        [Agents, Conversations, Files, Endpoints, Accounts, Administration, Platforms, Operating];

    pub(super) fn name(self) -> &'static str {
        match self {
            Agents => "agents",
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
                "Asking agents: as a chat, whose answers are streams of the AI SDK's UI messages, or once. Scope `agents`."
            }
            Conversations => {
                "The caller's conversations, folders, links and standing approvals. Scope `conversations`."
            }
            Files => "Files that are attached to messages.",
            Endpoints => "The config's endpoints. Scope `endpoints`.",
            Accounts => "Keys of programs, made by who is signed in in a browser.",
            Administration => "What administrators see and do. Scope `admin`, and the role `admin`.",
            Platforms => "Endpoints as tools of other agent platforms, behind a key of the config.",
            Operating => "For operators and their machines.",
        }
    }
}

/// What a good answer is.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// JSON of this schema.
    Json(u16, &'static str),
    Empty(u16),
    /// Server-sent events.
    Stream,
    /// Something else.
    Text(&'static str),
}

/// A route with one of its methods.
pub(super) struct Operation {
    pub(super) tag: Tag,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: &'static [(&'static str, &'static str)],
    /// The schema of its body; empty where the body is bytes.
    pub(super) body: Option<&'static str>,
    pub(super) answer: Answer,
}

const fn get(tag: Tag, path: &'static str, summary: &'static str, answer: Answer) -> Operation {
    Operation { tag, method: "get", path, summary, query: &[], body: None, answer }
}

const fn post(tag: Tag, path: &'static str, summary: &'static str, body: &'static str, answer: Answer) -> Operation {
    Operation { method: "post", body: Some(body), ..get(tag, path, summary, answer) }
}

/// Without a body.
const fn act(tag: Tag, path: &'static str, summary: &'static str, answer: Answer) -> Operation {
    Operation { method: "post", ..get(tag, path, summary, answer) }
}

const fn patch(tag: Tag, path: &'static str, summary: &'static str, body: &'static str, answer: Answer) -> Operation {
    Operation { method: "patch", body: Some(body), ..get(tag, path, summary, answer) }
}

const fn delete(tag: Tag, path: &'static str, summary: &'static str) -> Operation {
    Operation { method: "delete", ..get(tag, path, summary, Empty(204)) }
}

impl Operation {
    const fn with(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }
}

const PAGE: [(&str, &str); 2] = [("limit", "Lines of the page."), ("cursor", "`next` of the page before.")];
const AFTER: (&str, &str) = ("after", "`next` of the page before.");

/// All of them.
pub(super) const OPERATIONS: &[Operation] = &[
    post(Agents, "/api/agent/{page}/{agent}", "Send a message, decisions or outputs of tools", "SendBody", Stream)
        .with(&[("conversationId", "The conversation; without it that of the body's `id`, or a new one.")]),
    get(Agents, "/api/agent/{page}/{agent}/{conversation}/stream", "Follow the answer that is being written", Stream),
    act(Agents, "/api/agent/{page}/{agent}/{conversation}/stop", "Stop it", Empty(204)),
    post(Agents, "/api/runs/invoke", "Ask once, without tools", "InvokeRequest", Json(200, "Invocation")),
    get(Agents, "/api/runs", "What was asked", Json(200, "InvocationList")).with(&[("limit", "Lines.")]),
    get(Agents, "/api/runs/{id}", "One question", Json(200, "Invocation")),
    get(Agents, "/api/grants", "The standing approvals", Json(200, "Object")),
    delete(Agents, "/api/grants/{id}", "Take one back"),
    get(Conversations, "/api/conversations", "The list", Json(200, "ConversationList")).with(&[
        PAGE[0],
        PAGE[1],
        ("archived", "`true`: those in the archive."),
        ("folder", "Those in this folder."),
    ]),
    post(Conversations, "/api/conversations", "Import one", "ExportedConversation", Json(201, "Object")),
    get(Conversations, "/api/conversations/{id}", "One with its messages", Json(200, "Conversation")),
    patch(Conversations, "/api/conversations/{id}", "Change what the list shows", "ConversationChange", Empty(204)),
    delete(Conversations, "/api/conversations/{id}", "Delete it; for five minutes it can be brought back"),
    post(Conversations, "/api/conversations/{id}/change", "Change what is in it", "Object", Json(200, "Object")),
    get(Conversations, "/api/conversations/{id}/usage", "What it took", Json(200, "Object")),
    get(Conversations, "/api/conversations/{id}/export", "The whole of it", Json(200, "ExportedConversation"))
        .with(&[("format", "`json`, `markdown` or `html`.")]),
    get(Conversations, "/api/conversations/{id}/shares", "Links to copies", Json(200, "ShareList")),
    post(Conversations, "/api/conversations/{id}/shares", "Make a link", "ShareRequest", Json(201, "Share")),
    delete(Conversations, "/api/shares/{id}", "End a link"),
    get(Conversations, "/api/folders", "The folders", Json(200, "FolderList")),
    post(Conversations, "/api/folders", "Make one", "Name", Json(201, "Folder")),
    patch(Conversations, "/api/folders/{id}", "Give it another name", "Name", Empty(204)),
    delete(Conversations, "/api/folders/{id}", "Delete it; what is in it stays"),
    get(Conversations, "/api/search", "Search titles and messages", Json(200, "Object")).with(&[
        ("q", "Words."),
        PAGE[0],
        PAGE[1],
    ]),
    post(Files, "/api/files", "Keep a file", "", Json(201, "File")).with(&[("name", "What it is called.")]),
    get(Files, "/api/files/{id}", "Its bytes", Text("application/octet-stream")),
    delete(Files, "/api/files/{id}", "Delete it"),
    post(Endpoints, "/api/endpoints/{page}/{endpoint}", "Call an endpoint with its payload", "Any", Json(200, "Any")),
    get(Accounts, "/api/keys", "The keys", Json(200, "Object")),
    post(Accounts, "/api/keys", "Make one; it is shown once", "KeyRequest", Json(201, "Object")),
    delete(Accounts, "/api/keys/{id}", "End one"),
    get(Administration, "/api/admin/overview", "What was used", Json(200, "Object")).with(&[("days", "`7` or `30`.")]),
    get(Administration, "/api/admin/users", "Users", Json(200, "Page")).with(&[
        ("text", "Part of the name."),
        ("role", "With this role."),
        ("state", "`all`, `enabled` or `disabled`."),
        ("sort", "`name` or `newest`."),
        AFTER,
    ]),
    post(Administration, "/api/admin/users", "Add one", "NewUser", Json(201, "Object")),
    get(Administration, "/api/admin/users/{id}", "One", Json(200, "Object")),
    patch(Administration, "/api/admin/users/{id}", "Change his rights", "UserChange", Json(200, "Object")),
    delete(Administration, "/api/admin/users/{id}", "Delete him with all that is his; it goes on in the background")
        .answers(Empty(202))
        .with(&[("name", "His name, to be sure.")]),
    act(Administration, "/api/admin/users/{id}/password", "Give him another password", Json(200, "Object")),
    delete(Administration, "/api/admin/users/{id}/sessions", "Sign him out everywhere"),
    get(Administration, "/api/admin/conversations", "The conversations of all", Json(200, "Page")).with(&[
        ("text", "Words."),
        ("owner", "Of this user."),
        ("agent", "With this agent."),
        ("from", "A day, such as 2026-11-21."),
        ("to", "A day."),
        ("judged", "`any`, `up` or `down`."),
        ("errors", "`1`: an answer failed."),
        ("cost", "US dollars, or more."),
        ("sort", "`newest`, `oldest` or `cost`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/conversations/{id}", "One with its whole run", Json(200, "Object")),
    delete(Administration, "/api/admin/conversations/{id}", "Delete it"),
    get(Administration, "/api/admin/feedback", "What users think of answers", Json(200, "Page")).with(&[
        ("judged", "`any`, `up` or `down`."),
        ("sort", "`newest` or `oldest`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/agents", "The agents, and how they do", Json(200, "Page")).with(&[
        ("text", "Part of the name or the model."),
        ("sort", "`config`, `name`, `requests`, `errors`, `slowest` or `cost`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/agents/{id}", "One with its config and its last answers", Json(200, "Object")),
    post(
        Administration,
        "/api/admin/agents/{id}/ask",
        "Ask it, in a conversation that is marked as a test",
        "Text",
        Json(200, "Object"),
    ),
    get(Administration, "/api/admin/agents/{id}/tools", "The tools that it has now", Json(200, "Object")),
    post(Administration, "/api/admin/agents/{id}/tools/{tool}", "Try a call", "Attempt", Json(200, "Object")),
    get(Administration, "/api/admin/custom-agents", "Agents that administrators made", Json(200, "Page")).with(&[
        ("text", "Stands in the name, the purpose or what it is made from."),
        ("sort", "`name`, `newest` or `oldest`."),
        AFTER,
    ]),
    post(Administration, "/api/admin/custom-agents", "Make one", "CustomAgent", Json(201, "Object")),
    get(Administration, "/api/admin/custom-agents/{id}", "One with its versions", Json(200, "Object")),
    post(Administration, "/api/admin/custom-agents/{id}", "Change one", "CustomAgent", Json(200, "Object")).puts(),
    delete(Administration, "/api/admin/custom-agents/{id}", "Delete one"),
    get(Administration, "/api/admin/tools", "How servers and tools do", Json(200, "Object")).with(&[
        ("text", "Stands in the tool's name."),
        ("agent", "Of this agent."),
        ("sort", "`errors`, `calls`, `slowest`, `newest` or `name`."),
        AFTER,
    ]),
    get(Administration, "/api/admin/approvals", "The standing approvals of all", Json(200, "Page")).with(&[
        ("user", "Of this user."),
        ("agent", "For this agent."),
        ("tool", "For this tool."),
        ("sort", "`newest`, `oldest` or `tool`."),
        AFTER,
    ]),
    delete(Administration, "/api/admin/approvals/{id}", "Take one back"),
    get(Administration, "/api/admin/access", "The sessions and keys of all", Json(200, "Page")).with(&[
        ("user", "Of this user."),
        ("kind", "`any`, `session`, `key` or `outside`: of users who are kept elsewhere."),
        ("sort", "`newest`, `oldest` or `used`."),
        AFTER,
    ]),
    delete(Administration, "/api/admin/access/{kind}/{id}", "Take one away"),
    get(Administration, "/api/admin/retention", "How long things are kept, and what goes next", Json(200, "Object")),
    act(Administration, "/api/admin/retention", "Delete now what is due", Json(200, "Object")),
    get(Administration, "/api/admin/config", "The config that is in use, and its last reloads", Json(200, "Object")),
    get(Administration, "/api/admin/audit", "The audit log, newest first", Json(200, "Page")).with(&[
        ("user", "On whose behalf."),
        ("tool", "The tool."),
        ("agent", "The agent."),
        ("conversation", "The conversation."),
        ("outcome", "`any`, `ok`, `error`, `denied`, `refused` or `interrupted`."),
        ("from", "A day, such as 2026-11-21."),
        ("to", "A day."),
        AFTER,
    ]),
    get(Administration, "/api/admin/audit/verify", "Whether its chain holds", Json(200, "Object")),
    get(Platforms, "/remote-agent/tools", "The tools", Json(200, "Object")),
    post(Platforms, "/remote-agent/tools/{tool}", "Call one", "Object", Json(200, "Object")),
    post(Platforms, "/remote-agent/resource", "What is good to know before", "Object", Json(200, "Object")),
    get(Operating, "/api/config/status", "The version of the config, and of a page of it", Json(200, "Object"))
        .with(&[("page", "The id of a page; empty for the one at `/`.")]),
    get(Operating, super::PATH, "This document", Json(200, "Object")),
    get(Operating, "/healthz", "Whether the server runs", Text("text/plain")),
    get(Operating, "/readyz", "Whether it takes messages", Text("text/plain")),
    get(Operating, "/metrics", "Figures for Prometheus, on the machine itself", Text("text/plain")),
];

impl Operation {
    const fn puts(self) -> Self {
        Self { method: "put", ..self }
    }

    const fn answers(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }
}
