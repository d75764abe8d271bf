use crate::{check, with_basics};
use insta::assert_snapshot;

/// Returns a config with a page that has these blocks, and an agent `helper`.
pub(super) fn page(blocks: &str) -> String {
    with_basics(&format!(
        "agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\npages:\n  - id: p\n    blocks:\n{blocks}"
    ))
}

#[test]
fn invalid_pages_are_rejected() {
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
fn invalid_blocks_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: TextInpt }
      - { id: b, type: Tabs, properties: { titles: [One] } }
      - { id: c, type: TextInput, loading: true }
      - { id: d, type: TextInput, properties: { label: D, required: sometimes } }
      - { id: e, type: Title }
      - { id: f, type: TextInput, blocks: [{ id: g, type: Box }] }
      - { id: h, type: Box, blocks: [{ id: i, type: Box }, { id: h, type: Box }] }
      - { id: j, type: Columns, properties: { widths: [1, 2, 3] }, blocks: [{ id: k, type: Box }] }
      - { id: l, type: Columns, properties: { widths: [0] }, blocks: [{ id: m, type: Box }] }
      - { id: n, type: TextInput, properties: { label: { state: a } } }
      - { id: o, type: Button }
      - { id: q, type: Alert, properties: { status: eror } }
")), @"
    refused
    chatwright.yaml:6:24: error: there is no block type `TextInpt`
       |
     6 |       - { id: a, type: TextInpt }
       |                        ^^^^^^^^
       = help: did you mean `TextInput`?

    chatwright.yaml:7:52: error: there are 1 titles for 0 blocks
       |
     7 |       - { id: b, type: Tabs, properties: { titles: [One] } }
       |                                                    ^

    chatwright.yaml:8:35: error: `loading` is not available in this version
       |
     8 |       - { id: c, type: TextInput, loading: true }
       |                                   ^^^^^^^

    chatwright.yaml:9:69: error: expected true or false, found the text `sometimes`
       |
     9 |       - { id: d, type: TextInput, properties: { label: D, required: sometimes } }
       |                                                                     ^^^^^^^^^

    chatwright.yaml:10:9: error: `properties` is missing here
        |
     10 |       - { id: e, type: Title }
        |         ^
        = help: `properties` holds `title`

    chatwright.yaml:11:35: error: a block of the type TextInput cannot hold others
        |
     11 |       - { id: f, type: TextInput, blocks: [{ id: g, type: Box }] }
        |                                   ^^^^^^
        = help: use one of `Box`, `Columns`, `Card` and `Tabs`

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
     15 |       - { id: n, type: TextInput, properties: { label: { state: a } } }
        |                                                        ^

    chatwright.yaml:16:9: error: `properties` is missing here
        |
     16 |       - { id: o, type: Button }
        |         ^
        = help: `properties` holds `title`

    chatwright.yaml:17:53: error: there is no status `eror`
        |
     17 |       - { id: q, type: Alert, properties: { status: eror } }
        |                                                     ^^^^
        = help: did you mean `error`?
    ");
}

#[test]
fn invalid_inputs_are_rejected() {
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
       = help: `value`: The stored value.

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
fn contradictory_input_rules_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: NumberInput, properties: { min: 5, max: 3 } }
      - { id: b, type: TextInput, properties: { pattern: '[a-', minLength: 9, maxLength: 3 } }
      - { id: c, type: TextInput, properties: { patternMessage: Digits only } }
      - { id: d, type: DatePicker, properties: { min: 2026-12-01, max: 2026-11-31 } }
      - { id: e, type: DatePicker, properties: { min: 2026-12-01, max: 2026-11-30 } }
      - { id: f, type: MultiSelect, properties: { options: [a, b], initial: [a, c], min: 2, max: 1 } }
      - { id: g, type: MultiSelect, properties: { options: [a], initial: a } }
      - { id: h, type: Checkbox, properties: { label: 7 } }
      - { id: i, type: Table, properties: { rows: [{ a: 1 }], columns: [{ title: A }] } }
")), @"
    refused
    chatwright.yaml:6:64: error: `max` is 3, less than `min`, which is 5
       |
     6 |       - { id: a, type: NumberInput, properties: { min: 5, max: 3 } }
       |                                                                ^

    chatwright.yaml:7:58: error: `[a-` is no regular expression
       |
     7 |       - { id: b, type: TextInput, properties: { pattern: '[a-', minLength: 9, maxLength: 3 } }
       |                                                          ^^^^^

    chatwright.yaml:7:90: error: `maxLength` is 3, less than `minLength`, which is 9
       |
     7 |       - { id: b, type: TextInput, properties: { pattern: '[a-', minLength: 9, maxLength: 3 } }
       |                                                                                          ^

    chatwright.yaml:8:65: error: there is no pattern that this is said about
       |
     8 |       - { id: c, type: TextInput, properties: { patternMessage: Digits only } }
       |                                                                 ^^^^^^^^^^^
       = help: give it a `pattern`

    chatwright.yaml:9:72: error: `2026-11-31` is no day
       |
     9 |       - { id: d, type: DatePicker, properties: { min: 2026-12-01, max: 2026-11-31 } }
       |                                                                        ^^^^^^^^^^
       = help: write it as `YYYY-MM-DD`

    chatwright.yaml:10:72: error: the last day `2026-11-30` is before the first, `2026-12-01`
        |
     10 |       - { id: e, type: DatePicker, properties: { min: 2026-12-01, max: 2026-11-30 } }
        |                                                                        ^^^^^^^^^^

    chatwright.yaml:11:81: error: there is no option `c`
        |
     11 |       - { id: f, type: MultiSelect, properties: { options: [a, b], initial: [a, c], min: 2, max: 1 } }
        |                                                                                 ^
        = help: one of `a` and `b`

    chatwright.yaml:11:98: error: `max` is 1, less than `min`, which is 2
        |
     11 |       - { id: f, type: MultiSelect, properties: { options: [a, b], initial: [a, c], min: 2, max: 1 } }
        |                                                                                                  ^

    chatwright.yaml:12:74: error: expected a list, found the text `a`
        |
     12 |       - { id: g, type: MultiSelect, properties: { options: [a], initial: a } }
        |                                                                          ^
        = help: start the line with `- ` to make it a list of one

    chatwright.yaml:13:55: error: expected text, found the number 7
        |
     13 |       - { id: h, type: Checkbox, properties: { label: 7 } }
        |                                                       ^
        = help: put it in quotes

    chatwright.yaml:14:73: error: `key` is missing here
        |
     14 |       - { id: i, type: Table, properties: { rows: [{ a: 1 }], columns: [{ title: A }] } }
        |                                                                         ^
        = help: `key`: The key of the value in a row; `a.b` reaches into an object.
    ");
}

#[test]
fn misplaced_operators_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: TextInput, properties: { label: { _state: b }, disabled: { _eq: [{ _state: a }, x] } } }
      - { id: c, type: Title, properties: { title: { _secret: KEY } } }
      - { id: d, type: Title, properties: { title: { _event: value } } }
      - { id: e, type: Title, properties: { title: { _sate: a } } }
      - { id: f, type: Title, visible: { _payload: x }, properties: { title: F } }
      - { id: g, type: Select, properties: { options: { _state: list } } }
      - { id: h, type: Button, properties: { title: H }, events: { onClick: [{ type: SetState, params: { list: [a] } }] } }
")), @"
    refused
    chatwright.yaml:6:66: warning: nothing on this page writes the state `b`
       |
     6 | …put, properties: { label: { _state: b }, disabled: { _eq: [{ _state: a }, x] } } }
       |                                      ^
       = help: one of `a`, `g` and `list`

    chatwright.yaml:7:54: error: a secret has no place here
       |
     7 |       - { id: c, type: Title, properties: { title: { _secret: KEY } } }
       |                                                      ^^^^^^^
       = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:8:54: error: the operator `_event` has no meaning here
       |
     8 |       - { id: d, type: Title, properties: { title: { _event: value } } }
       |                                                      ^^^^^^
       = help: what can be read here: `_state`, `_url_query`, `_expr` and `_template`; operators that only compute are allowed, too

    chatwright.yaml:9:54: error: there is no operator `_sate`
       |
     9 |       - { id: e, type: Title, properties: { title: { _sate: a } } }
       |                                                      ^^^^^
       = help: did you mean `_state`?

    chatwright.yaml:10:42: error: the operator `_payload` has no meaning here
        |
     10 |       - { id: f, type: Title, visible: { _payload: x }, properties: { title: F } }
        |                                          ^^^^^^^^
        = help: what can be read here: `_state`, `_url_query`, `_expr` and `_template`; operators that only compute are allowed, too
    ");
}

#[test]
fn home_names_agents_that_exist() {
    let home = |home: &str| {
        check(&with_basics(&format!(
            "agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nhome: {home}\n"
        )))
    };
    assert_snapshot!(home("{ agents: [helper, helpr] }"), @"
    refused
    chatwright.yaml:3:26: error: there is no agent `helpr`
       |
     3 | home: { agents: [helper, helpr] }
       |                          ^^^^^
       = help: did you mean `helper`?
    ");
    assert_snapshot!(home("{ heading: Hi }"), @"
    refused
    chatwright.yaml:3:9: error: there is no key `heading` here
       |
     3 | home: { heading: Hi }
       |         ^^^^^^^
       = help: one of `title`, `description` and `agents`
    ");
}
