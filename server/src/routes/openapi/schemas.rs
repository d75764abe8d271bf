//! The schemas that the document names. What a client only reads is described as far as it can rely on it; more may stand in it.

use serde_json::{Value, json};
use wire::EndReason;

/// The names of the reasons for which runs end.
fn reasons() -> Vec<&'static str> {
    EndReason::ALL.iter().map(|reason| reason.name()).collect()
}

/// All of them, by name.
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
                "description": "Which of the things behind the code it was. There may be others later.",
            },
            "message": text,
            "path": { "type": "string", "description": "The field that is wrong." },
            "retryAfter": { "type": "integer", "description": "Seconds." },
            "traceId": text,
        })) })),
        "Page": object(&["items"], json!({
            "items": { "type": "array", "items": { "type": "object" } },
            "next": { "type": "string", "description": "For `after`; absent on the last page." },
        })),
        "Message": object(&["id", "role", "parts"], json!({
            "id": text,
            "role": { "enum": ["user", "assistant"] },
            "parts": { "type": "array", "items": { "type": "object" } },
            "metadata": {
                "type": "object",
                "properties": {
                    "outcome": { "enum": ["done", "waiting", "stopped", "limit", "failed", "interrupted"] },
                    "reason": { "enum": reasons(), "description": "Why the newest run ended. There may be others later." },
                },
            },
        })),
        "SendBody": object(&["messages"], json!({
            "id": text,
            "messages": list("Message"),
            "trigger": { "enum": ["submit-message", "regenerate-message"] },
            "messageId": text,
            "blockId": { "type": "string", "description": "The chat on the page, where the page has several with this agent." },
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
            "reason": { "enum": reasons(), "description": "Why it ended; absent while it runs. There may be others later." },
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
            "waiting": { "type": "boolean", "description": "The newest answer waits for a decision or an answer of its user." },
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
        "ConversationChange": closed(&[], json!({
            "title": text,
            "pinned": flag,
            "archived": flag,
            "folderId": { "type": ["string", "null"] },
            "unread": flag,
            "deleted": flag,
            "temporary": flag,
        })),
        "ExportedConversation": closed(&["format", "title", "pageId", "agentId", "createdAt", "head", "messages"], json!({
            "format": text,
            "title": text,
            "pageId": text,
            "agentId": text,
            "createdAt": time,
            "head": { "type": "string", "description": "The newest message of the active branch." },
            "messages": { "type": "array", "items": { "type": "object" } },
        })),
        "ShareRequest": closed(&[], json!({ "toolResults": flag })),
        "Share": object(&["id"], json!({ "id": text, "createdAt": time })),
        "ShareList": object(&["items"], json!({ "items": list("Share") })),
        "Name": closed(&["name"], json!({ "name": text })),
        "Folder": object(&["id", "name"], json!({ "id": text, "name": text })),
        "FolderList": object(&["items"], json!({ "items": list("Folder") })),
        "File": object(&["id", "url", "mediaType", "filename", "size"], json!({
            "id": text,
            "url": { "type": "string", "description": "For the part `file` of a message." },
            "mediaType": text,
            "filename": text,
            "size": { "type": "integer", "description": "Bytes." },
        })),
        "KeyRequest": closed(&["name", "scopes", "expiresInDays"], json!({
            "name": text,
            "scopes": { "type": "array", "items": { "enum": ["agents", "conversations", "endpoints", "admin"] } },
            "expiresInDays": { "type": "integer", "minimum": 1, "maximum": 366 },
        })),
        "NewUser": closed(&["name"], json!({ "name": text, "roles": texts, "allowUnknownRoles": flag })),
        "UserChange": closed(&[], json!({ "roles": texts, "disabled": flag, "allowUnknownRoles": flag })),
        "CustomAgent": closed(&["name", "from", "instructions"], json!({
            "name": text,
            "description": text,
            "from": { "type": "string", "description": "An agent of the config." },
            "instructions": text,
            "tools": texts,
            "version": { "type": "integer", "description": "The version that is changed; not of a new one." },
        })),
        "Text": closed(&["text"], json!({ "text": text })),
        "Attempt": closed(&[], json!({ "arguments": { "type": "object" }, "approved": flag })),
    })
}

/// More may stand in it.
fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

/// Anything else is refused.
fn closed(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}
