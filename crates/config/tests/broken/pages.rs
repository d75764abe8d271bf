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
fn invalid_chats_are_rejected() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat }
      - { id: b, type: AgentChat, properties: { agentId: helpr } }
      - { id: c, type: AgentChat, properties: { agentId: helper, display: drawr, maxWidth: 800 } }
      - { id: d, type: AgentChat, properties: { agentId: helper, drawer: { width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
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

    chatwright.yaml:9:75: error: there is no display `drawr`
       |
     9 |       - { id: c, type: AgentChat, properties: { agentId: helper, display: drawr, maxWidth: 800 } }
       |                                                                           ^^^^^
       = help: did you mean `drawer`?

    chatwright.yaml:10:83: error: expected a number between 240 and 2000, found the number 40
        |
     10 | …{ agentId: helper, drawer: { width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^^

    chatwright.yaml:10:110: error: `label` is missing here
        |
     10 | …{ width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^
        = help: `label`: What is shown and sent.

    chatwright.yaml:10:112: error: there is no key `text` here
        |
     10 | …width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^^^^
        = help: one of `key`, `label`, `description` and `icon`
    ");
}

#[test]
fn unknown_shared_state_is_reported() {
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
        = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:14:21: error: the operator `_user` has no meaning here
        |
     14 |             user: { _user: id }
        |                     ^^^^^
        = help: what can stand here: `_state`, `_url_query`, `_if`, `_eq`, `_expr` and `_template`

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
       = help: what can stand here: `_state`, `_url_query`, `_if`, `_eq`, `_expr` and `_template`

    chatwright.yaml:9:54: error: there is no operator `_sate`
       |
     9 |       - { id: e, type: Title, properties: { title: { _sate: a } } }
       |                                                      ^^^^^
       = help: did you mean `_state`?

    chatwright.yaml:10:42: error: the operator `_payload` has no meaning here
        |
     10 |       - { id: f, type: Title, visible: { _payload: x }, properties: { title: F } }
        |                                          ^^^^^^^^
        = help: what can stand here: `_state`, `_url_query`, `_if`, `_eq`, `_expr` and `_template`
    ");
}

#[test]
fn invalid_message_settings_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
      - { id: b, type: AgentChat, properties: { agentId: helper, messageDisplay: { showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: left } } } }
      - { id: c, type: AgentChat, properties: { agentId: helper, messageDisplay: { thinkingMessageDelay: 10, reasoningDisplay: above } } }
      - { id: d, type: AgentChat, properties: { agentId: helper, messageDisplay: { toolResultDisplay: { search: all } } } }
      - { id: e, type: AgentChat, properties: { agentId: helper, roles: { agent: { name: A }, user: { shape: oval } } } }
      - { id: f, type: AgentChat, properties: { agentId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
      - { id: g, type: AgentChat, properties: { agentId: helper, conversationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
      - { id: h, type: AgentChat, properties: { agentId: helper, feedbackValues: { m: liked, n: { _sate: n } } } }
")), @"
    refused
    chatwright.yaml:6:77: error: there is no key `like` here
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
       |                                                                             ^^^^
       = help: one of `copy`, `feedback`, `regenerate`, `edit`, `delete`, `branch` and `audio`

    chatwright.yaml:6:95: error: expected true or false, found the text `maybe`
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
       |                                                                                               ^^^^^

    chatwright.yaml:7:84: error: there is no key `showSource` here
       |
     7 | … agentId: helper, messageDisplay: { showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: lef…
       |                                      ^^^^^^^^^^
       = help: did you mean `showSources`?

    chatwright.yaml:7:120: error: there is no key `inlined` here
       |
     7 | …showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: left } } } }
       |                                      ^^^^^^^
       = help: did you mean `inline`?

    chatwright.yaml:7:155: error: there is no position `left`
       |
     7 | … inlined: true, expandIconPosition: left } } } }
       |                                      ^^^^
       = help: one of `start` and `end`

    chatwright.yaml:8:106: error: expected a number between 500 and 600000, found the number 10
       |
     8 | …ageDisplay: { thinkingMessageDelay: 10, reasoningDisplay: above } } }
       |                                      ^^

    chatwright.yaml:8:128: error: there is no reasoning display `above`
       |
     8 | …MessageDelay: 10, reasoningDisplay: above } } }
       |                                      ^^^^^
       = help: one of `interleaved` and `grouped`

    chatwright.yaml:9:113: error: there is no result display `all`
       |
     9 | …lay: { toolResultDisplay: { search: all } } } }
       |                                      ^^^
       = help: one of `summary`, `full`, `readable` and `none`

    chatwright.yaml:10:75: error: there is no key `agent` here
        |
     10 | …erties: { agentId: helper, roles: { agent: { name: A }, user: { shape: oval } } } }
        |                                      ^^^^^
        = help: one of `assistant` and `user`

    chatwright.yaml:10:110: error: there is no shape `oval`
        |
     10 | … agent: { name: A }, user: { shape: oval } } } }
        |                                      ^^^^
        = help: one of `default`, `round` and `corner`

    chatwright.yaml:11:74: error: expected a number between 100 and 10000, found the number 20
        |
     11 | …perties: { agentId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^^

    chatwright.yaml:11:88: error: expected a number or text, found a list
        |
     11 | …ntId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^

    chatwright.yaml:11:113: error: there is no variant `plain`
        |
     11 | … maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^^^^^
        = help: one of `filled` and `borderless`

    chatwright.yaml:11:129: error: `prompts` is missing here
        |
     11 | …welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^
        = help: `prompts`: The prompts.

    chatwright.yaml:12:84: error: there is no operator `_sate`
        |
     12 | … agentId: helper, conversationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^^^^^
        = help: did you mean `_state`?

    chatwright.yaml:12:106: error: expected a mapping, found the text `plan`
        |
     12 | …ersationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^^^^

    chatwright.yaml:12:126: error: `label` is missing here
        |
     12 | … a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^
        = help: `label`: What is shown and sent.

    chatwright.yaml:13:87: error: there is no feedback `liked`
        |
     13 | …entId: helper, feedbackValues: { m: liked, n: { _sate: n } } } }
        |                                      ^^^^^
        = help: did you mean `like`?

    chatwright.yaml:13:99: error: there is no operator `_sate`
        |
     13 | …r, feedbackValues: { m: liked, n: { _sate: n } } } }
        |                                      ^^^^^
        = help: did you mean `_state`?
    ");
}

#[test]
fn unknown_events_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: TextInput, events: { onChnage: [] } }
      - { id: b, type: Title, properties: { title: B }, events: { onClick: [] } }
      - { id: c, type: Button, properties: { title: C }, events: { onClick: { type: Reset } } }
      - { id: d, type: AgentChat, properties: { agentId: helper }, events: { onSwitchChange: [], onFinish: [] } }
      - { id: e, type: Button, properties: { title: E }, events: [onClick] }
")), @"
    refused
    chatwright.yaml:6:45: error: a block of the type TextInput has no event `onChnage`
       |
     6 |       - { id: a, type: TextInput, events: { onChnage: [] } }
       |                                             ^^^^^^^^
       = help: did you mean `onChange`?

    chatwright.yaml:7:67: error: a block of the type Title has no event `onClick`
       |
     7 |       - { id: b, type: Title, properties: { title: B }, events: { onClick: [] } }
       |                                                                   ^^^^^^^

    chatwright.yaml:8:77: error: expected a list of actions, found a mapping
       |
     8 |       - { id: c, type: Button, properties: { title: C }, events: { onClick: { type: Reset } } }
       |                                                                             ^
       = help: start the line with `- ` to make it a list of one

    chatwright.yaml:9:98: error: a block of the type AgentChat has no event `onFinish`
       |
     9 | …er }, events: { onSwitchChange: [], onFinish: [] } }
       |                                      ^^^^^^^^
       = help: one of `onBeforeSend`, `onUserMessage`, `onMessageComplete`, `onToolCall`, `onToolResult`, `onError`, `onStop`, `onRegenerate`, `onEditMessage`, `onDeleteMessage`, `onFeedback`, `onSuggestionClick`, `onSwitchChange`, `onTitleGenerated` and `onDataPart`

    chatwright.yaml:10:66: error: expected a mapping of events, found a list
        |
     10 |       - { id: e, type: Button, properties: { title: E }, events: [onClick] }
        |                                                                  ^
    ");
}

#[test]
fn invalid_actions_are_rejected() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: chat, type: AgentChat, properties: { agentId: helper } }
      - id: go
        type: Button
        properties: { title: Go }
        events:
          onClick:
            - { type: SetStat, params: {} }
            - { type: CallEndpoint, params: { endpointId: serch } }
            - { type: CallEndpoint }
            - { id: one, type: Validate, params: { ids: [nmae] } }
            - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
            - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
            - { type: CallMethod, params: { blockId: chat, method: setMessage } }
            - { type: Link, params: { pageId: q } }
            - { type: Link, params: { url: 'javascript:alert(1)' } }
            - { type: Link }
            - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
            - { type: Request, params: {} }
            - { type: Message, params: { content: { _secret: KEY } }, try: [] }
")), @"
    refused
    chatwright.yaml:13:23: error: there is no action type `SetStat`
        |
     13 |             - { type: SetStat, params: {} }
        |                       ^^^^^^^
        = help: did you mean `SetState`?

    chatwright.yaml:14:59: error: there is no endpoint `serch`
        |
     14 |             - { type: CallEndpoint, params: { endpointId: serch } }
        |                                                           ^^^^^
        = help: declare it in the section `api`

    chatwright.yaml:15:15: error: `params` is missing here
        |
     15 |             - { type: CallEndpoint }
        |               ^
        = help: `params` holds `endpointId`

    chatwright.yaml:16:58: error: no input on this page has the id `nmae`
        |
     16 |             - { id: one, type: Validate, params: { ids: [nmae] } }
        |                                                          ^^^^
        = help: did you mean `name`?

    chatwright.yaml:17:21: error: there are two actions with the id `one` in this list
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                     ^^^

    chatwright.yaml:17:67: error: no action before this one has the id `two`
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                                                                   ^^^
        = help: the only one is `one`

    chatwright.yaml:17:74: error: the key `__proto__` is refused: it can change every object in a browser
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                                                                          ^^^^^^^^^

    chatwright.yaml:18:54: error: no chat on this page has the id `chatt`
        |
     18 |             - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
        |                                                      ^^^^^
        = help: did you mean `chat`?

    chatwright.yaml:18:69: error: a chat has no method `sendMesage`
        |
     18 |             - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
        |                                                                     ^^^^^^^^^^
        = help: did you mean `sendMessage`?

    chatwright.yaml:19:68: error: a chat has no method `setMessage`
        |
     19 |             - { type: CallMethod, params: { blockId: chat, method: setMessage } }
        |                                                                    ^^^^^^^^^^
        = help: did you mean `setMessages`?

    chatwright.yaml:20:47: error: there is no page `q`
        |
     20 |             - { type: Link, params: { pageId: q } }
        |                                               ^
        = help: the only one is `p`

    chatwright.yaml:21:44: error: a link cannot lead there
        |
     21 |             - { type: Link, params: { url: 'javascript:alert(1)' } }
        |                                            ^^^^^^^^^^^^^^^^^^^^^^
        = help: use `https:`, `http:`, `mailto:`, or a path that starts with `/`

    chatwright.yaml:22:15: error: a link leads to one place
        |
     22 |             - { type: Link }
        |               ^
        = help: give it a `pageId` or a `url`

    chatwright.yaml:23:63: error: there is no status `loud`
        |
     23 |             - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
        |                                                               ^^^^
        = help: one of `info`, `success`, `warning` and `error`

    chatwright.yaml:23:79: error: expected a number between 1 and 60, found the number 0
        |
     23 |             - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
        |                                                                               ^

    chatwright.yaml:24:23: error: the action type `Request` is not available in this version
        |
     24 |             - { type: Request, params: {} }
        |                       ^^^^^^^

    chatwright.yaml:25:53: error: a secret has no place here
        |
     25 |             - { type: Message, params: { content: { _secret: KEY } }, try: [] }
        |                                                     ^^^^^^^
        = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:25:71: error: `try` is not available in this version
        |
     25 |             - { type: Message, params: { content: { _secret: KEY } }, try: [] }
        |                                                                       ^^^
    ");
}
