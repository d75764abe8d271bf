use crate::{check, with_basics};
use insta::assert_snapshot;

/// A page with these blocks, and an agent `helper`.
fn page(blocks: &str) -> String {
    with_basics(&format!(
        "agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\npages:\n  - id: p\n    blocks:\n{blocks}"
    ))
}

#[test]
fn pages() {
    assert_snapshot!(check("pages:
  - { id: a }
  - { id: a, titel: A }
  - { id: api }
  - { id: a/b }
  - { title: A }
"), @"
    refused
    chatwright.yaml:3:11: error: there are two pages with the id `a`
       |
     3 |   - { id: a, titel: A }
       |           ^
       = help: the first one is at chatwright.yaml:2:11

    chatwright.yaml:3:14: error: there is no key `titel` here
       |
     3 |   - { id: a, titel: A }
       |              ^^^^^
       = help: did you mean `title`?

    chatwright.yaml:4:11: error: the address `/api` belongs to the server
       |
     4 |   - { id: api }
       |           ^^^
       = help: give the page another id

    chatwright.yaml:5:11: error: `a/b` cannot be an id
       |
     5 |   - { id: a/b }
       |           ^^^
       = help: use up to 128 letters, digits, `_` and `-`, and do not start with `-`

    chatwright.yaml:6:5: error: `id` is missing here
       |
     6 |   - { title: A }
       |     ^
       = help: `id`: Its address: `/ID`.
    ");
}

#[test]
fn blocks() {
    assert_snapshot!(check(&page("      - { id: a, type: TextInpt }
      - { id: b, type: Tabs }
      - { id: c, type: TextInput, events: { onChange: [] } }
      - { id: d, type: TextInput, properties: { label: D, required: true } }
      - { id: e, type: Title }
      - { id: f, type: TextInput, blocks: [{ id: g, type: Box }] }
      - { id: h, type: Box, blocks: [{ id: i, type: Box }, { id: h, type: Box }] }
      - { id: j, type: Columns, properties: { widths: [1, 2, 3] }, blocks: [{ id: k, type: Box }] }
      - { id: l, type: Columns, properties: { widths: [0] }, blocks: [{ id: m, type: Box }] }
      - { id: n, type: TextInput, properties: { label: { _state: a } } }
")), @"
    refused
    chatwright.yaml:6:24: error: there is no block type `TextInpt`
       |
     6 |       - { id: a, type: TextInpt }
       |                        ^^^^^^^^
       = help: did you mean `TextInput`?

    chatwright.yaml:7:24: error: the block type `Tabs` is not available in this version
       |
     7 |       - { id: b, type: Tabs }
       |                        ^^^^

    chatwright.yaml:8:35: error: `events` is not available in this version
       |
     8 |       - { id: c, type: TextInput, events: { onChange: [] } }
       |                                   ^^^^^^

    chatwright.yaml:9:59: error: `required` is not available in this version
       |
     9 |       - { id: d, type: TextInput, properties: { label: D, required: true } }
       |                                                           ^^^^^^^^

    chatwright.yaml:10:9: error: `properties` is missing here
        |
     10 |       - { id: e, type: Title }
        |         ^
        = help: `properties` holds `title`

    chatwright.yaml:11:35: error: a block of the type TextInput cannot hold others
        |
     11 |       - { id: f, type: TextInput, blocks: [{ id: g, type: Box }] }
        |                                   ^^^^^^
        = help: use one of `Box`, `Columns` and `Card`

    chatwright.yaml:12:66: error: there are two blocks with the id `h` on this page
        |
     12 |       - { id: h, type: Box, blocks: [{ id: i, type: Box }, { id: h, type: Box }] }
        |                                                                  ^
        = help: the first one is at chatwright.yaml:12:15

    chatwright.yaml:13:55: error: there are 3 widths for 1 blocks
        |
     13 |       - { id: j, type: Columns, properties: { widths: [1, 2, 3] }, blocks: [{ id: k, type: Box }] }
        |                                                       ^

    chatwright.yaml:14:56: error: expected a number between 0.05 and 100, found the number 0
        |
     14 |       - { id: l, type: Columns, properties: { widths: [0] }, blocks: [{ id: m, type: Box }] }
        |                                                        ^

    chatwright.yaml:15:56: error: expected text, found a mapping
        |
     15 |       - { id: n, type: TextInput, properties: { label: { _state: a } } }
        |                                                        ^
        = help: the operator `_state` cannot be used here in this version
    ");
}

#[test]
fn inputs() {
    assert_snapshot!(check(&page("      - { id: a, type: Select }
      - { id: b, type: Select, properties: { options: [] } }
      - { id: c, type: Select, properties: { options: [low, { value: high }, low], initial: hihg } }
      - { id: d, type: Select, properties: { options: [{ label: Low }] } }
      - { id: e, type: DatePicker, properties: { initial: 2026-02-30 } }
      - { id: f, type: NumberInput, properties: { initial: '1' } }
      - { id: g, type: Switch, properties: { initial: on } }
")), @"
    refused
    chatwright.yaml:6:9: error: `properties` is missing here
       |
     6 |       - { id: a, type: Select }
       |         ^
       = help: `properties` holds `options`

    chatwright.yaml:7:55: error: expected a list of at least 1, found 0
       |
     7 |       - { id: b, type: Select, properties: { options: [] } }
       |                                                       ^

    chatwright.yaml:8:78: error: the option `low` is there twice
       |
     8 |       - { id: c, type: Select, properties: { options: [low, { value: high }, low], initial: hihg } }
       |                                                                              ^^^

    chatwright.yaml:8:93: error: there is no option `hihg`
       |
     8 |       - { id: c, type: Select, properties: { options: [low, { value: high }, low], initial: hihg } }
       |                                                                                             ^^^^
       = help: did you mean `high`?

    chatwright.yaml:9:56: error: `value` is missing here
       |
     9 |       - { id: d, type: Select, properties: { options: [{ label: Low }] } }
       |                                                        ^
       = help: `value`: What is stored.

    chatwright.yaml:10:59: error: `2026-02-30` is no day
        |
     10 |       - { id: e, type: DatePicker, properties: { initial: 2026-02-30 } }
        |                                                           ^^^^^^^^^^
        = help: write it as `YYYY-MM-DD`

    chatwright.yaml:11:60: error: expected a number, found the text `1`
        |
     11 |       - { id: f, type: NumberInput, properties: { initial: '1' } }
        |                                                            ^^^^
        = help: write it without quotes

    chatwright.yaml:12:55: error: expected true or false, found the text `on`
        |
     12 |       - { id: g, type: Switch, properties: { initial: on } }
        |                                                       ^^
        = help: write `true`
    ");
}

#[test]
fn chats() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat }
      - { id: b, type: AgentChat, properties: { agentId: helpr } }
      - { id: c, type: AgentChat, properties: { agentId: helper, display: drawer } }
      - { id: d, type: AgentChat, properties: { agentId: helper, welcome: { prompts: [{ text: Hi }] } } }
")), @"
    refused
    chatwright.yaml:7:9: error: `properties` is missing here
       |
     7 |       - { id: a, type: AgentChat }
       |         ^
       = help: `properties` holds `agentId`

    chatwright.yaml:8:58: error: there is no agent `helpr`
       |
     8 |       - { id: b, type: AgentChat, properties: { agentId: helpr } }
       |                                                          ^^^^^
       = help: did you mean `helper`?

    chatwright.yaml:9:66: error: `display` is not available in this version
       |
     9 |       - { id: c, type: AgentChat, properties: { agentId: helper, display: drawer } }
       |                                                                  ^^^^^^^

    chatwright.yaml:10:87: error: `label` is missing here
        |
     10 |       - { id: d, type: AgentChat, properties: { agentId: helper, welcome: { prompts: [{ text: Hi }] } } }
        |                                                                                       ^
        = help: `label`: What is shown and sent.

    chatwright.yaml:10:89: error: there is no key `text` here
        |
     10 |       - { id: d, type: AgentChat, properties: { agentId: helper, welcome: { prompts: [{ text: Hi }] } } }
        |                                                                                         ^^^^
        = help: the only one is `label`
    ");
}

#[test]
fn shared_state() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - id: a
        type: AgentChat
        properties:
          agentId: helper
          sharedState:
            name: { _state: nam }
            key: { _secret: KEY }
            user: { _user: id }
            sum: { _stat: name }
            all: { _state: true }
            constructor: 1
            _x: 1
")), @"
    refused
    chatwright.yaml:12:29: warning: no input on this page has the id `nam`
        |
     12 |             name: { _state: nam }
        |                             ^^^
        = help: did you mean `name`?

    chatwright.yaml:13:20: error: a secret has no place here
        |
     13 |             key: { _secret: KEY }
        |                    ^^^^^^^
        = help: secrets are read in `connections` only, which never leave the server

    chatwright.yaml:14:21: error: the operator `_user` has no meaning here
        |
     14 |             user: { _user: id }
        |                     ^^^^^
        = help: what can stand here: `_state`, `_if` and `_eq`

    chatwright.yaml:15:20: error: there is no operator `_stat`
        |
     15 |             sum: { _stat: name }
        |                    ^^^^^
        = help: did you mean `_state`?

    chatwright.yaml:16:28: error: `_state` takes the id of an input here, found `true`
        |
     16 |             all: { _state: true }
        |                            ^^^^

    chatwright.yaml:17:13: error: the name `constructor` is refused: in a browser it can change every object
        |
     17 |             constructor: 1
        |             ^^^^^^^^^^^

    chatwright.yaml:18:13: error: `_x` cannot be the name of a shared value
        |
     18 |             _x: 1
        |             ^^
        = help: write `key: { _state: id }`
    ");
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { _state: true } } }
")), @"
    accepted
    chatwright.yaml:7:66: warning: the agent sees and may write every input of this page
       |
     7 |       - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { _state: true } } }
       |                                                                  ^^^^^^^^^^^
       = help: list the keys that it needs, `key: { _state: key }`
    ");
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { name: { _state: company } } } }
")), @"
    accepted
    chatwright.yaml:7:97: warning: no input on this page has the id `company`
       |
     7 | …per, sharedState: { name: { _state: company } } } }
       |                                      ^^^^^^^
       = help: the only one is `name`
    ");
    assert_snapshot!(check(&page("      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: [name] } }
")), @"
    refused
    chatwright.yaml:6:79: error: expected a mapping, found a list
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: [name] } }
       |                                                                               ^
    ");
}
