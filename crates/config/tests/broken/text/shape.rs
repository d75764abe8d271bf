use crate::{SEARCH, check, with_basics};
use insta::assert_snapshot;

#[test]
fn unknown_and_missing_keys_are_reported() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionID: demo
    properties: { model: m, max_steps: 3, instruction: hi, temprature: 1, colour: red }
")), @"
    refused
    chatwright.yaml:5:5: error: there is no key `connectionID` here
       |
     5 |     connectionID: demo
       |     ^^^^^^^^^^^^
       = help: did you mean `connectionId`?

    chatwright.yaml:6:29: error: there is no key `max_steps` here
       |
     6 |     properties: { model: m, max_steps: 3, instruction: hi, temprature: 1, colour: red }
       |                             ^^^^^^^^^
       = help: did you mean `maxSteps`?

    chatwright.yaml:6:43: error: there is no key `instruction` here
       |
     6 |     properties: { model: m, max_steps: 3, instruction: hi, temprature: 1, colour: red }
       |                                           ^^^^^^^^^^^
       = help: did you mean `instructions`?

    chatwright.yaml:6:60: error: there is no key `temprature` here
       |
     6 |     properties: { model: m, max_steps: 3, instruction: hi, temprature: 1, colour: red }
       |                                                            ^^^^^^^^^^
       = help: did you mean `temperature`?

    chatwright.yaml:6:75: error: there is no key `colour` here
       |
     6 |     properties: { model: m, max_steps: 3, instruction: hi, temprature: 1, colour: red }
       |                                                                           ^^^^^^
    ");
    assert_snapshot!(check("connections:
  - name: a
    type: Demo
"), @"
    refused
    chatwright.yaml:2:5: error: there is no key `name` here
       |
     2 |   - name: a
       |     ^^^^
       = help: one of `id`, `type` and `properties`

    chatwright.yaml:2:5: error: `id` is missing here
       |
     2 |   - name: a
       |     ^^^^
       = help: `id`: The name by which agents and requests refer to it.
    ");
    assert_snapshot!(check("connections:
  - id: a
  - id: b
    type: 7
  - type: Demo
"), @"
    refused
    chatwright.yaml:2:5: error: `type` is missing here
       |
     2 |   - id: a
       |     ^^
       = help: one of `Anthropic`, `OpenAI`, `OpenAICompatible`, `Google`, `AIGateway`, `Demo`, `Sql`, `Http`, `Mcp` and `RemoteAgent`

    chatwright.yaml:4:11: error: expected a connection type, found the number 7
       |
     4 |     type: 7
       |           ^
       = help: one of `Anthropic`, `OpenAI`, `OpenAICompatible`, `Google`, `AIGateway`, `Demo`, `Sql`, `Http`, `Mcp` and `RemoteAgent`

    chatwright.yaml:5:5: error: `id` is missing here
       |
     5 |   - type: Demo
       |     ^^^^
       = help: `id`: The name by which agents and requests refer to it.
    ");
}

#[test]
fn values_of_a_wrong_type_are_reported() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties:
      model: 4
      instructions: [Be kind]
      maxSteps: '10'
      maxRetries: 1.5
      temperature: warm
      stopSequences: END
      providerOptions: { openai: fast }
")), @"
    refused
    chatwright.yaml:7:14: error: expected text, found the number 4
       |
     7 |       model: 4
       |              ^
       = help: put it in quotes

    chatwright.yaml:8:21: error: expected text, found a list
       |
     8 |       instructions: [Be kind]
       |                     ^

    chatwright.yaml:9:17: error: expected a whole number, found the text `10`
       |
     9 |       maxSteps: '10'
       |                 ^^^^
       = help: write it without quotes

    chatwright.yaml:10:19: error: expected a whole number, found the number 1.5
        |
     10 |       maxRetries: 1.5
        |                   ^^^

    chatwright.yaml:11:20: error: expected a number, found the text `warm`
        |
     11 |       temperature: warm
        |                    ^^^^

    chatwright.yaml:12:22: error: expected a list, found the text `END`
        |
     12 |       stopSequences: END
        |                      ^^^
        = help: start the line with `- ` to make it a list of one

    chatwright.yaml:13:34: error: expected a mapping, found the text `fast`
        |
     13 |       providerOptions: { openai: fast }
        |                                  ^^^^
    ");
    assert_snapshot!(check("connections:
  - id: kb
    type: Sql
    properties: { url: 'sqlite::memory:', readOnly: yes }
  - Demo
  - id: d
    type: Demo
    properties: fast
"), @"
    refused
    chatwright.yaml:4:53: error: expected true or false, found the text `yes`
       |
     4 |     properties: { url: 'sqlite::memory:', readOnly: yes }
       |                                                     ^^^
       = help: write `true`

    chatwright.yaml:5:5: error: expected a mapping, found the text `Demo`
       |
     5 |   - Demo
       |     ^^^^
       = help: its keys are `id`

    chatwright.yaml:8:17: error: expected a mapping, found the text `fast`
       |
     8 |     properties: fast
       |                 ^^^^
       = help: its keys are `delayMs`
    ");
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, instructions: { _user: name } }
    tools: search
") ), @"
    refused
    chatwright.yaml:7:12: error: expected a list, found the text `search`
       |
     7 |     tools: search
       |            ^^^^^^
    ");
}

#[test]
fn values_out_of_range_are_reported() {
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, maxSteps: 0, temperature: 2.1, topP: -1, topK: 0, frequencyPenalty: -2, presencePenalty: 1.01, maxOutputTokens: -5 }
")), @"
    refused
    chatwright.yaml:6:39: error: expected a number between 1 and 1000, found the number 0
       |
     6 | …  properties: { model: m, maxSteps: 0, temperature: 2.1, topP: -1, topK: 0, frequencyPenalty: -2, presencePena…
       |                                      ^

    chatwright.yaml:6:55: error: expected a number between 0 and 2, found the number 2.1
       |
     6 | …model: m, maxSteps: 0, temperature: 2.1, topP: -1, topK: 0, frequencyPenalty: -2, presencePenalty: 1.01, maxOu…
       |                                      ^^^

    chatwright.yaml:6:66: error: expected a number between 0 and 1, found the number -1
       |
     6 | …axSteps: 0, temperature: 2.1, topP: -1, topK: 0, frequencyPenalty: -2, presencePenalty: 1.01, maxOutputTokens:…
       |                                      ^^

    chatwright.yaml:6:76: error: expected a number of at least 1, found the number 0
       |
     6 | …, temperature: 2.1, topP: -1, topK: 0, frequencyPenalty: -2, presencePenalty: 1.01, maxOutputTokens: -5 }
       |                                      ^

    chatwright.yaml:6:97: error: expected a number between -1 and 1, found the number -2
       |
     6 | …opP: -1, topK: 0, frequencyPenalty: -2, presencePenalty: 1.01, maxOutputTokens: -5 }
       |                                      ^^

    chatwright.yaml:6:118: error: expected a number between -1 and 1, found the number 1.01
       |
     6 | …quencyPenalty: -2, presencePenalty: 1.01, maxOutputTokens: -5 }
       |                                      ^^^^

    chatwright.yaml:6:141: error: expected a number of at least 1, found the number -5
       |
     6 | …encePenalty: 1.01, maxOutputTokens: -5 }
       |                                      ^^
    ");
    assert_snapshot!(check(&with_basics("agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: '  ', timeout: { totalMs: 0, stepsMs: 3 } }
")), @"
    refused
    chatwright.yaml:6:26: error: this text is empty
       |
     6 |     properties: { model: '  ', timeout: { totalMs: 0, stepsMs: 3 } }
       |                          ^^^^

    chatwright.yaml:6:52: error: expected a number between 1 and 86400000, found the number 0
       |
     6 |     properties: { model: '  ', timeout: { totalMs: 0, stepsMs: 3 } }
       |                                                    ^

    chatwright.yaml:6:55: error: there is no key `stepsMs` here
       |
     6 |     properties: { model: '  ', timeout: { totalMs: 0, stepsMs: 3 } }
       |                                                       ^^^^^^^
       = help: did you mean `stepMs`?
    ");
}

#[test]
fn invalid_ids_and_names_are_reported() {
    assert_snapshot!(check(&with_basics("agents:
  - id: my agent
    type: Agent
    connectionId: demo
    properties: { model: m, toolChoice: { type: tool, toolName: a b } }
")), @"
    refused
    chatwright.yaml:3:9: error: `my agent` cannot be an id
       |
     3 |   - id: my agent
       |         ^^^^^^^^
       = help: use up to 128 letters, digits, `_` and `-`, and do not start with `-`

    chatwright.yaml:6:65: error: `a b` cannot be the name of a tool
       |
     6 |     properties: { model: m, toolChoice: { type: tool, toolName: a b } }
       |                                                                 ^^^
       = help: use up to 64 letters, digits, `_` and `-`
    ");
    assert_snapshot!(check(&with_basics("agents:
  - id: constructor
    type: Agent
    connectionId: demo
    properties: { model: m, toolChoice: any }
")), @"
    refused
    chatwright.yaml:3:9: error: the name `constructor` is refused: in a browser it can change every object
       |
     3 |   - id: constructor
       |         ^^^^^^^^^^^

    chatwright.yaml:6:41: error: there is no tool choice `any`
       |
     6 |     properties: { model: m, toolChoice: any }
       |                                         ^^^
       = help: one of `auto`, `required` and `none`
    ");
}

#[test]
fn each_error_is_reported_once() {
    assert_snapshot!(check(&(with_basics("agents:
  - id: a
    type: Agent
    connectionId: dem
    properties: { model: m }
    tools: [serch]
  - id: b
    type: Agnt
    connectionId: nowhere
    properties: {}
pages:
  - id: p
    blocks:
      - { id: chat, type: AgentChat, properties: { agentId: b } }
      - { id: chat2, type: AgentChat, properties: { agentId: c } }
") + SEARCH)), @"
    refused
    chatwright.yaml:5:19: error: there is no connection `dem`
       |
     5 |     connectionId: dem
       |                   ^^^
       = help: did you mean `demo`?

    chatwright.yaml:7:13: error: there is no endpoint `serch`
       |
     7 |     tools: [serch]
       |             ^^^^^
       = help: did you mean `search`?

    chatwright.yaml:9:11: error: there is no agent type `Agnt`
       |
     9 |     type: Agnt
       |           ^^^^
       = help: did you mean `Agent`?

    chatwright.yaml:11:5: error: `model` is missing here
        |
     11 |     properties: {}
        |     ^^^^^^^^^^
        = help: `model`: The provider's name for the model. It is needed unless the agent has `models`; then it may name the default one of these.

    chatwright.yaml:16:62: error: there is no agent `c`
        |
     16 |       - { id: chat2, type: AgentChat, properties: { agentId: c } }
        |                                                              ^
        = help: one of `a` and `b`
    ");
}
