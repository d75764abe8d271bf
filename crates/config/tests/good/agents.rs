//! Agents and their properties.

use super::*;
use ::agent::RunSettings;

#[test]
fn minimal_agent_with_shared_state_is_loaded() {
    let (config, warnings) = load(SUPPORT);
    assert_eq!(warnings, "");
    let agent = &config.agents["support_agent"];
    assert_eq!(
        (agent.agent_type, agent.settings.max_steps, agent.settings.max_retries),
        (AgentType::ClaudeAgent, 10, 2)
    );
    assert_eq!((agent.tools[0].endpoint_id.as_str(), agent.tools[0].confirm), ("search_knowledge_base", None));
    assert_eq!(agent.at.to_string(), "chatwright.yaml:8:5");
    let page = serde_json::to_value(&config.pages[0].definition).unwrap();
    assert_eq!(page["blocks"][3]["properties"]["sharedState"]["company"], json!({ "_state": "company" }));
}

#[test]
fn agent_properties_are_converted() {
    let (config, warnings) = load("
connections:
  - { id: local, type: OpenAICompatible, properties: { baseURL: 'http://127.0.0.1:8080/v1/', headers: { X-Team: blue } } }
  - { id: claude, type: Anthropic, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
  - { id: openai, type: OpenAI, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
agents:
  - id: a
    type: AISDKAgent
    connectionId: local
    properties:
      model: llama
      instructions:
      temperature: 1
      timeout: { stepMs: 500 }
      toolChoice: none
      providerOptions: { openai: { logit_bias: {} } }
    tools:
  - id: b
    type: ClaudeAgent
    connectionId: claude
    properties:
      model: claude
      effort: high
      thinking: { type: enabled, budgetTokens: 2000 }
      timeout: 9000
      stopOnToolCall: update-page-state
      toolChoice: { type: tool, toolName: update-page-state }
      providerOptions: { anthropic: { thinking: { type: disabled }, service_tier: auto } }
  - id: c
    type: OpenAIAgent
    connectionId: openai
    properties: { model: o3-mini, api: chat, reasoningEffort: medium }
");
    assert_eq!(warnings, "");
    let [a, b, c] = ["a", "b", "c"].map(|id| &config.agents[id]);
    let ConnectionKind::OpenAiCompatible(local) = &config.connections["local"].kind else { panic!("not local") };
    assert_eq!(local.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(local.headers[0].0, "X-Team");
    assert_eq!(
        (a.agent_type, a.instructions.as_ref(), a.settings.sampling.temperature),
        (AgentType::AISDKAgent, None, Some(1.0))
    );
    assert_eq!(a.settings.timeouts.step, Some(Duration::from_millis(500)));
    assert_eq!(a.settings.tool_choice, ToolChoice::None);
    assert_eq!(Value::from(a.settings.provider_options.clone()), json!({ "openai": { "logit_bias": {} } }));
    assert_eq!(b.settings.tool_choice, ToolChoice::Tool("update-page-state".to_owned()));
    assert_eq!(b.settings.timeouts.total, Some(Duration::from_secs(9)));
    assert_eq!(
        Value::from(b.settings.provider_options.clone()),
        json!({ "anthropic": {
            "thinking": { "type": "enabled", "budget_tokens": 2000 },
            "service_tier": "auto",
            "output_config": { "effort": "high" },
        } })
    );
    assert_eq!(c.openai_api, OpenAiApi::Chat);
    assert_eq!(Value::from(c.settings.provider_options.clone()), json!({ "openai": { "reasoning_effort": "medium" } }));
}

/// The properties of each type of agent are written in the terms of its provider and merged with
/// `providerOptions` of the same group.
#[test]
fn provider_properties_are_merged_into_provider_options() {
    let (config, warnings) = load("
connections:
  - { id: openai, type: OpenAI, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
  - { id: google, type: Google, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
  - { id: gateway, type: AIGateway, properties: { apiKey: { _secret: ANTHROPIC_API_KEY } } }
agents:
  - id: openai
    type: OpenAIAgent
    connectionId: openai
    properties:
      model: gpt-5
      reasoningEffort: low
      reasoningSummary: detailed
      timeout: { firstByteMs: 180000, chunkMs: 90000 }
      providerOptions: { openai: { reasoning: { effort: high, generate_summary: auto }, textVerbosity: low } }
  - id: google
    type: GeminiAgent
    connectionId: google
    properties:
      model: gemini-2.5-flash
      thinkingConfig: { thinkingBudget: -1, includeThoughts: true }
      safetySettings: [{ category: HARM_CATEGORY_HARASSMENT, threshold: BLOCK_NONE }]
      providerOptions: { google: { generationConfig: { mediaResolution: MEDIA_RESOLUTION_LOW, thinkingConfig: { thinkingBudget: 5 } } } }
  - id: gateway
    type: AIGatewayAgent
    connectionId: gateway
    properties:
      model: anthropic/claude-sonnet-4
      order: [azure, bedrock]
      only: [azure]
      user: u1
      tags: [a]
      zeroDataRetention: true
      providerTimeouts: { byok: { openai: 5000 } }
      byok: { anthropic: [{ apiKey: k }] }
      fallbackModels: [openai/gpt-5, { connectionId: openai, model: gpt-4o }]
      providerOptions: { gateway: { sort: cost, user: u2 }, anthropic: { thinking: { type: adaptive } } }
");
    assert_eq!(warnings, "");
    let options = |id: &str| Value::from(config.agents[id].settings.provider_options.clone()).to_string();
    assert_snapshot!(options("openai"), @r#"{"openai":{"reasoning":{"effort":"low","generate_summary":"auto","summary":"detailed"},"textVerbosity":"low"}}"#);
    assert_snapshot!(options("google"), @r#"{"google":{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW","thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true}},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]}}"#);
    assert_snapshot!(options("gateway"), @r#"{"gateway":{"sort":"cost","user":"u1","order":["azure","bedrock"],"only":["azure"],"models":["openai/gpt-5"],"tags":["a"],"zeroDataRetention":true,"providerTimeouts":{"byok":{"openai":5000}},"byok":{"anthropic":[{"apiKey":"k"}]}},"anthropic":{"thinking":{"type":"adaptive"}}}"#);
    let timeouts = config.agents["openai"].settings.timeouts;
    assert_eq!(timeouts.first_byte.zip(timeouts.chunk), Some((Duration::from_secs(180), Duration::from_secs(90))));
    let elsewhere = &config.agents["gateway"].fallback_models[0];
    assert_eq!((elsewhere.connection_id.as_str(), elsewhere.model.as_str()), ("openai", "gpt-4o"));
}

#[test]
fn conversations_are_named_by_the_wanted_model() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }, { id: other, type: Demo }]\nagents:\n\
         \x20 - { id: a, type: Agent, connectionId: demo, properties: { model: m } }\n\
         \x20 - { id: b, type: Agent, connectionId: demo, properties: { model: m, generateTitle: false } }\n\
         \x20 - { id: c, type: Agent, connectionId: demo, properties: { model: m, generateTitle: true } }\n\
         \x20 - { id: d, type: Agent, connectionId: demo, properties: { model: m, generateTitle: { model: small, maxWords: 3 } } }\n\
         \x20 - { id: e, type: Agent, connectionId: demo, properties: { model: m, generateTitle: { model: small, connectionId: other } } }\n",
    );
    assert_eq!(warnings, "");
    let small = |connection: &str| Titles {
        model: Some(ModelRef { connection_id: connection.to_owned(), model: "small".to_owned() }),
        ..Titles::default()
    };
    let check = |id: &str, expected: Option<Titles>| assert_eq!(config.agents[id].titles, expected, "{id}");
    check("a", None);
    check("b", None);
    check("c", Some(Titles::default()));
    check("d", Some(Titles { max_words: 3, ..small("demo") }));
    check("e", Some(small("other")));
}

#[test]
fn delegation_is_read() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }]\nlimits: { parallelAgents: 9 }\nagents:\n\
         \x20 - { id: a, type: Agent, connectionId: demo, properties: { model: m } }\n\
         \x20 - { id: b, type: Agent, connectionId: demo, properties: { model: m, activeTools: [task] }, delegate: true }\n\
         \x20 - { id: c, type: Agent, connectionId: demo, properties: { model: m }, delegate: optional }\n\
         \x20 - { id: d, type: Agent, connectionId: demo, properties: { model: m }, delegate: { mode: optional, maxTurns: 9 } }\n\
         \x20 - { id: e, type: Agent, connectionId: demo, properties: { model: m }, delegate: false }\n",
    );
    assert!(warnings.contains("4 sub-agents work at the same time: the number is from 2 to 4"), "{warnings}");
    assert_eq!(config.limits.parallel_agents, 4);
    let check = |id: &str, expected: Option<(bool, u32)>| {
        let expected = expected.map(|(is_optional, max_turns)| Delegation { is_optional, max_turns });
        assert_eq!(config.agents[id].delegation, expected, "{id}");
    };
    check("a", None);
    check("b", Some((false, 50)));
    check("c", Some((true, 50)));
    check("d", Some((true, 9)));
    check("e", None);
}

/// The key of the root holds for agents that do not have their own.
#[test]
fn conversations_of_all_agents_are_named() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }, { id: other, type: Demo }]\ngenerateTitle: { model: small, maxChars: 30 }\nagents:\n\
         \x20 - { id: a, type: Agent, connectionId: other, properties: { model: m } }\n\
         \x20 - { id: b, type: Agent, connectionId: demo, properties: { model: m, generateTitle: false } }\n\
         \x20 - { id: c, type: Agent, connectionId: demo, properties: { model: m, generateTitle: true } }\n",
    );
    assert_eq!(warnings, "");
    let small = ModelRef { connection_id: "other".to_owned(), model: "small".to_owned() };
    let check = |id: &str, expected: Option<Titles>| assert_eq!(config.agents[id].titles, expected, "{id}");
    check("a", Some(Titles { model: Some(small), max_chars: 30, ..Titles::default() }));
    check("b", None);
    check("c", Some(Titles::default()));
}

#[test]
fn conversations_are_named_by_default_where_that_costs_little() {
    let key = "apiKey: { _secret: ANTHROPIC_API_KEY }";
    let hosted = |kind: &str| format!("type: {kind}, properties: {{ {key} }}");
    let check = |connection: &str, properties: &str, root: &str, expected: Option<Titles>| {
        let text = format!(
            "connections: [{{ id: demo, type: Demo }}, {{ id: hosted, {} }}, {{ id: c, {connection} }}]\n{root}\
             agents: [{{ id: a, type: Agent, connectionId: c, properties: {{ model: m{properties} }} }}]\n",
            hosted("Anthropic")
        );
        assert_eq!(load(&text).0.agents["a"].titles, expected, "{text}");
    };
    let by = |model: Option<ModelRef>| Some(Titles { model, is_default: true, ..Titles::default() });
    for kind in ["Anthropic", "OpenAI", "Google", "AIGateway"] {
        check(&hosted(kind), "", "", by(None));
    }
    let own_server = format!("properties: {{ {key}, baseURL: 'http://127.0.0.1:8000/v1' }}");
    check("type: Demo", "", "", None);
    check(&format!("type: OpenAICompatible, {own_server}"), "", "", None);
    check(&format!("type: Anthropic, {own_server}"), "", "", None);
    let anthropic = hosted("Anthropic");
    check(&anthropic, ", generateTitle: false", "", None);
    check(&anthropic, "", "generateTitle: false\n", None);
    check(&anthropic, ", generateTitle: true", "generateTitle: false\n", Some(Titles::default()));
    let small =
        |connection_id: &str| by(Some(ModelRef { connection_id: connection_id.to_owned(), model: "small".to_owned() }));
    check(&anthropic, ", summaryModel: { model: small }", "", small("c"));
    check("type: Demo", ", summaryModel: { model: small, connectionId: hosted }", "", small("hosted"));
    check(&anthropic, ", summaryModel: { model: small, connectionId: demo }", "", None);
}

#[test]
fn context_of_long_conversations_is_read() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }, { id: other, type: Demo }]\nagents:\n\
         \x20 - id: a\n\
         \x20   type: Agent\n\
         \x20   connectionId: demo\n\
         \x20   properties:\n\
         \x20     model: m\n\
         \x20     context:\n\
         \x20       triggers: { tokens: 24000, messages: 200, fraction: 0.5 }\n\
         \x20       keepMessages: 10\n\
         \x20       summary: { maxTokens: 500, prompt: Keep order numbers. }\n\
         \x20     summaryModel: { model: small, connectionId: other }\n\
         \x20 - { id: b, type: Agent, connectionId: demo, properties: { model: m, context: { enabled: false } } }\n\
         \x20 - { id: c, type: Agent, connectionId: demo, properties: { model: m } }\n",
    );
    assert_eq!(warnings, "");
    let agent = &config.agents["a"];
    let context = &agent.settings.context;
    assert_eq!((context.triggers.tokens, context.triggers.messages), (Some(24_000), Some(200)));
    assert_eq!((context.triggers.fraction, context.keep_messages), (Some(0.5), 10));
    assert_eq!((context.summary.max_tokens, context.summary.prompt.as_deref()), (500, Some("Keep order numbers.")));
    let small = ModelRef { connection_id: "other".to_owned(), model: "small".to_owned() };
    assert_eq!(agent.summary_model, Some(small));
    assert!(!config.agents["b"].settings.context.enabled);
    assert_eq!(config.agents["c"].settings.context, agent::ContextSettings::default());
}

#[test]
fn preset_needs_only_a_model() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }]\nagents:\n\
         \x20 - { id: record-extractor, type: Agent, preset: record-extractor, connectionId: demo, properties: { model: qwen3 } }\n\
         \x20 - { id: own, type: Agent, preset: record-extractor, connectionId: demo, properties: { model: m, instructions: Short., temperature: 0.5, noThink: true } }\n",
    );
    assert_eq!(warnings, "");
    let [preset, own] = ["record-extractor", "own"].map(|id| &config.agents[id]);
    assert!(preset.instructions.as_ref().is_some_and(|text| text.as_str().unwrap().starts_with("You extract records")));
    assert_eq!(
        (
            preset.settings.sampling.temperature,
            preset.settings.max_steps,
            preset.extracts_records,
            preset.settings.no_think
        ),
        (Some(0.0), 1, true, None)
    );
    assert_eq!(
        (own.instructions.clone(), own.settings.sampling.temperature, own.settings.no_think),
        (Some(json!("Short.")), Some(0.5), Some(true))
    );
}

#[test]
fn presets_bring_instructions_and_keep_tools() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }]\napi: [{ id: search, description: Search., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }]\nagents:\n\
         \x20 - { id: chat, type: Agent, preset: chat, connectionId: demo, properties: { model: qwen3 }, tools: [search] }\n\
         \x20 - { id: files, type: Agent, preset: attachment, connectionId: demo, properties: { model: m } }\n",
    );
    assert_eq!(warnings, "");
    let [chat, files] = ["chat", "files"].map(|id| &config.agents[id]);
    let begins =
        |agent: &config::Agent, text: &str| agent.instructions.as_ref().unwrap().as_str().unwrap().starts_with(text);
    assert!(begins(chat, "You help the user") && begins(files, "You work on the files"));
    assert_eq!((chat.tools.len(), chat.settings.sampling.temperature, chat.extracts_records), (1, None, false));
}

/// The values of operators are checked as if they were written in the config.
#[test]
fn values_of_operators_are_checked_for_each_turn() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }]\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties:\n\
         \x20     model: { _user: inputs.model }\n      maxSteps: 4\n      topP: { _payload: urlQuery.p }\n\
         \x20     limits: { requests: { _user: inputs.requests }, toolCalls: 9 }\n      prune: { reasoning: { _user: inputs.forget } }\n",
    );
    assert_eq!(warnings, "");
    let agent = &config.agents["a"];
    let later = agent.dynamic_properties.as_ref().unwrap().properties.iter().map(|property| property.name.as_str());
    assert_eq!(later.collect::<Vec<_>>(), ["model", "topP", "limits", "prune"]);
    let settled = |values: [Value; 4]| match agent.for_turn(values.to_vec(), None) {
        Ok(agent) => {
            let RunSettings { max_steps, sampling, limits, prune, .. } = agent.settings;
            let (requests, calls, reasoning) = (limits.requests, limits.tool_calls, prune.reasoning);
            format!("{} {max_steps} {:?} {requests:?} {calls:?} {reasoning:?}", agent.model, sampling.top_p)
        }
        Err(error) => error,
    };
    let nothing = Value::Null;
    let bounds = json!({ "requests": 2, "toolCalls": 9 });
    let cases = [
        [json!("m"), nothing.clone(), bounds.clone(), json!({ "reasoning": "all" })],
        [json!("m"), json!(0.5), bounds.clone(), nothing.clone()],
        [nothing.clone(), nothing.clone(), bounds.clone(), nothing.clone()],
        [json!({ "_user": "model" }), nothing.clone(), bounds.clone(), nothing.clone()],
        [json!("m"), json!(2), bounds.clone(), nothing.clone()],
        [json!("m"), nothing.clone(), json!({ "requests": 0 }), nothing.clone()],
        [json!("m"), nothing.clone(), bounds.clone(), json!({ "reasoning": "some" })],
        // An operator in a limit must yield a value.
        [json!("m"), nothing.clone(), json!({ "requests": null, "toolCalls": 9 }), nothing.clone()],
        [json!("m"), nothing.clone(), json!({ "requests": "two", "toolCalls": 9 }), nothing.clone()],
    ];
    assert_snapshot!(cases.map(settled).join("\n"), @"
    m 4 None Some(2) Some(9) All
    m 4 Some(0.5) Some(2) Some(9) None
    chatwright.yaml:7:14: the operator of `model` has a value that cannot be used there: expected text, found nothing
    chatwright.yaml:7:14: the operator of `model` has a value that cannot be used there: an operator in an operator
    chatwright.yaml:9:13: the operator of `topP` has a value that cannot be used there: expected a number between 0 and 1, found the number 2
    chatwright.yaml:10:15: the operator of `limits` has a value that cannot be used there: expected a number of at least 1, found the number 0
    chatwright.yaml:11:14: the operator of `prune` has a value that cannot be used there: there is no value `some`
    chatwright.yaml:10:15: the operator of `limits.requests` has no value, so the limit cannot be enforced
    chatwright.yaml:10:15: the operator of `limits` has a value that cannot be used there: expected a whole number, found the text `two`
    ");
}

#[test]
fn search_of_the_provider_needs_models_that_have_one() {
    let check = |agent: &str, is_warned: bool| {
        let (_, warnings) = load(&format!(
            "connections:\n  - {{ id: claude, type: Anthropic, properties: {{ apiKey: {{ _secret: ANTHROPIC_API_KEY }} }} }}\n\
             \x20 - {{ id: openai, type: OpenAI, properties: {{ apiKey: {{ _secret: ANTHROPIC_API_KEY }} }} }}\n\
             \x20 - {{ id: demo, type: Demo }}\nagents:\n  - {{ id: a, {agent} }}\n"
        ));
        let expected = "not all models of this agent can search for tools at their provider";
        assert_eq!(warnings.contains(expected), is_warned, "{agent}: {warnings}");
        assert!(is_warned || warnings.is_empty(), "{agent}: {warnings}");
    };
    let by = "deferTools: { by: provider }";
    let claude = |more: &str| {
        format!("type: ClaudeAgent, connectionId: claude, properties: {{ model: claude-sonnet-4-5, {by}{more} }}")
    };
    check(&claude(""), false);
    check(&claude(", fallbackModels: [claude-haiku-4-5, { connectionId: openai, model: gpt-5.4 }]"), false);
    check(&claude(", fallbackModels: [{ connectionId: demo, model: m }]"), true);
    let openai = |model: &str| format!("type: OpenAIAgent, connectionId: openai, properties: {{ {model}, {by} }}");
    check(&openai("model: gpt-5.4"), false);
    check(&openai("model: gpt-5.2"), true);
    check(&openai("model: gpt-5.4, api: chat"), true);
    check(&format!("type: Agent, connectionId: demo, properties: {{ model: m, {by} }}"), true);
    check("type: Agent, connectionId: demo, properties: { model: m, deferTools: { above: 9, by: own } }", false);
}
