//! Tests of parts that are left out together, and of apps that cannot be read.

use crate::{check, check_one, check_sections};
use insta::assert_snapshot;

/// A condition of an access or an action is never left out without the entry that has it.
#[test]
fn owners_of_refused_conditions_are_left_out() {
    assert_snapshot!(check_sections(
        &["agents", "api", "pages"],
        "
connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: KEY } } }
agents:
  - id: clerk
    type: OpenAIAgent
    connectionId: gpt
    properties: { model: gpt-5-mini, temperature: { _js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
    tools:
      - { endpointId: save, confirm: { _js: code } }
      - save
api:
  - id: save
    description: Saves.
    payloadSchema: { type: object }
    routine: [{ :if: { _js: a }, :then: [{ :return: 1 }] }, { :return: 2 }]
pages:
  - id: home
    blocks:
      - { id: secret, type: Title, visible: { _js: a }, properties: { title: Secret } }
      - { id: shown, type: Title, properties: { title: Shown } }
      - id: go
        type: Button
        properties: { title: Go, disabled: { _js: a } }
        events:
          onClick:
            - { id: ask, type: Confirm, params: {} }
            - { id: save, type: CallAPI, params: { endpointId: save } }
"
    ), @r#"
    agents:
      # lowdefy.yaml, line 5
      - id: clerk
        type: OpenAIAgent
        connectionId: gpt
        properties:
          model: gpt-5-mini
        tools: [save]

    api:
      # lowdefy.yaml, line 13
      - id: save
        description: Saves.
        payloadSchema:
          type: object
        routine:
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step :if"
          - :return: 2

    pages:
      # lowdefy.yaml, line 18
      - id: home
        blocks:
          - id: shown
            type: Title
            properties:
              title: Shown
          - id: go
            type: Button
            properties:
              title: Go
            events: {}

    lowdefy.yaml:8:53: warning: left out: `properties.temperature` of the agent `clerk`: the operator `_js` is not supported
       |
     8 | …{ model: gpt-5-mini, temperature: { _js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
       |                                      ^^^
       = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    lowdefy.yaml:8:89: warning: left out: `properties.seed` of the agent `clerk`: the operator `_js` is not supported
       |
     8 | …_js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
       |                                      ^^^
       = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    lowdefy.yaml:10:40: warning: left out: `tools.0` of the agent `clerk`: there is no key `_js` here
        |
     10 |       - { endpointId: save, confirm: { _js: code } }
        |                                        ^^^
        = help: one of `remember` and `expiresAfterSeconds`

    lowdefy.yaml:16:24: warning: left out: the step `:if`: the operator `_js` is not supported
        |
     16 |     routine: [{ :if: { _js: a }, :then: [{ :return: 1 }] }, { :return: 2 }]
        |                        ^^^
        = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    lowdefy.yaml:20:47: warning: left out: the block `secret` of the type `Title`: the operator `_js` is not supported
        |
     20 |       - { id: secret, type: Title, visible: { _js: a }, properties: { title: Secret } }
        |                                               ^^^
        = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    lowdefy.yaml:24:46: warning: left out: `properties.disabled` of the block `go`: the operator `_js` is not supported
        |
     24 |         properties: { title: Go, disabled: { _js: a } }
        |                                              ^^^
        = help: use `_expr`, or a function with operators; a page that needs more is written in Rust

    lowdefy.yaml:27:32: warning: left out: the action `ask` of the type `Confirm` of `onClick`, and the 2 after it: there is no action type `Confirm`
        |
     27 |             - { id: ask, type: Confirm, params: {} }
        |                                ^^^^^^^
        = help: write the page in Leptos, or do it in an endpoint

    taken over: 1 connection, 1 agent, 1 endpoint, 1 page; left out: 7; changed: 0
    "#);
}

/// Each check of this app finds only the next step, so its endpoint is left out as a whole.
#[test]
fn apps_that_need_many_checks_become_valid_configs() {
    let mut app = "api:\n  - id: chain\n    routine:\n      - { id: s0, type: MongoDBFind }\n".to_owned();
    for number in 1..200 {
        let before = number - 1;
        app.push_str(&format!("      - {{ id: s{number}, type: CallApi, properties: {{ endpointId: other, payload: {{ n: {{ _step: s{before} }} }} }} }}\n"));
    }
    app.push_str("  - { id: other, routine: [{ :return: 1 }] }\n");
    let printed = check_one(&app);
    assert!(printed.contains("left out: the endpoint `chain`: no step before this one has the id `s"), "{printed}");
    assert!(printed.ends_with("taken over: 1 endpoint; left out: 62; changed: 0"), "{printed}");
}

#[test]
fn unreadable_apps_are_errors() {
    assert_snapshot!(check_one("pages: [\n"), @r"
    lowdefy.yaml:1:9: error: this is not valid YAML: while parsing a node, did not find expected node content
       |
     1 | pages: [
       |         ^
       = help: a value is missing here, or a bracket is not closed
    ");
    assert_snapshot!(check_one("- a\n"), @r"
    lowdefy.yaml:1:1: error: this is not a Lowdefy app: a mapping is expected
       |
     1 | - a
       | ^
    ");
    assert_snapshot!(check(&[("other.yaml", "")]), @r"lowdefy.yaml: error: cannot read this file: there is no such file");
    assert_snapshot!(check_one("pages: { _ref: ../secret.yaml }\nagents: { _ref: /etc/passwd }\napi: { _ref: missing.yaml }"), @r"
    lowdefy.yaml:1:16: error: `../secret.yaml` leaves the app's folder
       |
     1 | pages: { _ref: ../secret.yaml }
       |                ^^^^^^^^^^^^^^
       = help: copy the file into the folder; nothing outside it is read

    lowdefy.yaml:2:17: error: `/etc/passwd` leaves the app's folder
       |
     2 | agents: { _ref: /etc/passwd }
       |                 ^^^^^^^^^^^
       = help: copy the file into the folder; nothing outside it is read

    lowdefy.yaml:3:14: error: cannot read `missing.yaml`: there is no such file
       |
     3 | api: { _ref: missing.yaml }
       |              ^^^^^^^^^^^^
    ");
    assert_snapshot!(check(&[("lowdefy.yaml", "pages: { _ref: a.yaml }"), ("a.yaml", "- { _ref: b.yaml }"), ("b.yaml", "{ _ref: a.yaml }")]), @r"
    b.yaml:1:9: error: `a.yaml` includes itself
       |
     1 | { _ref: a.yaml }
       |         ^^^^^^
       = help: `lowdefy.yaml` → `a.yaml` → `b.yaml` → `a.yaml`
    ");
}
