//! Lines about what the model read for an answer: summaries of earlier messages, content that the
//! provider cleared, and tool sources that the agent could not reach. Also the lines about a change of
//! the agent, and about a quota of which little is left.

use super::attachment::UNAVAILABLE;
use super::notice::notice;
use super::summary::summary_line;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, group_digits, t};
use crate::ui::icons::Shape;
use serde_json::Value;
use wire::{CONTEXT_EDITS, CONTEXT_SUMMARY, ContextEdit, DataPart, HANDED_OVER, QUOTA_WARNING, SUMMARY_FAILED};

/// The lines of a part.
pub(in crate::agent_chat) fn context_note(part: &DataPart) -> AnyView {
    match part.kind.as_str() {
        CONTEXT_SUMMARY => summary_line(expect_context::<Session>(), &part.data),
        HANDED_OVER | QUOTA_WARNING => {
            quiet(part.data.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
        }
        SUMMARY_FAILED => quiet(t(Text::SummaryFailed).to_owned()),
        UNAVAILABLE => unavailable_notice(&part.data),
        CONTEXT_EDITS => context_edit_notices(&part.data),
        _ => ().into_any(),
    }
}

fn quiet(line: String) -> AnyView {
    notice("cw-notice cw-notice-quiet", None, line, ().into_any())
}

/// Tells the user that the answer was written without this source.
fn unavailable_notice(data: &Value) -> AnyView {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, message) = (text("name"), text("message"));
    let line = if message.contains(name) { message.to_owned() } else { format!("{name}: {message}") };
    notice("cw-notice cw-notice-quiet cw-notice-warning", Some(Shape::WARNING), line, ().into_any())
}

/// One line per context edit: the model wrote the answer without the content that was cleared.
fn context_edit_notices(data: &Value) -> AnyView {
    let line = |edit: ContextEdit| quiet(edit.said(t, group_digits));
    ContextEdit::all_of(data).into_iter().map(line).collect_view().into_any()
}
