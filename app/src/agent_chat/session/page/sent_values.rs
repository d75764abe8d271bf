//! Values that an agent wrote to the page's fields and whose result the server may have accepted
//! without this page knowing, because it was closed before it read the response.
//!
//! They are saved in the tab before the result is sent. A page that is loaded writes them if the
//! transcript has the result; if the call still waits, it is executed again.

use crate::agent_chat::composer::drafts::user_mark;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::ui::browser;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::ToolState;
use wire::api::Answer;
use wire::page::SharedField;

/// Larger values, in bytes of JSON, are not saved.
const MAX_BYTES: usize = 64 * 1024;

/// The calls whose results were sent, and the values that they write to the page.
#[derive(Serialize, Deserialize)]
struct SentValues {
    calls: Vec<String>,
    /// The values by their key of the page state.
    written: Vec<(String, Value)>,
}

impl Session {
    /// Saves what the calls write; returns whether this tab had sent the same calls before the page
    /// was loaded.
    pub(super) fn save_sent_values(self, answers: &[Answer], written: &[(String, Value)]) -> bool {
        let Some(key) = self.sent_values_key().filter(|_| !written.is_empty()) else { return false };
        let call = |answer: &Answer| match answer {
            Answer::Output { tool_call_id, .. } => Some(tool_call_id.clone()),
            _ => None,
        };
        let sent = SentValues { calls: answers.iter().filter_map(call).collect(), written: written.to_vec() };
        let was_sent = read(&key).is_some_and(|before| before.calls == sent.calls);
        let text = serde_json::to_string(&sent).ok().filter(|text| text.len() <= MAX_BYTES);
        browser::write_session_storage(&key, text);
        was_sent
    }

    /// Removes the saved values: the page knows the response.
    pub(in crate::agent_chat::session) fn forget_sent_values(self) {
        if let Some(key) = self.sent_values_key() {
            browser::write_session_storage(&key, None);
        }
    }

    /// Whether values were sent whose fate this page does not know.
    pub(super) fn has_sent_values(self) -> bool {
        self.sent_values_key().is_some_and(|key| browser::read_session_storage(&key).is_some())
    }

    /// Writes the saved values if the server has accepted them. Called whenever the transcript was received again.
    pub(in crate::agent_chat::session) fn apply_sent_values(self) {
        let Some((key, sent)) = self.sent_values_key().and_then(|key| read(&key).map(|sent| (key, sent))) else {
            return;
        };
        let tools = self.messages.get_untracked().into_iter().flat_map(|message| message.tools());
        let states: Vec<_> = tools
            .map(|tool| tool.get_untracked())
            .filter(|tool| sent.calls.contains(&tool.tool_call_id))
            .map(|tool| tool.state)
            .collect();
        if states.contains(&ToolState::InputAvailable) {
            return;
        }
        browser::write_session_storage(&key, None);
        if states.contains(&ToolState::OutputAvailable) {
            let fields = self.shared_fields();
            let is_shared = |(key, _): &(String, Value)| fields.iter().any(|field| is_written_by(field, key));
            self.page_state.write_by_agent(sent.written.into_iter().filter(is_shared).collect());
        }
    }

    /// The storage key; none if the form belongs to a host page, or without a conversation.
    fn sent_values_key(self) -> Option<String> {
        let id = untrack(|| self.form_conversation_id());
        self.block.with_value(|place| {
            place.form_conversation.filter(|_| !id.is_empty() && !place.properties.shared_state.is_empty())?;
            Some(format!("cw-sent/{}/{}/{}/{id}", user_mark(), place.page_id, place.block_id))
        })
    }
}

/// Whether a write to the field changes this key of the page state: the field itself, or a place in the
/// key's value.
fn is_written_by(field: &SharedField, key: &str) -> bool {
    let target = field.target.as_deref();
    target.is_some_and(|target| target == key || target.split('.').next() == Some(key))
}

fn read(key: &str) -> Option<SentValues> {
    serde_json::from_str(&browser::read_session_storage(key)?).ok()
}

#[cfg(test)]
mod tests {
    use super::is_written_by;
    use wire::page::{FieldType, SharedField};

    #[test]
    fn a_field_writes_its_key_or_a_place_in_it() {
        let check = |target: Option<&str>, key: &str, expected: bool| {
            let target = target.map(str::to_owned);
            let field = SharedField { key: "shared".to_owned(), target, field_type: FieldType::Any };
            assert_eq!(is_written_by(&field, key), expected, "{key}");
        };
        check(Some("company"), "company", true);
        check(Some("cart.items"), "cart", true);
        check(Some("cart.items"), "items", false);
        check(Some("company"), "comp", false);
        check(None, "company", false);
    }
}
