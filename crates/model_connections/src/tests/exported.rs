//! The export is a part of a config that means the same.

use super::*;
use config::{ConnectionKind, MAIN_FILE};
use insta::assert_snapshot;
use secrecy::ExposeSecret;
use serde_json::json;

#[test]
fn the_export_is_a_config_with_the_same_models_and_agents() {
    let mut bench = Bench::new(CONFIG);
    let openai = json!({ "provider": "openai", "apiKey": CANARY, "models": ["gpt-4.1-mini"], "agents": ["helper", "chooser"],
        "agent": { "name": "Assistant", "instructions": "Be brief.\nBe kind." } });
    bench.save("openai", openai).unwrap();
    let own = json!({ "provider": "compatible", "baseURL": "https://llm.example.com/v1", "models": ["m/x"], "agents": ["chooser"] });
    bench.save("own", own).unwrap();
    bench
        .save(
            "off",
            json!({ "provider": "gemini", "apiKey": CANARY, "models": ["g"], "agents": ["helper"], "enabled": false }),
        )
        .unwrap();
    let text = bench.current().yaml();
    assert!(!text.contains("canary"), "{text}");
    assert_snapshot!(text, @r"
    # Connections to model providers that were added at run time. Merge this into the config, and delete them in the admin console.
    # Set these environment variables to the API keys: OFF_API_KEY, OPENAI_API_KEY
    # Switched off, so that no agent uses them: off
    # `models` takes the place of `connectionId` and of `model` in `properties`: remove these of: helper
    connections:
      - id: off
        type: Google
        properties:
          apiKey: { _secret: OFF_API_KEY }
      - id: openai
        type: OpenAI
        properties:
          apiKey: { _secret: OPENAI_API_KEY }
      - id: own
        type: OpenAICompatible
        properties:
          baseURL: https://llm.example.com/v1
    models:
      - id: off-g
        connectionId: off
        model: g
      - id: openai-gpt-4-1-mini
        connectionId: openai
        model: gpt-4.1-mini
      - id: own-m-x
        connectionId: own
        model: m/x
    agents:
      - id: assistant
        type: Agent
        title: Assistant
        models: [openai-gpt-4-1-mini]
        properties:
          instructions: |-
            Be brief.
            Be kind.
      - id: chooser
        models: [quick, slow, openai-gpt-4-1-mini, own-m-x]
      - id: helper
        models: [openai-gpt-4-1-mini]
    pages:
      - id: assistant
        title: Assistant
        blocks:
          - id: conversations
            type: AgentConversations
          - id: chat
            type: AgentChat
            properties:
              agentId: assistant
    ");

    // Merged into the config as the comments say.
    let home = "  - { id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }\n";
    let claude = "  - { id: claude, type: Anthropic, properties: { baseURL: 'https://claude.example.com' } }\n";
    let quick = "  - { id: quick, connectionId: demo, model: demo-quick }\n  - { id: slow, connectionId: demo, model: demo-slow }\n";
    let merged = text
        .replace("connections:\n", &format!("connections:\n  - {{ id: demo, type: Demo }}\n{claude}"))
        .replace("\nmodels:\n", &format!("\nmodels:\n{quick}"))
        .replace("  - id: helper\n", "  - id: helper\n    type: Agent\n")
        .replace("  - id: chooser\n", "  - id: chooser\n    type: Agent\n")
        .replace("\npages:\n", &format!("\npages:\n{home}"));
    let variables = ["OPENAI_API_KEY", "OFF_API_KEY"].map(|name| (name.to_owned(), CANARY.to_owned()));
    let read =
        Language::new(DEFINITION.sections, &[]).read_embedded(&[(MAIN_FILE, &merged)], &HashMap::from(variables));
    let (read, _) = read.outcome.unwrap_or_else(|problems| panic!("{}\n{merged}", config::render(&problems)));
    let added = bench.config();
    for agent in ["helper", "chooser", "assistant"] {
        assert_eq!(answers(&read, agent), answers(&added, agent));
        assert_eq!(read.agents[agent].instructions, added.agents[agent].instructions);
    }
    let page = |config: &Config| serde_json::to_value(&config.pages.last().unwrap().definition).unwrap();
    assert_eq!(page(&read), page(&added));
    let reached = |config: &Config, id: &str| match &config.connections[id].kind {
        ConnectionKind::OpenAi(model) | ConnectionKind::OpenAiCompatible(model) => {
            (model.api_key.as_ref().map(|key| key.expose_secret().to_owned()), model.base_url.clone())
        }
        other => panic!("{other:?}"),
    };
    for id in ["openai", "own"] {
        assert_eq!(reached(&read, id), reached(&added, id));
    }
    assert!(read.connections.contains_key("off") && read.models.contains_key("off-g"));
}

#[test]
fn variables_have_names_of_their_own() {
    let mut bench = Bench::new(CONFIG);
    for name in ["a-b", "a_b", "7"] {
        bench.save(name, json!({ "provider": "openai", "apiKey": CANARY })).unwrap();
    }
    let text = bench.current().yaml();
    assert!(text.contains("API keys: MODEL_7_API_KEY, A_B_API_KEY, A_B_API_KEY_2\n"), "{text}");
}
