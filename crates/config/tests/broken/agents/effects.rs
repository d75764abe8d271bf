//! Settings of models whose effect depends on the model: limits that need a price, and sampling that an API does not know.

use crate::check;
use insta::assert_snapshot;

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
      summaryModel: {{ model: brief }}
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
    10:30: error: the price of the model `brief` is not known, so the cost limit of the agent `a` cannot be kept
    13:68: error: the price of the model `below` is not known, so the cost limit of the agent `a` cannot be kept
    24:85: error: the price of the model `writer` is not known, so the cost limit of the agent `a` cannot be kept
    ");
    assert_eq!(found("{ costUsd: { _user: name } }", "").lines().count(), 5);
    let some = "prices: { m: { input: 1, output: 2 }, spare: { input: 1, output: 2 } }\n";
    assert_eq!(found("{ costUsd: 0.5 }", some).lines().count(), 3);
    assert_eq!(found("{ costUsd: 0.5 }", "prices: { default: { input: 1, output: 2 } }\n"), "");
    let quota = "limits: { quotas: [{ per: day, costUsd: 1 }] }\n";
    assert_eq!(found("{ requests: 3 }", quota).lines().count(), 6);
    let said = check(&config("{ costUsd: 0.5 }", ""));
    assert!(
        said.contains(
            "add it to the section `prices`, in US dollars for a million tokens: `mine: { input: 1, output: 2 }`"
        ),
        "{said}"
    );
}

/// An empty limit is not "no limit", whatever section it stands in.
#[test]
fn limits_without_a_value_are_rejected() {
    let config = |properties: &str, rest: &str| {
        check(&format!(
            "connections: [{{ id: demo, type: Demo }}]\nprices: {{ default: {{ input: 1, output: 2 }} }}\n\
             agents:\n  - {{ id: a, type: Agent, connectionId: demo, properties: {{ model: demo, {properties} }} }}\n{rest}"
        ))
    };
    let empty = |found: &str| found.matches("error: `").count() + found.matches(" has no value").count();
    for properties in ["limits: { requests: 3 }", "temperature: ", "limits: { costUsd: 2 }, maxSteps: 3"] {
        assert_eq!(config(properties, "").trim(), "accepted", "{properties}");
    }
    for properties in [
        "limits: ",
        "limits: { costUsd: }",
        "limits: { costUsd: ~ }",
        "limits: { requests: null, costUsd: 1 }",
        "timeout: { stepMs: }",
        "maxSteps: ",
        "maxOutputTokens: ",
    ] {
        let found = config(properties, "");
        assert_eq!(empty(&found), 2, "{properties}: {found}");
        assert!(found.contains("chatwright.yaml:4:") && found.contains("leave the key out"), "{found}");
    }
    for rest in [
        "limits:\n",
        "limits: { quotas: }\n",
        "limits: { quotas: [{ per: day, messages: 3, costUsd: }] }\n",
        "limits: { rates: }\n",
        "limits: { runsPerUser: }\n",
        "limits: { bodyBytes: }\n",
        "store: { retention: }\n",
        "store: { retention: { conversationsDays: } }\n",
    ] {
        assert_eq!(empty(&config("", rest)), 2, "{rest}: {}", config("", rest));
    }
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
  - { id: h, type: Agent, models: [near, wise], properties: { topK: 5, seed: 1 } }
  - { id: i, type: Agent, connectionId: google, properties: { model: m, topK: 5, fallbackModels: [{ connectionId: local, model: spare }, n] } }
  - { id: j, type: Agent, connectionId: local, properties: { model: m, topK: 5, fallbackModels: [n] } }
models:
  - { id: near, connectionId: local, model: m }
  - { id: wise, connectionId: claude, model: n }
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
    chatwright.yaml:16:63: warning: `topK` has no effect with the model `near`: the Chat Completions API does not know it
    chatwright.yaml:16:72: warning: `seed` has no effect with the model `wise`: Anthropic's Messages API does not know it
    chatwright.yaml:17:73: warning: `topK` has no effect with the model `spare`: the Chat Completions API does not know it
    chatwright.yaml:18:72: warning: `topK` has no effect: the Chat Completions API does not know it
    ");
    assert!(said.starts_with("accepted"), "{said}");
    assert!(said.contains("let the agent speak Chat Completions, which knows it: `api: chat`"), "{said}");
    assert!(said.contains("`providerOptions: { openai: { top_k: … } }`"), "{said}");
}
