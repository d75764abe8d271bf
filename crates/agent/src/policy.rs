//! Whether a call may run, before it does (D-8): by rules, and by someone who is asked. What is stricter counts.

use contract::ToolCall;
use futures::future::BoxFuture;

/// A call that is about to run.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The call; its arguments fit the tool.
    pub call: &'a ToolCall,
    /// The agent that makes it.
    pub agent_id: &'a str,
    /// On whose behalf.
    pub user_id: &'a str,
    /// In which conversation.
    pub conversation_id: &'a str,
    /// The agent works for another one, whose policy is asked, too.
    pub is_sub_agent: bool,
}

/// What is decided about a call, from the mildest to the strictest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It may run.
    Allow,
    /// The user decides.
    Ask,
    /// It may not; the text is for the model and the user.
    Deny(String),
}

impl Ruling {
    /// The stricter of two; this one, where both are as strict.
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

/// Decides about calls.
pub trait Policy: Send + Sync + 'static {
    /// Decides about one. Whoever cannot decide denies.
    fn decide<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Ruling>;
}

/// What the model and the user read of a call that is denied.
pub(crate) fn denied(reason: &str) -> String {
    format!("Not allowed: {reason}")
}
