//! Notes to the model: what its sources have to say, and which tasks it has handed over.

use super::delegated;
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Event, EventSink, SinkClosed};
use contract::{Message, NoteQuery, UserPart};
use std::sync::Arc;

impl Run<'_> {
    /// Tells the model before the next step what its sources have to say, and which tasks it has handed over
    /// if their calls are summarised.
    pub(crate) async fn add_notes<S: EventSink>(&mut self, sink: &mut S) -> Result<(), RunFailure> {
        let is_summarized = self.context.projection.summary.is_some();
        if self.configured.sources.is_empty() && (!is_summarized || self.agent.agents.is_empty()) {
            return Ok(());
        }
        // The messages before the history are the same in later steps.
        if self.steps == 0 && self.needs_history_for_notes() {
            self.complete_history().await;
        }
        let messages = self.context.projection.apply(&self.messages, self.agent.settings.result_limit());
        if let Some(text) = delegated::note(&self.agent.agents, &self.messages, &messages) {
            self.add_note(text, sink).await?;
        }
        for source in &self.configured.sources {
            let asked = NoteQuery { scope: &self.caller.scope, messages: &messages, history: &self.messages };
            let asked = source.note(asked);
            if let Some(Some(text)) = self.caller.cancel.run_until_cancelled(asked).await {
                self.add_note(text, sink).await?;
            }
        }
        Ok(())
    }

    /// Returns whether notes may be about messages before the history.
    fn needs_history_for_notes(&self) -> bool {
        let Some(earlier) = &self.context.earlier else { return false };
        self.configured.sources.iter().any(|source| source.reads_history())
            || self.agent.agents.iter().any(|below| earlier.may_contain(&below.spec.name))
    }

    /// Adds a note to the history. It is stored, so that it stays there in later turns.
    pub(crate) async fn add_note<S: EventSink>(&mut self, text: String, sink: &mut S) -> Result<(), RunFailure> {
        sink.emit(Event::PromptNote { text: text.clone() }).await.map_err(|SinkClosed| RunFailure::Sink)?;
        self.messages.push(Arc::new(Message::User(vec![UserPart::Text { text }])));
        Ok(())
    }
}
