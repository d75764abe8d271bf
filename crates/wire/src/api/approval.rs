//! Standing approvals.

use crate::read::read_struct;
use serde::{Deserialize, Serialize};

/// The scope of a standing approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalScope {
    /// This conversation.
    Conversation,
    /// All conversations of the user.
    Always,
}

/// A standing approval: it covers further calls of this tool by this agent, as long as the tool's
/// declaration does not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// The id by which it is revoked.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// The tool.
    pub tool_name: String,
    /// The conversation to which it is limited; absent if it covers all conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// That conversation's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_title: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

read_struct!(StandingApproval {
    id: "id",
    agent_id: "agentId",
    tool_name: "toolName",
    conversation_id: "conversationId",
    conversation_title: "conversationTitle",
    created_at: "createdAt",
});

/// The user's standing approvals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingApprovals {
    /// Newest first.
    pub items: Vec<StandingApproval>,
}

read_struct!(StandingApprovals { items: "items" });
