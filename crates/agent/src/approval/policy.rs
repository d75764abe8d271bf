//! Policies, which decide before a tool call runs whether it may. Of several rulings the strictest
//! one counts.

use contract::{Message, RunScope, ToolCall, ToolSpec};
use futures::future::BoxFuture;
use std::sync::Arc;

/// A tool call for a policy to decide on.
#[derive(Clone, Debug)]
pub struct PolicyQuery<'a> {
    /// The call; its arguments are valid for the tool.
    pub call: &'a ToolCall,
    /// The declaration of the called tool.
    pub tool: &'a ToolSpec,
    /// The scope of the run.
    pub scope: &'a RunScope,
    /// The agent that makes the call.
    pub agent_id: &'a str,
    /// The user for whom it is made.
    pub user_id: &'a str,
    /// The conversation.
    pub conversation_id: &'a str,
    /// Whether the agent is a sub-agent. The policies of its calling agents are asked, too.
    pub is_sub_agent: bool,
    /// All messages that the agent has read, in the shown branch or in its task. Empty for a call that a
    /// program makes.
    pub history: &'a [Arc<Message>],
}

/// The decision on a call, from the mildest to the strictest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The call may run.
    Allow,
    /// The user decides.
    Ask,
    /// The call may not run. The reason is for the model and the user.
    Deny(String),
}

impl Ruling {
    /// Returns the stricter of two rulings; this one if they are equally strict.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask => 1,
            Self::Deny(_) => 2,
        }
    }
}

/// Decides which tool calls may run.
pub trait Policy: Send + Sync + 'static {
    /// Decides on one call. An implementation that cannot decide must deny.
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling>;
}

/// Returns the text about a denied call for the model and the user.
pub(crate) fn denied(reason: &str) -> String {
    format!("Not allowed: {reason}")
}
