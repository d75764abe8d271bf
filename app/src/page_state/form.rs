//! The values that a chat shares with the page: saved over a reload, and restored or cleared when
//! another conversation is opened.

use super::{AgentWrite, PageState};
use crate::prelude::*;
use crate::texts::{Text, t};
use serde_json::{Map, Value, json};

impl PageState {
    /// Returns the values of the keys that differ from their initial values, with what an agent
    /// overwrote, to be saved. Tracked.
    pub(crate) fn saved_values(&self, keys: &[String]) -> Map<String, Value> {
        let kept = |key: &String| {
            let field = self.field(key);
            let (value, write) = (field.value.get(), field.agent_write.get());
            if value == field.initial && write.is_none() {
                return None;
            }
            let mut kept = json!({ "value": value });
            if let Some(AgentWrite { previous, original: origin, .. }) = write {
                kept["agent"] = json!({ "previous": previous, "origin": origin });
            }
            Some((key.clone(), kept))
        };
        keys.iter().filter_map(kept).collect()
    }

    /// Restores a key from its [saved](PageState::saved_values) value.
    pub(crate) fn restore(&self, key: &str, kept: &Value) {
        let field = self.field(key);
        let part = |of: Option<&Value>, name: &str| of.and_then(|of| of.get(name)).cloned().unwrap_or_default();
        self.write(key, &field, part(Some(kept), "value"));
        let agent = kept.get("agent");
        let write =
            agent.map(|_| AgentWrite { previous: part(agent, "previous"), original: part(agent, "origin"), count: 1 });
        field.agent_write.set(write);
    }

    /// Restores what an agent wrote to a key. The current value becomes the one that is restored
    /// when the agent's change is undone.
    pub(crate) fn restore_agent_write(&self, key: &str, kept: &Value) {
        let field = self.field(key);
        let (now, value) = (field.value.get_untracked(), kept.get("value").cloned().unwrap_or_default());
        if kept.get("agent").is_some() && now != value {
            self.write(key, &field, value);
            field.agent_write.set(Some(AgentWrite { previous: now.clone(), original: now, count: 1 }));
        }
    }

    /// Undoes the agent's changes that the user has neither edited nor accepted: the keys get their
    /// earlier values.
    pub(crate) fn clear_agent_writes(&self, keys: &[String]) {
        for key in keys {
            let field = self.field(key);
            if let Some(write) = field.agent_write.get_untracked() {
                self.write(key, &field, write.original);
                field.agent_write.set(None);
            }
        }
    }

    /// Asks the user whether their entries in these keys are kept, if there are any.
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
        self.leftover_entries.set(entered);
    }

    /// Returns the keys whose entries the user is asked about. Tracked.
    pub(crate) fn leftover_entries(&self) -> Vec<String> {
        self.leftover_entries.get()
    }

    /// Applies the user's decision: the entries are kept or reset.
    pub(crate) fn resolve_leftover_entries(&self, stay: bool) {
        let keys = self.leftover_entries.get_untracked();
        if !stay {
            self.reset(Some(&keys));
        }
        self.leftover_entries.set(Vec::new());
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
    fn saved_values_are_restored_with_agent_changes() {
        let mut kept = Map::new();
        with_state(|state, keys| {
            assert!(state.saved_values(keys).is_empty(), "nothing was changed");
            state.set("name", json!("Ada"));
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            kept = state.saved_values(keys);
        });
        with_state(|state, keys| {
            kept.iter().for_each(|(key, kept)| state.restore(key, kept));
            assert_eq!(state.saved_values(keys), kept);
            assert_eq!(state.agent_writes(), ["seats"]);
            state.undo("seats");
            assert_eq!(state.get_untracked("seats"), json!(3));
        });
    }

    #[test]
    fn agent_changes_are_cleared_and_user_entries_need_a_decision() {
        with_state(|state, keys| {
            state.set("name", json!("Ada"));
            state.write_by_agent(vec![("seats".into(), json!(4))]);
            state.write_by_agent(vec![("seats".into(), json!(5))]);
            state.clear_agent_writes(keys);
            assert_eq!(state.get_untracked("seats"), json!(3), "as before the first write");
            state.ask_about_entries(keys);
            assert_eq!(state.leftover_entries(), ["name"]);
            state.resolve_leftover_entries(true);
            assert_eq!((state.get_untracked("name"), state.leftover_entries()), (json!("Ada"), Vec::new()));
            state.ask_about_entries(keys);
            state.resolve_leftover_entries(false);
            assert_eq!(state.get_untracked("name"), Value::Null);
        });
    }

    /// The user entered a value while another conversation was open.
    #[test]
    fn restored_agent_change_replaces_the_current_value() {
        with_state(|state, keys| {
            state.write_by_agent(vec![("name".into(), json!("Ada"))]);
            let kept = state.saved_values(keys);
            state.clear_agent_writes(keys);
            state.set("name", json!("Grace"));
            kept.iter().for_each(|(key, kept)| state.restore_agent_write(key, kept));
            assert_eq!(state.get_untracked("name"), json!("Ada"));
            state.clear_agent_writes(keys);
            assert_eq!(state.get_untracked("name"), json!("Grace"));
        });
    }

    #[test]
    fn edited_or_accepted_agent_changes_belong_to_the_user() {
        with_state(|state, keys| {
            state.write_by_agent(vec![("name".into(), json!("Ada")), ("seats".into(), json!(4))]);
            state.set("name", json!("Grace"));
            state.accept_all();
            state.clear_agent_writes(keys);
            assert_eq!((state.get_untracked("name"), state.get_untracked("seats")), (json!("Grace"), json!(4)));
        });
    }
}
