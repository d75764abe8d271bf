use crate::{SEARCH, check, with_basics};
use insta::assert_snapshot;

/// Returns a config with an agent that has these properties and tools, after an endpoint `search`.
fn agent(properties: &str, tools: &str) -> String {
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
       = help: `model`: The provider's name for the model.

    chatwright.yaml:6:5: error: `connectionId` is missing here
       |
     6 |   - { id: d, type: Agent, properties: { model: m } }
       |     ^
       = help: `connectionId`: The connection to the model's provider.

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
fn properties_of_other_agent_types_are_rejected() {
    assert_snapshot!(check(&agent(", thinking: { type: enabled, budgetTokens: 2000 }", "[]")), @"
    refused
    chatwright.yaml:11:29: error: `thinking` is for agents of the type ClaudeAgent; this one is of the type Agent
        |
     11 |     properties: { model: m, thinking: { type: enabled, budgetTokens: 2000 } }
        |                             ^^^^^^^^
        = help: write it under `providerOptions`, in the provider's own words
    ");
    assert_snapshot!(check("connections: [{ id: c, type: Anthropic, properties: { apiKey: { _secret: KEY } } }]
agents:
  - { id: a, type: ClaudeAgent, connectionId: c, properties: { model: m, effort: highest, thinking: { type: on, budgetTokens: 5 }, reasoningEffort: low } }
  - { id: b, type: ClaudeAgent, connectionId: c, properties: { model: m, reasoningEffort: low } }
"), @"
    refused
    chatwright.yaml:3:82: error: there is no value `highest`
       |
     3 | … c, properties: { model: m, effort: highest, thinking: { type: on, budgetTokens: 5 }, reasoningEffort: low } }
       |                                      ^^^^^^^
       = help: one of `low`, `medium`, `high` and `max`

    chatwright.yaml:3:109: error: there is no value `on`
       |
     3 | … effort: highest, thinking: { type: on, budgetTokens: 5 }, reasoningEffort: low } }
       |                                      ^^
       = help: one of `enabled`, `disabled` and `adaptive`

    chatwright.yaml:3:127: error: expected a number of at least 1024, found the number 5
       |
     3 | …thinking: { type: on, budgetTokens: 5 }, reasoningEffort: low } }
       |                                      ^

    chatwright.yaml:3:132: error: `reasoningEffort` is for agents of the type OpenAIAgent; this one is of the type ClaudeAgent
       |
     3 | …ing: { type: on, budgetTokens: 5 }, reasoningEffort: low } }
       |                                      ^^^^^^^^^^^^^^^

    chatwright.yaml:4:74: error: `reasoningEffort` is for agents of the type OpenAIAgent; this one is of the type ClaudeAgent
       |
     4 |   - { id: b, type: ClaudeAgent, connectionId: c, properties: { model: m, reasoningEffort: low } }
       |                                                                          ^^^^^^^^^^^^^^^
    ");
}

#[test]
fn unsupported_keys_are_rejected() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, generateTitle: true }
    auth: { public: true }
    hooks: { onFinish: [title] }
")), @"
    refused
    chatwright.yaml:6:29: error: `generateTitle` is not available in this version
       |
     6 |     properties: { model: m, generateTitle: true }
       |                             ^^^^^^^^^^^^^

    chatwright.yaml:8:25: error: there is no endpoint `title`
       |
     8 |     hooks: { onFinish: [title] }
       |                         ^^^^^
       = help: declare it in the section `api`
    ");
}

#[test]
fn prepare_step_and_prune_have_a_strict_shape() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: demo
      prepareStep:
        - { activeTools: [] }
        - { steps: [0], from: 1 }
        - { from: 3, to: 2 }
        - { steps: [1], activeTools: [serch], temperature: 3 }
      prune: { reasoning: some, toolCalls: before-last-0-messages, emptyMessages: drop }
      pageContext: 1
")), @"
    refused
    chatwright.yaml:10:21: error: expected a number between 1 and 1000, found the number 0
        |
     10 |         - { steps: [0], from: 1 }
        |                     ^

    chatwright.yaml:12:60: error: expected a number between 0 and 2, found the number 3
        |
     12 |         - { steps: [1], activeTools: [serch], temperature: 3 }
        |                                                            ^

    chatwright.yaml:13:27: error: there is no value `some`
        |
     13 |       prune: { reasoning: some, toolCalls: before-last-0-messages, emptyMessages: drop }
        |                           ^^^^
        = help: one of `none`, `before-last-message` and `all`

    chatwright.yaml:13:44: error: `before-last-0-messages` cannot be what tool calls are left out
        |
     13 |       prune: { reasoning: some, toolCalls: before-last-0-messages, emptyMessages: drop }
        |                                            ^^^^^^^^^^^^^^^^^^^^^^
        = help: use `none`, `all`, `before-last-message`, or `before-last-N-messages` with a number from 1 on

    chatwright.yaml:13:83: error: there is no value `drop`
        |
     13 |       prune: { reasoning: some, toolCalls: before-last-0-messages, emptyMessages: drop }
        |                                                                                   ^^^^
        = help: one of `keep` and `remove`

    chatwright.yaml:14:20: error: expected true or false, found the number 1
        |
     14 |       pageContext: 1
        |                    ^
    ");
}

#[test]
fn prepare_step_rules_without_steps_are_rejected() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: demo
      prepareStep:
        - { activeTools: [] }
        - { steps: [1], from: 1 }
        - { from: 3, to: 2 }
        - { steps: [1], activeTools: [serch], toolChoice: { type: tool, toolName: none } }
        - { from: 2, toolChoice: required, maxOutputTokens: 100 }
      prune: { reasoning: all, toolCalls: [{ type: all, tools: [search] }], emptyMessages: remove }
      pageContext: true
")), @"
    refused
    chatwright.yaml:9:11: error: this rule does not say for which requests it is
       |
     9 |         - { activeTools: [] }
       |           ^
       = help: add `steps: [1]`, or `from: 2`

    chatwright.yaml:10:11: error: a rule has either `steps` or `from` and `to`
        |
     10 |         - { steps: [1], from: 1 }
        |           ^

    chatwright.yaml:11:11: error: no request has a number from 3 to 2
        |
     11 |         - { from: 3, to: 2 }
        |           ^

    chatwright.yaml:12:39: error: this agent has no tool `serch`
        |
     12 |         - { steps: [1], activeTools: [serch], toolChoice: { type: tool, toolName: none } }
        |                                       ^^^^^
        = help: the only one is `update-page-state`

    chatwright.yaml:12:83: error: this agent has no tool `none`
        |
     12 |         - { steps: [1], activeTools: [serch], toolChoice: { type: tool, toolName: none } }
        |                                                                                   ^^^^
        = help: the only one is `update-page-state`
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

#[test]
fn misplaced_operators_in_properties_are_rejected() {
    assert_snapshot!(check(&agent(", temperature: { _secret: KEY }, topK: { _state: k }, fileSystem: { basePath: { _user: folder } }", "[]")), @"
    refused
    chatwright.yaml:11:44: error: a secret has no place here
        |
     11 | …perties: { model: m, temperature: { _secret: KEY }, topK: { _state: k }, fileSystem: { basePath: { _user: fold…
        |                                      ^^^^^^^
        = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:11:68: error: the operator `_state` has no meaning here
        |
     11 | …perature: { _secret: KEY }, topK: { _state: k }, fileSystem: { basePath: { _user: folder } } }
        |                                      ^^^^^^
        = help: what can stand here: `_user`, `_payload`, `_if`, `_eq`, `_expr` and `_template`

    chatwright.yaml:11:105: error: expected text, found a mapping
        |
     11 | …state: k }, fileSystem: { basePath: { _user: folder } } }
        |                                      ^
        = help: the operator `_user` cannot stand here
    ");
    assert_snapshot!(check(&agent(", askUser: { _user: may }, maxSteps: { _usr: steps }, limits: { requests: { _expr: 1 + } }", "[]")), @"
    refused
    chatwright.yaml:11:38: error: expected true or false, found a mapping
        |
     11 | …   properties: { model: m, askUser: { _user: may }, maxSteps: { _usr: steps }, limits: { requests: { _expr: 1 …
        |                                      ^
        = help: the operator `_user` cannot stand here

    chatwright.yaml:11:66: error: there is no operator `_usr`
        |
     11 | …skUser: { _user: may }, maxSteps: { _usr: steps }, limits: { requests: { _expr: 1 + } } }
        |                                      ^^^^
        = help: did you mean `_user`?

    chatwright.yaml:11:110: error: syntax error: unexpected end of input, expected expression
        |
     11 | …eps }, limits: { requests: { _expr: 1 + } } }
        |                                      ^^^
    ");
    assert_snapshot!(check(&agent(", temperature: { _user: warmth }, topP: 3, activeTools: [{ _user: tool }, serch]", "[search]")), @"
    refused
    chatwright.yaml:11:67: error: expected a number between 0 and 1, found the number 3
        |
     11 |     properties: { model: m, temperature: { _user: warmth }, topP: 3, activeTools: [{ _user: tool }, serch] }
        |                                                                   ^
    ");
}

/// A cost limit requires the price of every model that it covers.
#[test]
fn cost_limit_without_price_is_rejected() {
    let config = |limits: &str, rest: &str| {
        format!(
            "connections: [{{ id: demo, type: Demo }}]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: mine
      fallbackModels: [gpt-5, {{ connectionId: demo, model: spare }}]
      limits: {limits}
    tools: [write]
    agents: [{{ agentId: b, description: Helps. }}]
  - {{ id: b, type: Agent, connectionId: demo, properties: {{ model: below }} }}
  - {{ id: c, type: Agent, connectionId: demo, properties: {{ model: apart }} }}
api:
  - id: write
    description: Writes.
    payloadSchema: {{ type: object }}
    routine:
      - ':if': true
        ':then':
          - {{ id: inner, type: CallEndpoint, properties: {{ endpointId: text }} }}
  - id: text
    routine: [{{ id: t, type: GenerateText, connectionId: demo, properties: {{ model: writer, prompt: Hi }} }}]
{rest}"
        )
    };
    let found = |limits: &str, rest: &str| {
        let said = check(&config(limits, rest));
        let lines = said.lines().filter(|line| line.contains(": error:"));
        lines.map(|line| line.trim_start_matches("chatwright.yaml:").to_owned()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(found("{ requests: 3 }", ""), "");
    assert_snapshot!(found("{ costUsd: 0.5 }", ""), @"
    7:14: error: the price of the model `mine` is not known, so the cost limit of the agent `a` cannot be kept
    8:60: error: the price of the model `spare` is not known, so the cost limit of the agent `a` cannot be kept
    12:68: error: the price of the model `below` is not known, so the cost limit of the agent `a` cannot be kept
    23:85: error: the price of the model `writer` is not known, so the cost limit of the agent `a` cannot be kept
    ");
    assert_eq!(found("{ costUsd: { _user: most } }", "").lines().count(), 4);
    let some = "prices: { m: { input: 1, output: 2 }, spare: { input: 1, output: 2 } }\n";
    assert_eq!(found("{ costUsd: 0.5 }", some).lines().count(), 2);
    assert_eq!(found("{ costUsd: 0.5 }", "prices: { default: { input: 1, output: 2 } }\n"), "");
    let quota = "limits: { quotas: [{ per: day, costUsd: 1 }] }\n";
    assert_eq!(found("{ requests: 3 }", quota).lines().count(), 5);
    let said = check(&config("{ costUsd: 0.5 }", ""));
    assert!(
        said.contains(
            "add it to the section `prices`, in US dollars for a million tokens: `mine: { input: 1, output: 2 }`"
        ),
        "{said}"
    );
}

/// Settings that an API does not support are not sent; the config is accepted with a warning.
#[test]
fn unsupported_sampling_settings_cause_a_warning() {
    let said = check(
        "
connections:
  - { id: claude, type: Anthropic, properties: { apiKey: { _secret: KEY } } }
  - { id: openai, type: OpenAI, properties: { apiKey: { _secret: KEY } } }
  - { id: google, type: Google, properties: { apiKey: { _secret: KEY } } }
  - { id: gateway, type: AIGateway, properties: { apiKey: { _secret: KEY } } }
  - { id: local, type: OpenAICompatible, properties: { baseURL: 'http://127.0.0.1:1/v1' } }
agents:
  - { id: a, type: ClaudeAgent, connectionId: claude, properties: { model: m, topK: 5, seed: 1 } }
  - { id: b, type: OpenAIAgent, connectionId: openai, properties: { model: m, topK: 5, stopSequences: [x] } }
  - { id: c, type: OpenAIAgent, connectionId: openai, properties: { model: m, api: chat, seed: 1, topK: 5 } }
  - { id: d, type: Agent, connectionId: openai, properties: { model: m, frequencyPenalty: 0.5 } }
  - { id: e, type: GeminiAgent, connectionId: google, properties: { model: m, topK: 5, seed: 1, stopSequences: [x] } }
  - { id: f, type: AIGatewayAgent, connectionId: gateway, properties: { model: m/n, topK: 5, seed: 1 } }
  - { id: g, type: Agent, connectionId: local, properties: { model: m, topK: 5, seed: 1 } }
",
    );
    let warnings: Vec<_> = said.lines().filter(|line| line.contains(": warning: ")).collect();
    assert_snapshot!(warnings.join("\n"), @r"
    chatwright.yaml:9:88: warning: `seed` has no effect: Anthropic's Messages API does not know it
    chatwright.yaml:10:79: warning: `topK` has no effect: OpenAI's Responses API does not know it
    chatwright.yaml:10:88: warning: `stopSequences` has no effect: OpenAI's Responses API does not know it
    chatwright.yaml:11:99: warning: `topK` has no effect: the Chat Completions API does not know it
    chatwright.yaml:12:73: warning: `frequencyPenalty` has no effect: OpenAI's Responses API does not know it
    chatwright.yaml:14:85: warning: `topK` has no effect: the AI Gateway does not know it
    chatwright.yaml:15:72: warning: `topK` has no effect: the Chat Completions API does not know it
    ");
    assert!(said.starts_with("accepted"), "{said}");
    assert!(said.contains("let the agent speak Chat Completions, which knows it: `api: chat`"), "{said}");
    assert!(said.contains("`providerOptions: { openai: { top_k: … } }`"), "{said}");
}

#[test]
fn preset_with_tools_is_rejected() {
    let said = check(&with_basics(&format!(
        "{SEARCH}agents:
  - id: a
    type: Agent
    preset: record-extractor
    connectionId: demo
    properties: {{ model: m, askUser: true }}
    tools: [search]
  - {{ id: b, type: Agent, preset: extractor, connectionId: demo, properties: {{ model: m }} }}
"
    )));
    let errors: Vec<_> = said.lines().filter_map(|line| line.split_once(": error: ")).map(|(_, error)| error).collect();
    assert_eq!(
        errors,
        [
            "an agent with a `preset` works without tools, so it has no `askUser`",
            "an agent with a `preset` works without tools, so it has no `tools`",
            "there is no preset `extractor`",
        ],
        "{said}"
    );
}
