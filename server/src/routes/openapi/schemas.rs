//! The schemas of the document. Responses are described as far as clients can rely on them; they
//! may contain more fields.

use serde_json::{Value, json};
use wire::EndReason;

/// Returns the names of all reasons why a run can end.
fn end_reasons() -> Vec<&'static str> {
    EndReason::ALL.iter().map(|reason| reason.name()).collect()
}

/// Returns all schemas by name.
pub(super) fn all() -> Value {
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    let time = json!({ "type": "integer", "description": "Unix time, milliseconds." });
    let texts = json!({ "type": "array", "items": text });
    let list = |of: &str| json!({ "type": "array", "items": super::reference(of) });
    json!({
        "Any": {},
        "Object": { "type": "object" },
        "Error": object(&["error"], json!({ "error": object(&["code", "message"], json!({
            "code": {
                "enum": [
                    "malformed", "unauthenticated", "forbidden", "not_found", "busy", "conflict", "other_agent", "too_large", "invalid",
                    "rate_limited", "internal", "unavailable",
                ],
            },
            "reason": {
                "enum": [
                    "model_credentials", "model_limit", "model_refused", "model_away", "answer_broken", "not_saved", "server_busy",
                    "server_failed",
                ],
                "description": "The cause, in more detail than the code. More values may be added.",
            },
            "message": text,
            "path": { "type": "string", "description": "The invalid field, as a JSON pointer." },
            "retryAfter": { "type": "integer", "description": "Seconds." },
            "traceId": text,
        })) })),
        "Page": object(&["items"], json!({
            "items": { "type": "array", "items": { "type": "object" } },
            "next": { "type": "string", "description": "The cursor for `after`; absent on the last page." },
        })),
        "Message": object(&["id", "role", "parts"], json!({
            "id": text,
            "role": { "enum": ["user", "assistant"] },
            "parts": { "type": "array", "items": { "type": "object" } },
            "metadata": {
                "type": "object",
                "properties": {
                    "outcome": { "enum": ["done", "waiting", "stopped", "limit", "failed", "interrupted"] },
                    "reason": { "enum": end_reasons(), "description": "Why the newest run ended. More values may be added." },
                },
            },
        })),
        "SendBody": object(&["messages"], json!({
            "id": text,
            "messages": list("Message"),
            "trigger": { "enum": ["submit-message", "regenerate-message"] },
            "messageId": text,
            "blockId": { "type": "string", "description": "The id of the chat block, if the page has several with this agent." },
            "sharedState": { "type": "object" },
            "urlQuery": { "type": "object" },
            "switches": { "type": "object" },
        })),
        "InvokeRequest": object(&["agent_name", "input"], json!({
            "agent_name": text,
            "input": object(&["prompt"], json!({ "prompt": text })),
            "response_schema": object(&["name", "schema"], json!({ "name": text, "strict": flag, "schema": { "type": "object" } })),
            "agent_tier": { "enum": ["simple", "complex", "batch"] },
        })),
        "Invocation": object(&["run_id", "agent_name", "status"], json!({
            "run_id": text,
            "agent_name": text,
            "status": { "enum": ["running", "succeeded", "failed", "timeout"] },
            "output": {},
            "error": { "type": ["string", "null"] },
            "reason": { "enum": end_reasons(), "description": "Why the invocation ended; absent while it runs. More values may be added." },
            "created_at": time,
        })),
        "InvocationList": object(&["items"], json!({ "items": list("Invocation") })),
        "ConversationSummary": object(&["id", "title", "pageId", "agentId"], json!({
            "id": text,
            "title": text,
            "pageId": text,
            "agentId": text,
            "createdAt": time,
            "updatedAt": time,
            "running": flag,
            "waiting": { "type": "boolean", "description": "Whether the newest answer waits for an approval or an answer of the user." },
            "pinned": flag,
            "archived": flag,
            "unread": flag,
            "temporary": flag,
            "folderId": text,
        })),
        "ConversationList": object(&["items"], json!({ "items": list("ConversationSummary"), "next": text })),
        "Conversation": {
            "allOf": [super::reference("ConversationSummary"), object(&["messages"], json!({ "messages": list("Message") }))],
        },
        "ConversationChange": strict_object(&[], json!({
            "title": text,
            "pinned": flag,
            "archived": flag,
            "folderId": { "type": ["string", "null"] },
            "unread": flag,
            "deleted": flag,
            "temporary": flag,
        })),
        "ExportedConversation": strict_object(&["format", "title", "pageId", "agentId", "createdAt", "head", "messages"], json!({
            "format": text,
            "title": text,
            "pageId": text,
            "agentId": text,
            "createdAt": time,
            "head": { "type": "string", "description": "The newest message of the active branch." },
            "messages": { "type": "array", "items": { "type": "object" } },
        })),
        "ShareRequest": strict_object(&[], json!({ "toolResults": flag })),
        "Share": object(&["id"], json!({ "id": text, "createdAt": time })),
        "ShareList": object(&["items"], json!({ "items": list("Share") })),
        "Name": strict_object(&["name"], json!({ "name": text })),
        "Folder": object(&["id", "name"], json!({ "id": text, "name": text })),
        "FolderList": object(&["items"], json!({ "items": list("Folder") })),
        "File": object(&["id", "url", "mediaType", "filename", "size"], json!({
            "id": text,
            "url": { "type": "string", "description": "The URL for a `file` part of a message." },
            "mediaType": text,
            "filename": text,
            "size": { "type": "integer", "description": "Bytes." },
        })),
        "KeyRequest": strict_object(&["name", "scopes", "expiresInDays"], json!({
            "name": text,
            "scopes": { "type": "array", "items": { "enum": ["agents", "conversations", "endpoints", "admin"] } },
            "expiresInDays": { "type": "integer", "minimum": 1, "maximum": 366 },
        })),
        "NewUser": strict_object(&["name"], json!({ "name": text, "roles": texts, "allowUnknownRoles": flag })),
        "UserChange": strict_object(&[], json!({ "roles": texts, "disabled": flag, "allowUnknownRoles": flag })),
        "CustomAgent": strict_object(&["name", "from", "instructions"], json!({
            "name": text,
            "description": text,
            "from": { "type": "string", "description": "The base agent: an agent of the config." },
            "instructions": text,
            "tools": texts,
            "version": { "type": "integer", "description": "The version that the change is based on; absent for a new agent." },
        })),
        "Text": strict_object(&["text"], json!({ "text": text })),
        "Attempt": strict_object(&[], json!({ "arguments": { "type": "object" }, "approved": flag })),
    })
}

/// Creates an object schema that allows other properties.
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

/// Creates an object schema that forbids other properties.
fn strict_object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}
