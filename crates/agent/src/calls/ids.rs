//! Gives the calls of a conversation different ids.

use crate::context::EarlierMessages;
use contract::{AssistantPart, Message};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Gives each call an id that is unique in the conversation. Some gateways leave the id empty, or
/// start again at `call_0` in every reply.
pub(crate) struct ConversationCallIds {
    taken: HashSet<String>,
    /// The ids since the user's last message, which belong to the message that is being written.
    current: HashSet<String>,
    renamed: HashMap<String, String>,
    /// The messages before the history, until their ids are known.
    earlier: Option<EarlierMessages>,
}

impl ConversationCallIds {
    /// Starts with the ids of a history.
    pub(crate) fn from_history(messages: &[Arc<Message>]) -> Self {
        let begin = messages.iter().rposition(|message| matches!(**message, Message::User(_))).unwrap_or_default();
        let (taken, current) = (call_ids(messages), call_ids(&messages[begin..]));
        Self { taken, current, renamed: HashMap::new(), earlier: None }
    }

    /// Adds messages before the history, whose ids are read when one of them may be taken.
    pub(crate) fn after(self, earlier: Option<EarlierMessages>) -> Self {
        Self { earlier, ..self }
    }

    /// Reads the ids of the messages before the history if one of them may be this one. Must be called before an id is
    /// [assigned](Self::assign).
    pub(crate) async fn prepare(&mut self, provider_id: &str) {
        let Some(earlier) = &self.earlier else { return };
        let is_assigned = self.renamed.contains_key(provider_id);
        let is_changed = provider_id.is_empty() || self.taken.contains(provider_id);
        if !is_assigned && (is_changed || earlier.may_contain(&Value::from(provider_id).to_string())) {
            let ids = call_ids(earlier.load().await);
            self.taken.extend(ids);
            self.earlier = None;
        }
    }

    /// Starts a reply. The same provider id means the same call only within one reply.
    pub(crate) fn begin_reply(&mut self) {
        self.renamed.clear();
    }

    /// Returns the conversation's id of the call that a provider's result refers to: a call of this
    /// reply, or an earlier one of the same message. `None` if there is no such call, because a
    /// client could not assign the result.
    pub(crate) fn find(&self, provider_id: &str) -> Option<String> {
        let here = self.renamed.get(provider_id).cloned();
        here.or_else(|| self.current.contains(provider_id).then(|| provider_id.to_owned()))
    }

    /// Returns the conversation's id for a provider's id, and assigns one if it is new.
    pub(crate) fn assign(&mut self, provider_id: &str) -> String {
        if let Some(known) = self.renamed.get(provider_id) {
            return known.clone();
        }
        let mut name = provider_id.to_owned();
        let mut count = 1;
        while name.is_empty() || self.taken.contains(&name) {
            count += 1;
            name = if provider_id.is_empty() { format!("call-{count}") } else { format!("{provider_id}-{count}") };
        }
        self.taken.insert(name.clone());
        self.current.insert(name.clone());
        self.renamed.insert(provider_id.to_owned(), name.clone());
        name
    }
}

/// Returns the ids of all calls in these messages.
fn call_ids(messages: &[Arc<Message>]) -> HashSet<String> {
    let parts = messages.iter().filter_map(|message| match &**message {
        Message::Assistant(parts) => Some(parts),
        _ => None,
    });
    let ids = parts.flatten().filter_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{ToolCall, UserPart};

    #[test]
    fn results_find_their_calls() {
        let call = |id: &str| {
            let (id, name, input) = (id.to_owned(), "t".to_owned(), serde_json::json!({}));
            let call = ToolCall { id, name, input, provider_executed: true, metadata: None };
            Arc::new(Message::Assistant(vec![AssistantPart::ToolCall(call)]))
        };
        let user = Arc::new(Message::User(vec![UserPart::Text { text: "x".to_owned() }]));
        let mut ids = ConversationCallIds::from_history(&[call("old"), user, call("earlier")]);
        ids.begin_reply();
        assert_eq!(ids.assign("here"), "here");
        assert_eq!(ids.assign("old"), "old-2");
        let check = |id: &str, known: Option<&str>| assert_eq!(ids.find(id).as_deref(), known, "{id}");
        check("here", Some("here"));
        check("old", Some("old-2"));
        check("earlier", Some("earlier"));
        check("nowhere", None);
        let ids = ConversationCallIds::from_history(&[call("old"), Arc::new(Message::User(Vec::new()))]);
        assert_eq!(ids.find("old"), None);
    }
}
