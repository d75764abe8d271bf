//! A submission: what the user sends is checked and planned, stored together with the run that
//! answers it, and calls that wait for the user are settled.

pub(crate) mod begin;
pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod compaction;
pub(crate) mod content;
pub(crate) mod conversation_locks;
pub(crate) mod deliver;
pub(crate) mod expiry;
pub(crate) mod frontend;
pub(crate) mod hand_over;
pub(crate) mod metadata;
pub(crate) mod model_choice;
pub(crate) mod origin;
pub(crate) mod plan;
pub(crate) mod post;
pub(crate) mod preset;
pub(crate) mod send;
pub(crate) mod standing_approvals;
pub(crate) mod withdraw;

use crate::{Frames, Frontend};
use store::AuditEntry;
use wire::api::SendRequest;

/// The response to an accepted submission.
pub struct SendResponse {
    /// The run that answers; empty if answers were stored and others are still missing.
    pub run_id: String,
    /// The assistant message that the run writes.
    pub message_id: String,
    /// The run's stream.
    pub frames: Frames,
}

/// A submission with its circumstances.
pub(crate) struct SentSubmission {
    pub(crate) request: SendRequest,
    /// The frontend, if it is not a page of the config.
    pub(crate) frontend: Option<Frontend>,
    /// The answer with which the conversation must end, if only then the submission is accepted.
    pub(crate) after: Option<String>,
    /// Further entries for the audit log.
    pub(crate) audit: Vec<AuditEntry>,
}
