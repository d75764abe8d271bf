//! The common parts of the observers of a run: the event that they see, and the rows that they
//! note.

use agent::Event;
use store::{AuditEntry, GateDecision, StepRecord};

/// Sees each event of a run before it is published. An observer adds to `rows` what must be stored
/// before that; it neither waits nor fails. An event that an observer does not need must cost nothing, since
/// most events are single words.
pub(super) trait RunObserver {
    /// Records an event.
    fn observe(&mut self, event: &RunEvent, rows: &mut EventRows);
}

/// An event of the run's agent or of one of its sub-agents.
pub(super) struct RunEvent {
    /// The event. Ids of a sub-agent's calls begin with the id of the call that runs the sub-agent.
    pub(super) event: Event,
    /// The sub-agent, if the event is one of its own.
    pub(super) sub_agent: Option<SubAgentId>,
}

/// Identifies the sub-agent of an event.
pub(super) struct SubAgentId {
    /// The call that runs it.
    pub(super) call_id: String,
    pub(super) agent_id: String,
}

impl RunEvent {
    /// Takes an event of a sub-agent out of its [`Event::Nested`]. Returns `None` for one of which
    /// nothing is recorded.
    pub(super) fn new(event: Event) -> Option<Self> {
        let Event::Nested { call_id, agent_id, event } = event else { return Some(Self { event, sub_agent: None }) };
        let event = match *event {
            replied @ Event::ReplyComplete(_) => replied,
            event => event.with_parent_call(&call_id)?,
        };
        Some(Self { event, sub_agent: Some(SubAgentId { call_id, agent_id }) })
    }

    /// Returns the id of the agent, if it is a sub-agent.
    pub(super) fn agent_id(&self) -> Option<&str> {
        self.sub_agent.as_ref().map(|sub_agent| sub_agent.agent_id.as_str())
    }

    /// Returns the event if watchers see it. The calls of a sub-agent are shown in the progress of
    /// the call that runs it.
    pub(super) fn into_visible(self) -> Option<Event> {
        let is_visible = match &self.event {
            Event::ReplyComplete(_) | Event::SideReply(_) | Event::ContextSize(_) => false,
            Event::CallGranted { .. } | Event::Exposed { .. } => true,
            _ => self.sub_agent.is_none(),
        };
        is_visible.then_some(self.event)
    }
}

/// The data that must be stored before an event is published.
#[derive(Default)]
pub(super) struct EventRows {
    /// The audit entry of the call that ends with the event.
    pub(super) ended: Vec<AuditEntry>,
    /// The audit entries of sub-agents' calls that end because the call above them has ended.
    pub(super) cut_off: Vec<AuditEntry>,
    /// The decisions on a sub-agent's call that starts.
    pub(super) gates: Vec<GateDecision>,
    /// The changes of the ledger and the audit log, in order.
    pub(super) ledger: Vec<LedgerRow>,
    /// The usage of a complete reply.
    pub(super) steps: Vec<StepRecord>,
    /// Whether the usage that is collected so far is stored now.
    pub(super) stores_usage: bool,
}

impl EventRows {
    pub(super) fn is_empty(&self) -> bool {
        self.ledger.is_empty() && self.steps.is_empty() && !self.stores_usage
    }
}

/// A change of the ledger of tool calls or the audit log; each is a transaction.
pub(super) enum LedgerRow {
    /// A call starts.
    Started {
        /// The call's id in the ledger.
        id: String,
        name: String,
        input: serde_json::Value,
        repeat: Option<agent::RepeatTerms>,
    },
    /// A call of a sub-agent starts.
    SubAgentStarted(store::SubAgentCall),
    /// A call ends, with its audit entry.
    Ended {
        /// The call's id in the ledger.
        id: String,
        outcome: store::ToolOutcome,
        audit: Option<AuditEntry>,
    },
    /// A call ends that is not in the ledger.
    Audit(AuditEntry),
}
