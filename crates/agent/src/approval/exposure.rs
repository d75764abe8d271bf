//! Tracks what an agent has read: private data and untrusted text. Once it has read both, a call of
//! a tool that can send data to others needs the user's approval. Neither the model nor the text
//! has an influence on this.

use contract::{Annotations, Exposure, ToolSpec};
use parking_lot::Mutex;
use std::sync::Arc;

/// The suffix of a tool's fingerprint if the approval request showed what the agent has read.
const EXPOSED: &str = "+exposed";

/// The sources that all agents of a turn have read so far. It is shared by all levels, because an answer
/// or a task may contain what another agent has read.
#[derive(Clone, Debug, Default)]
pub struct ExposureState(Arc<Mutex<Exposure>>);

impl From<Exposure> for ExposureState {
    fn from(before: Exposure) -> Self {
        Self(Arc::new(Mutex::new(before)))
    }
}

impl ExposureState {
    /// Returns the current exposure.
    pub fn snapshot(&self) -> Exposure {
        self.0.lock().clone()
    }

    /// Adds what a call of this tool reads. Returns the whole exposure if that changed it.
    pub(super) fn add(&self, tool: &str, marks: Annotations) -> Option<Exposure> {
        let mut known = self.0.lock();
        known.add(tool, marks).then(|| known.clone())
    }

    /// Returns the exposure if it requires the user's approval for a call of this tool.
    pub(crate) fn reason_to_ask(&self, tool: &ToolSpec) -> Option<Exposure> {
        Some(self.snapshot()).filter(|seen| tool.annotations.egress && seen.has_both())
    }
}

/// Returns the fingerprint that an approval request for this tool is about. A standing approval
/// that was given without knowledge of the exposure does not cover a request with it.
pub(crate) fn fingerprint(tool: &ToolSpec, is_exposed: bool) -> String {
    let plain = tool.fingerprint();
    if is_exposed { plain + EXPOSED } else { plain }
}

/// Returns whether the approval request showed the exposure.
pub(crate) fn is_exposed(asked: &str) -> bool {
    asked.ends_with(EXPOSED)
}

/// Returns whether the user was asked about this tool as it is now.
pub(crate) fn matches_tool(asked: &str, tool: &ToolSpec) -> bool {
    asked.strip_suffix(EXPOSED).unwrap_or(asked) == tool.fingerprint()
}
