//! What an agent has read that makes sending dangerous: private data, and text that anybody may have written. Once both are there, a
//! call that can send something away needs the user's yes. Neither the model nor the text decides about that.

use crate::reply::Failure;
use crate::run::Run;
use crate::{Event, EventSink, SinkClosed};
use contract::{AssistantPart, Exposure, Marks, ToolSpec};
use parking_lot::Mutex;
use std::sync::Arc;

/// Behind a tool's fingerprint where the user was told what the agent has read.
const EXPOSED: &str = "+exposed";

/// What has been read so far, by an agent and all agents below and above it: what one has read, its answer or its task may hold.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<Exposure>>);

impl From<Exposure> for Seen {
    fn from(before: Exposure) -> Self {
        Self(Arc::new(Mutex::new(before)))
    }
}

impl Seen {
    /// What it is now.
    pub fn now(&self) -> Exposure {
        self.0.lock().clone()
    }

    /// Takes in what a call of this tool reads. Answers the whole if that is something new.
    fn add(&self, tool: &str, marks: Marks) -> Option<Exposure> {
        let mut known = self.0.lock();
        known.add(tool, marks).then(|| known.clone())
    }

    /// Why the user is to be asked before a call of this tool, if he is.
    pub(crate) fn against(&self, tool: &ToolSpec) -> Option<Exposure> {
        Some(self.now()).filter(|seen| tool.marks.egress && seen.is_whole())
    }
}

/// What a tool is called when the user is asked about it for this reason. A standing approval that was given without the reason is none
/// for this question.
pub(crate) fn fingerprint(tool: &ToolSpec, is_exposed: bool) -> String {
    let plain = tool.fingerprint();
    if is_exposed { plain + EXPOSED } else { plain }
}

/// Whether the user was told this reason.
pub(crate) fn is_exposed(asked: &str) -> bool {
    asked.ends_with(EXPOSED)
}

/// Whether the user was asked about this tool as it is now.
pub(crate) fn is_of(asked: &str, tool: &ToolSpec) -> bool {
    asked.strip_suffix(EXPOSED).unwrap_or(asked) == tool.fingerprint()
}

impl Run<'_> {
    /// Takes in what a call of this tool reads, and has it kept with the conversation.
    pub(crate) async fn expose<S: EventSink>(&self, tool: &ToolSpec, sink: &mut S) -> Result<(), Failure> {
        Ok(expose(&self.caller.seen, &tool.name, tool.marks, sink).await?)
    }

    /// The same for what the provider's own tools brought in a reply: the web, most of all.
    pub(crate) async fn expose_reply<S: EventSink>(
        &self,
        said: &[AssistantPart],
        has_sources: bool,
        sink: &mut S,
    ) -> Result<(), Failure> {
        let tool = said.iter().find_map(|part| match part {
            AssistantPart::ToolResult(result) => Some(result.name.as_str()),
            _ => None,
        });
        match tool.or(has_sources.then_some(Exposure::WEB)) {
            Some(name) => Ok(expose(&self.caller.seen, name, UNTRUSTED, sink).await?),
            None => Ok(()),
        }
    }
}

/// What comes from outside.
const UNTRUSTED: Marks = Marks { reads_private: false, returns_untrusted: true, egress: false, idempotent: false };

/// Takes in what something reads, and has it kept with the conversation if that is new.
pub(crate) async fn expose<S: EventSink>(
    seen: &Seen,
    name: &str,
    marks: Marks,
    sink: &mut S,
) -> Result<(), SinkClosed> {
    match seen.add(name, marks) {
        Some(exposure) => sink.emit(Event::Exposed { exposure }).await,
        None => Ok(()),
    }
}
