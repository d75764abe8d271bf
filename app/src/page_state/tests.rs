//! Tests of the page state.

use super::*;
use serde_json::json;

fn page() -> Page {
    let blocks = json!([
        {"id": "form", "type": "Card", "properties": {"title": "Intake"}, "blocks": [
            {"id": "legal_name", "type": "TextInput", "properties": {}},
            {"id": "urgent", "type": "Switch", "properties": {"label": "Is it urgent?"}},
            {"id": "seats", "type": "NumberInput", "properties": {"initial": 3}},
        ]},
    ]);
    serde_json::from_value(json!({"id": "demo", "blocks": blocks})).unwrap()
}

fn with_state(test: impl FnOnce(PageState)) {
    Owner::new().with(|| test(PageState::new(&page(), Value::clone)));
}

#[test]
fn initial_state_has_a_value_for_each_input() {
    with_state(|state| {
        assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 3, "urgent": false}));
    });
}

#[test]
fn an_agents_write_can_be_undone() {
    with_state(|state| {
        state.set("legal_name", json!("Ada"));
        state.write_by_agent(vec![("legal_name".into(), json!("Ada Lovelace")), ("seats".into(), json!(3))]);
        assert_eq!(state.get_untracked("legal_name"), json!("Ada Lovelace"));
        assert_eq!(state.agent_writes(), ["legal_name"], "an equal value is no change");
        assert_eq!(state.announcement(), "The agent changed Legal name.");
        state.undo("legal_name");
        assert_eq!(state.get_untracked("legal_name"), json!("Ada"));
        assert_eq!(state.agent_write("legal_name"), None);
    });
}

#[test]
fn second_agent_write_keeps_the_original_value() {
    with_state(|state| {
        state.write_by_agent(vec![("seats".into(), json!(4))]);
        state.write_by_agent(vec![("seats".into(), json!(5))]);
        assert_eq!(state.agent_write("seats"), Some(AgentWrite { previous: json!(4), original: json!(3), count: 2 }));
    });
}

#[test]
fn all_agent_writes_can_be_undone_or_accepted_at_once() {
    let writes = || vec![("seats".into(), json!(4)), ("urgent".into(), json!(true))];
    with_state(|state| {
        state.write_by_agent(writes());
        state.undo_all();
        assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 3, "urgent": false}));
        assert_eq!(state.announcement(), "2 fields were restored.");
        state.write_by_agent(writes());
        state.accept_all();
        assert_eq!(Value::Object(state.snapshot()), json!({"legal_name": null, "seats": 4, "urgent": true}));
        assert!(state.agent_writes().is_empty());
    });
}

#[test]
fn user_edit_accepts_the_agents_write() {
    with_state(|state| {
        state.write_by_agent(vec![
            ("seats".into(), json!(4)),
            ("urgent".into(), json!(true)),
            ("legal_name".into(), json!("A")),
        ]);
        assert_eq!(state.announcement(), "The agent changed Seats and 2 other fields.");
        state.set("seats", json!(9));
        assert_eq!(state.agent_writes(), ["legal_name", "urgent"]);
        assert_eq!(state.get_untracked("seats"), json!(9));
    });
}

#[test]
fn inputs_with_errors_are_checked_again_on_every_change() {
    with_state(|state| {
        state.add_check("legal_name", |value| value.is_null().then(|| "Needed.".to_owned()));
        assert_eq!(state.validation_error("legal_name"), None);
        assert_eq!(state.validate(Some(&["seats".to_owned()])), Vec::<String>::new());
        assert_eq!(state.validate(None), ["legal_name"]);
        assert_eq!(state.validation_error("legal_name").as_deref(), Some("Needed."));
        state.set("legal_name", json!("Ada"));
        assert_eq!(state.validation_error("legal_name"), None);
        state.set("legal_name", json!(null));
        assert_eq!(state.validation_error("legal_name"), None, "nobody has asked");
    });
}

#[test]
fn reset_restores_initial_values() {
    with_state(|state| {
        state.set("legal_name", json!("Ada"));
        state.write_by_agent(vec![("seats".into(), json!(4))]);
        state.set("free", json!([1]));
        state.reset(Some(&["seats".to_owned()]));
        assert_eq!(
            state.with_values(Value::clone),
            json!({"free": [1], "legal_name": "Ada", "seats": 3, "urgent": false})
        );
        assert!(state.agent_writes().is_empty());
        state.reset(None);
        assert_eq!(
            state.with_values(Value::clone),
            json!({"free": null, "legal_name": null, "seats": 3, "urgent": false})
        );
    });
}

#[test]
fn labels_are_derived_from_ids() {
    for (id, expected) in
        [("legal_name", "Legal name"), ("legalName", "Legal name"), ("VAT", "VAT"), ("e-mail", "E mail")]
    {
        assert_eq!(label_from_id(id), expected);
    }
}
