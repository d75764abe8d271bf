use crate::agents::agent;
use crate::{check, with_basics};
use insta::assert_snapshot;

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
fn title_models_and_hooks_must_exist() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, generateTitle: { model: m, connectionId: kb } }
    auth: { public: true }
    hooks: { onFinish: [title] }
")), @"
    refused
    chatwright.yaml:6:70: error: the connection `kb` is of the type Sql, which has no model
       |
     6 |     properties: { model: m, generateTitle: { model: m, connectionId: kb } }
       |                                                                      ^^

    chatwright.yaml:8:25: error: there is no endpoint `title`
       |
     8 |     hooks: { onFinish: [title] }
       |                         ^^^^^
       = help: declare it in the section `api`
    ");
}

#[test]
fn titles_have_bounds() {
    assert_snapshot!(check(&with_basics("generateTitle: { connectionId: demo, maxWords: 0 }
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, generateTitle: { maxWords: 30, maxChars: 5, maxTokens: 1 } }
    auth: { public: true }
")), @"
    refused
    chatwright.yaml:2:18: error: `connectionId` needs `model`
       |
     2 | generateTitle: { connectionId: demo, maxWords: 0 }
       |                  ^^^^^^^^^^^^
       = help: add `model`: the connection alone does not say which model names conversations

    chatwright.yaml:2:48: error: expected a number between 1 and 20, found the number 0
       |
     2 | generateTitle: { connectionId: demo, maxWords: 0 }
       |                                                ^

    chatwright.yaml:7:56: error: expected a number between 1 and 20, found the number 30
       |
     7 |     properties: { model: m, generateTitle: { maxWords: 30, maxChars: 5, maxTokens: 1 } }
       |                                                        ^^

    chatwright.yaml:7:70: error: expected a number between 10 and 200, found the number 5
       |
     7 |     properties: { model: m, generateTitle: { maxWords: 30, maxChars: 5, maxTokens: 1 } }
       |                                                                      ^

    chatwright.yaml:7:73: error: there is no key `maxTokens` here
       |
     7 |     properties: { model: m, generateTitle: { maxWords: 30, maxChars: 5, maxTokens: 1 } }
       |                                                                         ^^^^^^^^^
       = help: one of `model`, `connectionId`, `maxWords` and `maxChars`
    ");
}

#[test]
fn context_has_a_strict_shape() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: m
      context: { triggers: { tokens: 10, fraction: 2 }, keepMessage: 5 }
      summaryModel: { model: m, connectionId: kb }
    auth: { public: true }
")), @"
    refused
    chatwright.yaml:8:38: error: expected a number of at least 500, found the number 10
       |
     8 |       context: { triggers: { tokens: 10, fraction: 2 }, keepMessage: 5 }
       |                                      ^^

    chatwright.yaml:8:52: error: expected a number between 0.1 and 1, found the number 2
       |
     8 |       context: { triggers: { tokens: 10, fraction: 2 }, keepMessage: 5 }
       |                                                    ^

    chatwright.yaml:8:57: error: there is no key `keepMessage` here
       |
     8 |       context: { triggers: { tokens: 10, fraction: 2 }, keepMessage: 5 }
       |                                                         ^^^^^^^^^^^
       = help: did you mean `keepMessages`?

    chatwright.yaml:9:47: error: the connection `kb` is of the type Sql, which has no model
       |
     9 |       summaryModel: { model: m, connectionId: kb }
       |                                               ^^
    ");
}

#[test]
fn lists_have_their_bounds() {
    let text = check(&agent(&format!(", approvers: [{}]", ["a"; 21].join(", ")), "[]"));
    assert!(text.contains("error: expected a list of at most 20, found 21"), "{text}");
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
        = help: what can be read here: `_user`, `_payload`, `_expr` and `_template`; operators that only compute are allowed, too

    chatwright.yaml:11:105: error: expected text, found a mapping
        |
     11 | …state: k }, fileSystem: { basePath: { _user: folder } } }
        |                                      ^
        = help: the operator `_user` cannot be used here
    ");
    assert_snapshot!(check(&agent(", askUser: { _user: may }, maxSteps: { _usr: steps }, limits: { requests: { _expr: 1 + } }", "[]")), @"
    refused
    chatwright.yaml:11:38: error: expected true or false, found a mapping
        |
     11 | …   properties: { model: m, askUser: { _user: may }, maxSteps: { _usr: steps }, limits: { requests: { _expr: 1 …
        |                                      ^
        = help: the operator `_user` cannot be used here

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
    assert_snapshot!(check(&agent(", temperature: { _user: inputs }, topP: 3, activeTools: [{ _user: name }, serch]", "[search]")), @"
    refused
    chatwright.yaml:11:67: error: expected a number between 0 and 1, found the number 3
        |
     11 |     properties: { model: m, temperature: { _user: inputs }, topP: 3, activeTools: [{ _user: name }, serch] }
        |                                                                   ^
    ");
}
