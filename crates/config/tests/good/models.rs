//! The section `models`, and what agents become with each of them.

use super::*;
use config::Agent;

const MODELS: &str = include_str!("models.yaml");

/// Returns what differs between the models of an agent.
fn facts(agent: &Agent) -> Value {
    json!({
        "connection": agent.connection_id, "model": agent.model, "context": agent.settings.context_tokens,
        "temperature": agent.settings.sampling.temperature, "most": agent.settings.sampling.max_output_tokens,
        "options": agent.settings.provider_options, "unread": [agent.unread_files.images, agent.unread_files.others],
        "fallback": agent.fallback_models.first().map(|model| format!("{}/{}", model.connection_id, model.model)),
    })
}

#[test]
fn a_chosen_model_takes_precedence_over_the_properties_of_the_agent() {
    let (config, warnings) = load(MODELS);
    assert_eq!(warnings, "");
    let agent = &config.agents["helper"];
    let allowed = agent.models.as_ref().unwrap();
    assert_eq!((allowed.default.as_str(), allowed.ids.len(), agent.agent_type), ("sonnet", 5, AgentType::Agent));
    let with = |id: &str, thinks: bool| facts(&agent.for_turn(Vec::new(), Some((&config.models[id], thinks))).unwrap());
    let table = |rows: &[(&str, bool)]| {
        let rows = rows.iter().map(|(id, thinks)| format!("{id} {thinks}: {}", with(id, *thinks)));
        rows.collect::<Vec<_>>().join("\n")
    };
    // Until the user chooses, the agent is that of its default, without thinking.
    assert_eq!(facts(agent), with("sonnet", false));
    let all = [
        ("sonnet", false),
        ("sonnet", true),
        ("gpt", true),
        ("gemini", false),
        ("gemini", true),
        ("routed", false),
        ("qwen", false),
    ];
    assert_snapshot!(table(&all), @r#"
    sonnet false: {"connection":"anthropic","model":"claude-sonnet-4-20250514","context":200000,"temperature":0.3,"most":16000,"options":{"anthropic":{"thinking":{"type":"disabled"},"output_config":{"effort":"high"}}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    sonnet true: {"connection":"anthropic","model":"claude-sonnet-4-20250514","context":200000,"temperature":1.0,"most":16000,"options":{"anthropic":{"thinking":{"type":"enabled","budget_tokens":8000},"output_config":{"effort":"high"}}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    gpt true: {"connection":"openai","model":"gpt-4.1","context":1000,"temperature":1.0,"most":null,"options":{"openai":{"reasoning_effort":"low"}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    gemini false: {"connection":"google","model":"gemini-2.5-flash","context":1000,"temperature":1.0,"most":null,"options":{"google":{"generationConfig":{"thinkingConfig":{"thinkingBudget":0}},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    gemini true: {"connection":"google","model":"gemini-2.5-flash","context":1000,"temperature":1.0,"most":null,"options":{"google":{"generationConfig":{"thinkingConfig":{"thinkingBudget":-1,"thinkingLevel":"high","includeThoughts":true}},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    routed false: {"connection":"gateway","model":"anthropic/claude-sonnet-4","context":1000,"temperature":1.0,"most":null,"options":{"gateway":{"order":["anthropic"],"only":["anthropic"],"user":"chatwright","tags":["chat"],"zeroDataRetention":true,"providerTimeouts":{"anthropic":10000},"byok":{"anthropic":[{"apiKey":"none"}]}}},"unread":[false,false],"fallback":"anthropic/claude-3-5-haiku-latest"}
    qwen false: {"connection":"local","model":"qwen3","context":1000,"temperature":1.0,"most":null,"options":{"openai":{"top_k":20}},"unread":[true,true],"fallback":"anthropic/claude-3-5-haiku-latest"}
    "#);
}

#[test]
fn the_default_is_named_by_its_id_or_by_the_name_of_its_provider() {
    let check = |named: &str, expected: &str| {
        let (config, warnings) = load(&format!("{MODELS}    properties: {named}\n"));
        assert_eq!(warnings, "");
        let agent = &config.agents["claude"];
        assert_eq!(agent.models.as_ref().unwrap().default, expected, "{named}");
        assert_eq!(agent.model, config.models[expected].model, "{named}");
    };
    check("{}", "sonnet");
    check("{ model: sonnet }", "sonnet");
    check("{ model: claude-sonnet-4-20250514 }", "sonnet");
}

#[test]
fn operators_are_evaluated_before_the_settings_of_the_model_are_merged() {
    let (config, warnings) = load(
        "
connections: [{ id: demo, type: Demo }]
models:
  - { id: plain, connectionId: demo, model: m }
  - { id: warm, connectionId: demo, model: n, properties: { temperature: 2 } }
agents:
  - { id: a, type: Agent, models: [plain, warm], properties: { temperature: { _payload: sharedState.warmth } } }
",
    );
    assert_eq!(warnings, "");
    let agent = &config.agents["a"];
    let check = |id: &str, expected: f64| {
        let settled = agent.for_turn(vec![json!(0.5)], Some((&config.models[id], false))).unwrap();
        assert_eq!(settled.settings.sampling.temperature, Some(expected), "{id}");
        assert_eq!(settled.model, config.models[id].model);
    };
    check("plain", 0.5);
    check("warm", 2.0);
}

#[test]
fn the_price_of_a_model_is_that_of_its_very_name() {
    let (config, _) = load(
        "
connections: [{ id: demo, type: Demo }]
models: [{ id: a, connectionId: demo, model: gpt-5, price: { input: 7, output: 8 } }]
agents: [{ id: a, type: Agent, models: [a] }]
prices: { gpt: { input: 1, output: 2 } }
",
    );
    let input = |model: &str| config.price_of(model).map(|price| price.input);
    assert_eq!((input("gpt-5"), input("gpt-5-mini"), input("llama")), (Some(7.0), Some(1.0), None));
}
