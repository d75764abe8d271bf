//! `end2end/configs/operators.yaml` has the examples of all operators, which a journey evaluates in
//! the browser. Each title is `ok` if the result is the documented one.

use operators::{Usage, definitions};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;

const HEAD: &str = r#"# The examples of all operators, made of their definitions. A title is `ok` if its result is the documented one.
# To renew it: `INSTA_UPDATE=always cargo nextest run --package server --features server/full --test configs operators`.
pages:
  - id: operators
    events:
      onInit:
        - { type: SetState, params: { started: true } }
    blocks:
      - { id: begun, type: Alert, visible: { _state: started }, properties: { content: started } }
      - { id: go, type: TextInput, properties: { label: Go, initial: { _url_query: go } } }
      - { id: name, type: TextInput, properties: { label: Name, initial: Ada } }
      - { id: seats, type: NumberInput, properties: { label: Seats, initial: 3 } }
      - id: draw
        type: Button
        properties: { title: Draw }
        events:
          onClick:
            - type: SetState
              params: { id: { _uuid: true }, at: { _date.now: null }, part: { _math.random: null }, text: { _random: string } }
      - id: drawn
        type: Title
        properties:
          title:
            _if:
              test:
                _and:
                  - { _regex: { pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", key: id } }
                  - { _gt: [{ _state: at }, "2024-01-01T00:00:00.000Z"] }
                  - { _lt: [{ _state: part }, 1] }
                  - { _eq: [{ _string.length: { _state: text } }, 8] }
              then: drawn
              else: nothing is drawn
"#;

fn page() -> String {
    let mut page = HEAD.to_owned();
    let rendered = definitions().filter(|definition| definition.usage == Usage::Anywhere);
    let examples =
        rendered.flat_map(|definition| definition.docs.examples.iter().map(|example| (definition.name, example)));
    for (index, (name, (argument, result))) in examples.enumerate() {
        let (call, result): (Value, Value) =
            (json!({ name: serde_json::from_str::<Value>(argument).unwrap() }), serde_json::from_str(result).unwrap());
        let seen = json!({ "_string.concat": [format!("{name} {argument}: "), { "_json.stringify": [call] }] });
        let compared = json!({ "_if": { "test": { "_eq": [call, result] }, "then": "ok", "else": seen } });
        let title = json!({ "_if": { "test": { "_state": "go" }, "then": compared, "else": "waiting" } });
        writeln!(page, "      - {{ id: example_{index}, type: Title, properties: {{ title: {title} }} }}").unwrap();
    }
    page
}

#[test]
fn the_journey_of_operators_has_all_examples() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/configs/operators.yaml");
    let page = page();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap_or_default() == page,
        "it is not up to date; its head says how to renew it"
    );
}
