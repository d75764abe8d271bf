//! The groups of routes in the OpenAPI document.

use auth::password::KeyScope;
use web::openapi::{Access, Tag};

/// Chats and invocations.
pub(super) const AGENTS: Tag = Tag {
    name: "agents",
    description: "Chat with agents, as streams of AI SDK UI messages, run them without a conversation, or invoke them with a single question. Scope `agents`.",
    access: Access::Users { scope: Some(KeyScope::Agents) },
};

/// Standing approvals.
pub(super) const APPROVALS: Tag = Tag {
    name: "approvals",
    description: "The caller's standing approvals. Only for signed-in users: API keys cannot use them.",
    access: Access::Users { scope: None },
};

/// Conversations, and what organizes and shares them.
pub(super) const CONVERSATIONS: Tag = Tag {
    name: "conversations",
    description: "The caller's conversations, folders and shared links. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Uploaded files.
pub(super) const FILES: Tag = Tag {
    name: "files",
    description: "Files attached to messages. API keys cannot use these routes.",
    access: Access::Users { scope: None },
};

/// Endpoints of the config.
pub(super) const ENDPOINTS: Tag = Tag {
    name: "endpoints",
    description: "The config's endpoints. Scope `endpoints`.",
    access: Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// The remote agent that other platforms use.
pub(super) const PLATFORMS: Tag = Tag {
    name: "platforms",
    description: "Endpoints as tools for other agent platforms, with a key that the config sets.",
    access: Access::Platforms,
};

/// The routes for operators and monitoring.
pub(super) const OPERATION: Tag = Tag {
    name: "operation",
    description: "Health, metrics and versions, for operators and monitoring.",
    access: Access::Anyone,
};
