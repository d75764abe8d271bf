use crate::check;
use insta::assert_snapshot;

/// Returns a config with connections, these models and an agent with these keys.
fn with_models(models: &str, agent: &str) -> String {
    format!(
        "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: kb, type: Sql, properties: {{ url: 'sqlite::memory:' }} }}
  - {{ id: claude, type: Anthropic, properties: {{ apiKey: {{ _secret: KEY }} }} }}
models:
{models}agents:
  - {{ id: a, {agent} }}
"
    )
}

const TWO: &str = "  - { id: fast, connectionId: demo, model: demo-1 }
  - { id: sonnet, connectionId: claude, model: claude-sonnet-4 }
";

#[test]
fn models_of_unknown_connections_and_of_connections_without_models_are_rejected() {
    assert_snapshot!(check(&with_models("  - { id: x, connectionId: demp, model: m }
  - { id: y, connectionId: kb, model: m }
  - { id: y, connectionId: demo }
", "type: Agent, models: [x]")), @"
    refused
    chatwright.yaml:6:28: error: there is no connection `demp`
       |
     6 |   - { id: x, connectionId: demp, model: m }
       |                            ^^^^
       = help: did you mean `demo`?

    chatwright.yaml:7:28: error: the connection `kb` is of the type Sql, which has no model
       |
     7 |   - { id: y, connectionId: kb, model: m }
       |                            ^^

    chatwright.yaml:8:5: error: `model` is missing here
       |
     8 |   - { id: y, connectionId: demo }
       |     ^
       = help: `model`: The provider's name for the model.

    chatwright.yaml:8:11: error: there are two models with the id `y`
       |
     8 |   - { id: y, connectionId: demo }
       |           ^
       = help: the first one is at chatwright.yaml:7:11
    ");
}

#[test]
fn a_connection_without_its_key_says_what_to_set() {
    let text = with_models(TWO, "type: Agent, models: [sonnet]").replace("_secret: KEY", "_secret: ANTHROPIC_API_KEY");
    assert_snapshot!(check(&text), @"
    refused
    chatwright.yaml:4:58: error: the environment variable `ANTHROPIC_API_KEY` is not set
       |
     4 |   - { id: claude, type: Anthropic, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
       |                                                          ^
       = help: set it before the server starts: it is the `apiKey` of the connection `claude`; to try without a key, use a connection of `type: Demo` and an agent of `type: Agent`
    ");
}

#[test]
fn unknown_models_and_those_of_other_providers_are_rejected() {
    assert_snapshot!(check(&with_models(TWO, "type: Agent, models: [fast, sonet, fast]")), @"
    refused
    chatwright.yaml:9:42: error: there is no model `sonet`
       |
     9 |   - { id: a, type: Agent, models: [fast, sonet, fast] }
       |                                          ^^^^^
       = help: did you mean `sonnet`?

    chatwright.yaml:9:49: error: the model `fast` is listed twice
       |
     9 |   - { id: a, type: Agent, models: [fast, sonet, fast] }
       |                                                 ^^^^
    ");
    assert_snapshot!(check(&with_models(TWO, "type: ClaudeAgent, models: [sonnet, fast]")), @"
    refused
    chatwright.yaml:9:50: error: the model `fast` is not of the provider of a ClaudeAgent
       |
     9 |   - { id: a, type: ClaudeAgent, models: [sonnet, fast] }
       |                                                  ^^^^
       = help: an agent of the type `Agent` may have models of all providers
    ");
    assert_snapshot!(check(&with_models(TWO, "type: Agent, models: []")), @"
    refused
    chatwright.yaml:9:35: error: expected a list of at least 1, found 0
       |
     9 |   - { id: a, type: Agent, models: [] }
       |                                   ^
    ");
}

#[test]
fn a_default_that_contradicts_the_models_is_rejected() {
    assert_snapshot!(check(&with_models(TWO, "type: Agent, models: [fast], properties: { model: sonnet }")), @"
    refused
    chatwright.yaml:9:64: error: `sonnet` is none of the agent's `models`
       |
     9 |   - { id: a, type: Agent, models: [fast], properties: { model: sonnet } }
       |                                                                ^^^^^^
       = help: the only one is `fast`
    ");
    assert_snapshot!(check(&with_models(TWO, "type: Agent, connectionId: claude, models: [fast]")), @"
    refused
    chatwright.yaml:9:41: error: the agent's default model `fast` is on the connection `demo`, not on `claude`
       |
     9 |   - { id: a, type: Agent, connectionId: claude, models: [fast] }
       |                                         ^^^^^^
       = help: leave out `connectionId`: each of the `models` has its own
    ");
    assert_snapshot!(check(&with_models(TWO, "type: Agent, models: [fast], properties: { model: { _user: roles } }")), @"
    refused
    chatwright.yaml:9:64: error: an agent with `models` needs the name of one of them here
       |
     9 |   - { id: a, type: Agent, models: [fast], properties: { model: { _user: roles } } }
       |                                                                ^
       = help: leave out one of the two: with `models`, the user chooses the model
    ");
}

#[test]
fn thinking_settings_fit_to_the_model() {
    assert_snapshot!(check(&with_models("  - { id: a, connectionId: claude, model: m, whenThinking: { effort: high } }
  - { id: b, connectionId: claude, model: m, thinking: true }
  - { id: c, connectionId: demo, model: m, thinking: true, whenThinking: { effort: high } }
  - { id: d, connectionId: claude, model: m, properties: { temperature: { _user: inputs }, seed: 1, colour: red } }
", "type: Agent, models: [a]")), @"
    refused
    chatwright.yaml:6:46: error: `whenThinking` has no effect: this model does not think
       |
     6 |   - { id: a, connectionId: claude, model: m, whenThinking: { effort: high } }
       |                                              ^^^^^^^^^^^^
       = help: write `thinking: true`, or leave it out

    chatwright.yaml:7:56: error: the request to this model is the same whether it thinks or not
       |
     7 |   - { id: b, connectionId: claude, model: m, thinking: true }
       |                                                        ^^^^
       = help: say what differs, for example `whenThinking: { thinking: { type: enabled, budgetTokens: 8000 } }`

    chatwright.yaml:8:76: error: `effort` is not a setting of the model's provider, but of models of a ClaudeAgent
       |
     8 |   - { id: c, connectionId: demo, model: m, thinking: true, whenThinking: { effort: high } }
       |                                                                            ^^^^^^
       = help: write it under `providerOptions`, in the provider's own words

    chatwright.yaml:9:73: error: `temperature` of a model cannot hold operators
       |
     9 | …odel: m, properties: { temperature: { _user: inputs }, seed: 1, colour: red } }
       |                                      ^
       = help: write it in the properties of the agent

    chatwright.yaml:9:73: error: expected a number, found a mapping
       |
     9 | …odel: m, properties: { temperature: { _user: inputs }, seed: 1, colour: red } }
       |                                      ^
       = help: the operator `_user` cannot be used here

    chatwright.yaml:9:92: warning: `seed` has no effect: Anthropic's Messages API does not know it
       |
     9 | …: { temperature: { _user: inputs }, seed: 1, colour: red } }
       |                                      ^^^^
       = help: leave it out

    chatwright.yaml:9:101: error: there is no key `colour` here
       |
     9 | …rature: { _user: inputs }, seed: 1, colour: red } }
       |                                      ^^^^^^
       = help: one of `maxOutputTokens`, `temperature`, `topP`, `topK`, `frequencyPenalty`, `presencePenalty`, `seed`, `stopSequences`, `noThink`, `api`, `providerOptions`, `thinking`, `effort`, `reasoningEffort`, `reasoningSummary`, `thinkingConfig`, `safetySettings`, `order`, `only`, `user`, `tags`, `zeroDataRetention`, `providerTimeouts` and `byok`
    ");
}

#[test]
fn prices_are_known_and_do_not_contradict_each_other() {
    assert_snapshot!(check(&with_models(TWO, "type: Agent, models: [sonnet, fast], properties: { limits: { costUsd: 1 } }")), @"
    refused
    chatwright.yaml:6:44: error: the price of the model `demo-1` is not known, so the cost limit of the agent `a` cannot be kept
       |
     6 |   - { id: fast, connectionId: demo, model: demo-1 }
       |                                            ^^^^^^
       = help: add it to the section `prices`, in US dollars for a million tokens: `demo-1: { input: 1, output: 2 }`
    ");
    assert_snapshot!(check(&with_models("  - { id: a, connectionId: demo, model: m, price: { input: 1, output: 2 } }
  - { id: b, connectionId: demo, model: m, price: { input: 1, output: 3 } }
", "type: Agent, models: [a, b]")), @"
    refused
    chatwright.yaml:7:51: error: the model `m` has two prices
       |
     7 |   - { id: b, connectionId: demo, model: m, price: { input: 1, output: 3 } }
       |                                                   ^
       = help: the other one is at chatwright.yaml:6:5
    ");
}
