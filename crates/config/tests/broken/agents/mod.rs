//! Tests of agents: their keys, and what they use.

mod client_tools;
mod effects;
mod file_system;
mod marks;
mod mcp;
mod mcp_tokens;
mod models;
mod presets;
mod properties;
mod user_auth;

use crate::{SEARCH, check, with_basics};
use insta::assert_snapshot;

/// Returns a config with an agent that has these properties and tools, after an endpoint `search`.
pub(crate) fn agent(properties: &str, tools: &str) -> String {
    with_basics(&format!(
        "{SEARCH}agents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m{properties} }}\n    tools: {tools}\n"
    ))
}

#[test]
fn invalid_ids_types_and_connections_are_rejected() {
    assert_snapshot!(check(&with_basics("agents:
  - { id: a, type: ClaudAgent, connectionId: demo, properties: { model: m } }
  - { id: b, type: Agent, connectionId: demo }
  - { id: c, type: Agent, connectionId: demo, properties: { instructions: hi } }
  - { id: d, type: Agent, properties: { model: m } }
  - { id: d, type: Agent, connectionId: kb, properties: { model: m } }
  - { id: e, type: ClaudeAgent, connectionId: demo, properties: { model: m } }
")), @"
    refused
    chatwright.yaml:3:20: error: there is no agent type `ClaudAgent`
       |
     3 |   - { id: a, type: ClaudAgent, connectionId: demo, properties: { model: m } }
       |                    ^^^^^^^^^^
       = help: did you mean `ClaudeAgent`?

    chatwright.yaml:4:5: error: `properties` is missing here
       |
     4 |   - { id: b, type: Agent, connectionId: demo }
       |     ^
       = help: `properties`: Model, instructions and settings.

    chatwright.yaml:5:47: error: `model` is missing here
       |
     5 |   - { id: c, type: Agent, connectionId: demo, properties: { instructions: hi } }
       |                                               ^^^^^^^^^^
       = help: `model`: The provider's name for the model. It is needed unless the agent has `models`; then it may name the default one of these.

    chatwright.yaml:6:5: error: `connectionId` is missing here
       |
     6 |   - { id: d, type: Agent, properties: { model: m } }
       |     ^
       = help: `connectionId`: The connection to the model's provider. It is needed unless the agent has `models`.

    chatwright.yaml:7:11: error: there are two agents with the id `d`
       |
     7 |   - { id: d, type: Agent, connectionId: kb, properties: { model: m } }
       |           ^
       = help: the first one is at chatwright.yaml:6:11

    chatwright.yaml:7:41: error: the connection `kb` is of the type Sql, which has no model
       |
     7 |   - { id: d, type: Agent, connectionId: kb, properties: { model: m } }
       |                                         ^^

    chatwright.yaml:8:47: error: an agent of the type ClaudeAgent needs a connection of the type Anthropic; `demo` is of the type Demo
       |
     8 |   - { id: e, type: ClaudeAgent, connectionId: demo, properties: { model: m } }
       |                                               ^^^^
       = help: the agent's type for it is `Agent`
    ");
}

#[test]
fn invalid_tools_are_rejected() {
    assert_snapshot!(check(&agent("", "[serch]")), @"
    refused
    chatwright.yaml:12:13: error: there is no endpoint `serch`
        |
     12 |     tools: [serch]
        |             ^^^^^
        = help: did you mean `search`?
    ");
    assert_snapshot!(check(&agent("", "[search, search]")), @"
    refused
    chatwright.yaml:12:21: error: this agent has two tools with the name `search`
        |
     12 |     tools: [search, search]
        |                     ^^^^^^
        = help: the first one is in line 12; give one of them another `name`
    ");
    assert_snapshot!(check(&agent("", "[{ endpointId: search, name: read-file }]")), @"
    refused
    chatwright.yaml:12:41: error: the tool name `read-file` belongs to the platform
        |
     12 |     tools: [{ endpointId: search, name: read-file }]
        |                                         ^^^^^^^^^
        = help: give it another `name`
    ");
    assert_snapshot!(check(&agent("", "[{ endpointId: search, name: ask-user }]")), @"
    refused
    chatwright.yaml:12:41: error: the tool name `ask-user` belongs to the platform
        |
     12 |     tools: [{ endpointId: search, name: ask-user }]
        |                                         ^^^^^^^^
        = help: give it another `name`
    ");
    assert_snapshot!(check(&agent("", "[{ endpointId: search, name: prototype }]")), @"
    refused
    chatwright.yaml:12:41: error: the name `prototype` is refused: in a browser it can change every object
        |
     12 |     tools: [{ endpointId: search, name: prototype }]
        |                                         ^^^^^^^^^
    ");
    assert_snapshot!(check(&agent("", "[{ endpoint: search }]")), @"
    refused
    chatwright.yaml:12:15: error: there is no key `endpoint` here
        |
     12 |     tools: [{ endpoint: search }]
        |               ^^^^^^^^
        = help: did you mean `endpointId`?
    ");
    assert_snapshot!(check(&agent("", "[{ endpointId: search, confirm: maybe }]")), @"
    refused
    chatwright.yaml:12:44: error: expected true or false or a mapping, found the text `maybe`
        |
     12 |     tools: [{ endpointId: search, confirm: maybe }]
        |                                            ^^^^^
    ");
    let asks = |terms: &str| check(&agent("", &format!("[{{ endpointId: search, {terms} }}]")));
    assert_eq!(asks("confirm: { remember: false, expiresAfterSeconds: 900 }, visibleParameters: [q]"), "accepted\n");
    assert_snapshot!(asks("confirm: { expiresAfterSeconds: 0 }"), @"
    refused
    chatwright.yaml:12:67: error: expected a number between 1 and 31536000, found the number 0
        |
     12 |     tools: [{ endpointId: search, confirm: { expiresAfterSeconds: 0 } }]
        |                                                                   ^
    ");
    assert_snapshot!(asks("confirm: { expires: 60 }"), @"
    refused
    chatwright.yaml:12:46: error: there is no key `expires` here
        |
     12 |     tools: [{ endpointId: search, confirm: { expires: 60 } }]
        |                                              ^^^^^^^
        = help: one of `remember` and `expiresAfterSeconds`
    ");
    assert_snapshot!(asks("confirm: true, visibleParameters: [query]"), @"
    refused
    chatwright.yaml:12:70: error: the endpoint `search` has no parameter `query`
        |
     12 |     tools: [{ endpointId: search, confirm: true, visibleParameters: [query] }]
        |                                                                      ^^^^^
        = help: the only one is `q`
    ");
    assert_snapshot!(check(&agent("", "[[search]]")), @"
    refused
    chatwright.yaml:12:13: error: expected text or a mapping, found a list
        |
     12 |     tools: [[search]]
        |             ^
    ");
    assert_snapshot!(check(&agent(", activeTools: [search, find], stopOnToolCall: serch, toolChoice: { type: tool, toolName: update-page-state }", "[search]")), @"
    refused
    chatwright.yaml:11:51: error: this agent has no tool `find`
        |
     11 | …: { model: m, activeTools: [search, find], stopOnToolCall: serch, toolChoice: { type: tool, toolName: update-p…
        |                                      ^^^^
        = help: one of `search` and `update-page-state`

    chatwright.yaml:11:74: error: this agent has no tool `serch`
        |
     11 | …ls: [search, find], stopOnToolCall: serch, toolChoice: { type: tool, toolName: update-page-state } }
        |                                      ^^^^^
        = help: did you mean `search`?
    ");
}

#[test]
fn endpoints_without_description_or_schema_are_rejected_as_tools() {
    let long = "a".repeat(70);
    assert_snapshot!(check(&with_basics(&format!("api:
  - {{ id: bare, routine: [{{ ':return': 1 }}] }}
  - {{ id: {long}, description: Long, payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
  - {{ id: stat-file, description: Stat, payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
agents:
  - {{ id: a, type: Agent, connectionId: demo, properties: {{ model: m }}, tools: [bare, {long}, stat-file] }}
"))), @"
    refused
    chatwright.yaml:7:81: error: the endpoint `bare` has no `description`, so it cannot be a tool
       |
     7 | …, properties: { model: m }, tools: [bare, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…
       |                                      ^^^^
       = help: add it to the endpoint, at chatwright.yaml:3:5: the model chooses tools by it

    chatwright.yaml:7:81: error: the endpoint `bare` has no `payloadSchema`, so it cannot be a tool
       |
     7 | …, properties: { model: m }, tools: [bare, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…
       |                                      ^^^^
       = help: add it to the endpoint, at chatwright.yaml:3:5: the model fills it in

    chatwright.yaml:7:87: error: `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` cannot be the name of a tool
       |
     7 | …erties: { model: m }, tools: [bare, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, st…
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: give it a `name`: use up to 64 letters, digits, `_` and `-`

    chatwright.yaml:7:159: error: the tool name `stat-file` belongs to the platform
       |
     7 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, stat-file] }
       |                                      ^^^^^^^^^
       = help: give it another `name`
    ");
}

#[test]
fn writing_tool_without_approval_causes_a_warning() {
    assert_snapshot!(check(&with_basics("api:
  - id: kb/clear
    description: Clear
    payloadSchema: { type: object }
    routine: [{ id: s, type: SqlExecute, connectionId: kb, properties: { query: delete from a } }]
agents:
  - { id: a, type: Agent, connectionId: demo, properties: { model: m }, tools: [kb/clear] }
")), @"
    accepted
    chatwright.yaml:8:81: warning: the agent may call `kb/clear`, which changes data, without asking
       |
     8 |   - { id: a, type: Agent, connectionId: demo, properties: { model: m }, tools: [kb/clear] }
       |                                                                                 ^^^^^^^^
       = help: write `{ endpointId: kb/clear, confirm: true }` to ask the user before each call
    ");
}

#[test]
fn ask_user_tool_needs_the_property() {
    assert_snapshot!(check(&agent(", askUser: true, activeTools: [ask-user, search]", "[search]")), @"accepted");
    assert_snapshot!(check(&agent(", activeTools: [ask-user]", "[search]")), @"
    refused
    chatwright.yaml:11:43: error: this agent has no tool `ask-user`
        |
     11 |     properties: { model: m, activeTools: [ask-user] }
        |                                           ^^^^^^^^
        = help: one of `search` and `update-page-state`
    ");
    assert_snapshot!(check(&agent(", askUser: sometimes", "[search]")), @"
    refused
    chatwright.yaml:11:38: error: expected true or false, found the text `sometimes`
        |
     11 |     properties: { model: m, askUser: sometimes }
        |                                      ^^^^^^^^^
    ");
}

#[test]
fn invalid_hooks_are_rejected() {
    assert_snapshot!(check("connections: [{ id: demo, type: Demo }]
api: [{ id: note, routine: [{ ':log': x }] }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: demo }
    hooks: { onStart: [note, nte], onFinsh: [note], onFinish: note }
"), @"
    refused
    chatwright.yaml:8:30: error: there is no endpoint `nte`
       |
     8 |     hooks: { onStart: [note, nte], onFinsh: [note], onFinish: note }
       |                              ^^^
       = help: did you mean `note`?

    chatwright.yaml:8:36: error: there is no key `onFinsh` here
       |
     8 |     hooks: { onStart: [note, nte], onFinsh: [note], onFinish: note }
       |                                    ^^^^^^^
       = help: did you mean `onFinish`?

    chatwright.yaml:8:63: error: expected a list, found the text `note`
       |
     8 |     hooks: { onStart: [note, nte], onFinsh: [note], onFinish: note }
       |                                                               ^^^^
       = help: start the line with `- ` to make it a list of one
    ");
}

#[test]
fn invalid_fallback_models_are_rejected() {
    assert_snapshot!(check("connections: [{ id: demo, type: Demo }, { id: kb, type: Sql, properties: { url: 'sqlite::memory:' } }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: demo
      fallbackModels: [other, { connectionId: kb, model: m }, { connectionId: dmo, model: m }, { model: m }, '']
"), @"
    refused
    chatwright.yaml:8:47: error: the connection `kb` is of the type Sql, which has no model
       |
     8 | …backModels: [other, { connectionId: kb, model: m }, { connectionId: dmo, model: m }, { model: m }, '']
       |                                      ^^

    chatwright.yaml:8:79: error: there is no connection `dmo`
       |
     8 | …Id: kb, model: m }, { connectionId: dmo, model: m }, { model: m }, '']
       |                                      ^^^
       = help: did you mean `demo`?

    chatwright.yaml:8:96: error: `connectionId` is missing here
       |
     8 | …}, { connectionId: dmo, model: m }, { model: m }, '']
       |                                      ^
       = help: `connectionId`: The connection to the model's provider.

    chatwright.yaml:8:110: error: this text is empty
       |
     8 | …nId: dmo, model: m }, { model: m }, '']
       |                                      ^^
    ");
}

#[test]
fn invalid_limits_and_prices_are_rejected() {
    assert_snapshot!(check("connections: [{ id: demo, type: Demo }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: demo, limits: { requests: 0, costUsd: -1, totalToken: 5, timeSeconds: soon } }
prices:
  m: { input: 3 }
  n: { input: -1, output: 2, cached: 1 }
  o: 3
"), @"
    refused
    chatwright.yaml:6:52: error: expected a number of at least 1, found the number 0
       |
     6 |     properties: { model: demo, limits: { requests: 0, costUsd: -1, totalToken: 5, timeSeconds: soon } }
       |                                                    ^

    chatwright.yaml:6:64: error: expected a number of at least 0, found the number -1
       |
     6 |     properties: { model: demo, limits: { requests: 0, costUsd: -1, totalToken: 5, timeSeconds: soon } }
       |                                                                ^^

    chatwright.yaml:6:68: error: there is no key `totalToken` here
       |
     6 |     properties: { model: demo, limits: { requests: 0, costUsd: -1, totalToken: 5, timeSeconds: soon } }
       |                                                                    ^^^^^^^^^^
       = help: did you mean `totalTokens`?

    chatwright.yaml:6:96: error: expected a whole number, found the text `soon`
       |
     6 |     properties: { model: demo, limits: { requests: 0, costUsd: -1, totalToken: 5, timeSeconds: soon } }
       |                                                                                                ^^^^

    chatwright.yaml:8:6: error: `output` is missing here
       |
     8 |   m: { input: 3 }
       |      ^
       = help: `output`: Output, reasoning included.

    chatwright.yaml:9:15: error: expected a number of at least 0, found the number -1
       |
     9 |   n: { input: -1, output: 2, cached: 1 }
       |               ^^

    chatwright.yaml:9:30: error: there is no key `cached` here
       |
     9 |   n: { input: -1, output: 2, cached: 1 }
       |                              ^^^^^^
       = help: one of `input`, `output`, `cacheRead` and `cacheWrite`

    chatwright.yaml:10:6: error: expected a mapping, found the number 3
        |
     10 |   o: 3
        |      ^
        = help: its keys are `input`, `output`, `cacheRead` and `cacheWrite`
    ");
}
