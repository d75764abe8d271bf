//! The content of the user's page. The model reads it with the user's message, and again when it
//! has changed. It stands in the history instead of the instructions, so that what is sent begins as
//! before.

use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Event, EventSink};
use contract::{Message, UserPart};
use std::sync::Arc;

impl Run<'_> {
    /// Adds what the page contains to the history, unless the model knows it: in front of the user's
    /// message, or after what the turn has so far.
    pub(crate) async fn add_page_context<S: EventSink>(&mut self, sink: &mut S) -> Result<(), RunFailure> {
        let Some(page) = self.context.page.as_mut().filter(|page| !page.is_known) else { return Ok(()) };
        page.is_known = true;
        let text = page.text.clone();
        self.adds_page_context = true;
        sink.emit(Event::PageContext { text: text.clone() }).await?;
        let part = UserPart::Text { text };
        match self.messages.last_mut().map(Arc::make_mut) {
            Some(Message::User(parts)) if self.has_begun => parts.push(part),
            Some(Message::User(parts)) => parts.insert(0, part),
            _ => self.messages.push(Arc::new(Message::User(vec![part]))),
        }
        Ok(())
    }

    /// Forgets what the model knew of the page from messages that are summarised now.
    pub(super) fn forget_page_context(&mut self) {
        if let Some(page) = &mut self.context.page {
            page.is_known = self.adds_page_context;
        }
    }
}
