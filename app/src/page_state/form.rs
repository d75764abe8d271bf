//! What a chat shares of the page's state: kept over a reload, and taken along or left behind when
//! another conversation is opened.

use super::{AgentWrite, PageState};
use crate::prelude::*;
use crate::texts::{Text, t};
use serde_json::{Map, Value, json};

impl PageState {
    /// What keys hold that is not what they held at first, with what an agent wrote over: for a
    /// storage. Tracked.
    pub(crate) fn kept(&self, keys: &[String]) -> Map<String, Value> {
        let kept = |key: &String| {
            let field = self.field(key);
            let (value, write) = (field.value.get(), field.agent_write.get());
            if value == field.initial && write.is_none() {
                return None;
            }
            let mut kept = json!({ "value": value });
            if let Some(AgentWrite { previous, origin, .. }) = write {
                kept["agent"] = json!({ "previous": previous, "origin": origin });
            }
            Some((key.clone(), kept))
        };
        keys.iter().filter_map(kept).collect()
    }

    /// Puts a key back to what was [kept](PageState::kept) of it.
    pub(crate) fn restore(&self, key: &str, kept: &Value) {
        let field = self.field(key);
        let part = |of: Option<&Value>, name: &str| of.and_then(|of| of.get(name)).cloned().unwrap_or_default();
        self.put(key, &field, part(Some(kept), "value"));
        let agent = kept.get("agent");
        let write =
            agent.map(|_| AgentWrite { previous: part(agent, "previous"), origin: part(agent, "origin"), number: 1 });
        field.agent_write.set(write);
    }

    /// Puts what an agent wrote back over what a key holds now, which comes back when the agent's
    /// value goes.
    pub(crate) fn restore_agent_write(&self, key: &str, kept: &Value) {
        let field = self.field(key);
        let (now, value) = (field.value.get_untracked(), kept.get("value").cloned().unwrap_or_default());
        if kept.get("agent").is_some() && now != value {
            self.put(key, &field, value);
            field.agent_write.set(Some(AgentWrite { previous: now.clone(), origin: now, number: 1 }));
        }
    }

    /// Takes out of keys what an agent wrote and nobody has changed or accepted since: they hold
    /// what they held before.
    pub(crate) fn clear_agent_writes(&self, keys: &[String]) {
        for key in keys {
            let field = self.field(key);
            if let Some(write) = field.agent_write.get_untracked() {
                self.put(key, &field, write.origin);
                field.agent_write.set(None);
            }
        }
    }

    /// Asks the person whether what they entered in keys stays, if there is anything.
    pub(crate) fn ask_about_entries(&self, keys: &[String]) {
        let is_entered = |key: &&String| {
            let field = self.field(key);
            field.agent_write.with_untracked(Option::is_none)
                && field.value.with_untracked(|value| *value != field.initial)
        };
        let entered: Vec<_> = keys.iter().filter(is_entered).cloned().collect();
        if !entered.is_empty() {
            self.announcement.set(t(Text::EntriesStillThere).to_owned());
        }
        self.left_over.set(entered);
    }

    /// The keys that the person is asked about. Tracked.
    pub(crate) fn left_over(&self) -> Vec<String> {
        self.left_over.get()
    }

    /// The answer: the entries stay, or go.
    pub(crate) fn settle_entries(&self, stay: bool) {
        let keys = self.left_over.get_untracked();
        if !stay {
            self.reset(Some(&keys));
        }
        self.left_over.set(Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_state(test: impl FnOnce(PageState, &[String])) {
        let blocks = json!([
            {"id": "name", "type": "TextInput", "properties": {}},
            {"id": "seats", "type": "NumberInput", "properties": {"initial": 3}},
        ]);
        let page = serde_json::from_value(json!({"id": "demo", "blocks": blocks})).unwrap();
        Owner::new().with(|| test(PageState::new(&page, Value::clone), &["name".to_owned(), "seats".to_owned()]));
    }

    #[test]
    fn what_was_kept_comes_back_with_the_marks() {
        let mut kept = Map::new();
        with_state(|state, keys| {
            assert!(state.kept(keys).is_empty(), "nothing was changed");
            state.set("name", json!("Ada"));
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            kept = state.kept(keys);
        });
        with_state(|state, keys| {
            kept.iter().for_each(|(key, kept)| state.restore(key, kept));
            assert_eq!(state.kept(keys), kept);
            assert_eq!(state.agent_writes(), ["seats"]);
            state.undo("seats");
            assert_eq!(state.get_untracked("seats"), json!(3));
        });
    }

    #[test]
    fn what_the_agent_wrote_is_cleared_and_the_rest_is_asked_about() {
        with_state(|state, keys| {
            state.set("name", json!("Ada"));
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            state.write_by_agent(vec![("seats".into(), json!(5))]);
            state.clear_agent_writes(keys);
            assert_eq!(state.get_untracked("seats"), json!(3), "as before the first write");
            state.ask_about_entries(keys);
            assert_eq!(state.left_over(), ["name"]);
            state.settle_entries(true);
            assert_eq!((state.get_untracked("name"), state.left_over()), (json!("Ada"), Vec::new()));
            state.ask_about_entries(keys);
            state.settle_entries(false);
            assert_eq!(state.get_untracked("name"), Value::Null);
        });
    }

    /// Another conversation was open in between, in which the person entered something.
    #[test]
    fn what_the_agent_wrote_comes_back_over_what_is_there_by_then() {
        with_state(|state, keys| {
            state.write_by_agent(vec![("name".into(), json!("Ada"))]);
            let kept = state.kept(keys);
            state.clear_agent_writes(keys);
            state.set("name", json!("Grace"));
            kept.iter().for_each(|(key, kept)| state.restore_agent_write(key, kept));
            assert_eq!(state.get_untracked("name"), json!("Ada"));
            state.clear_agent_writes(keys);
            assert_eq!(state.get_untracked("name"), json!("Grace"));
        });
    }

    #[test]
    fn what_the_person_changed_or_accepted_is_theirs() {
        with_state(|state, keys| {
            state.write_by_agent(vec![("name".into(), json!("Ada")), ("seats".into(), json!(4))]);
            state.set("name", json!("Grace"));
            state.keep_all();
            state.clear_agent_writes(keys);
            assert_eq!((state.get_untracked("name"), state.get_untracked("seats")), (json!("Grace"), json!(4)));
        });
    }
}
