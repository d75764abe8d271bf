//! Tests of valid configs and of what they are converted to.

mod agents;
mod home;
mod limits;
mod models;

use config::{
    AgentType, AuthMode, Config, ConnectionKind, Delegation, Env, ModelRef, OpenAiApi, RateLimit, RateLimitKey,
    RateLimitTarget, SecondFactorMode, Titles, load_embedded, load_path, render,
};
use contract::{Annotations, Confirm, ToolChoice};
use insta::assert_snapshot;
use serde_json::{Value, json};
use settings::Retention;
use std::collections::HashMap;
use std::time::Duration;
use wire::locale::{Locale, Text};
use wire::page::AgentChatProperties;

/// The environment of these tests.
fn env() -> HashMap<String, String> {
    HashMap::from([("ANTHROPIC_API_KEY".to_owned(), "sk-canary".to_owned())])
}

fn load(text: &str) -> (Config, String) {
    load_files(&[("chatwright.yaml", text)], &env())
}

fn load_files(files: &[(&str, &str)], env: &dyn Env) -> (Config, String) {
    let (config, warnings) = load_embedded(files, env).unwrap_or_else(|errors| panic!("{}", render(&errors)));
    (config, render(&warnings))
}

/// A minimal agent with shared state.
const SUPPORT: &str = "
connections:
  - id: anthropic
    type: Anthropic
    properties:
      apiKey: { _secret: ANTHROPIC_API_KEY }
agents:
  - id: support_agent
    type: ClaudeAgent
    connectionId: anthropic
    properties:
      model: claude-sonnet-4-20250514
      instructions: You are a helpful support agent.
    tools:
      - search_knowledge_base
api:
  - id: search_knowledge_base
    type: Api
    description: Search the knowledge base
    payloadSchema: { type: object, properties: { query: { type: string } }, required: [query] }
    routine:
      - :return: { results: [] }
pages:
  - id: support
    blocks:
      - { id: legal_name, type: TextInput }
      - { id: company, type: TextInput }
      - { id: notes, type: TextArea }
      - id: chat
        type: AgentChat
        properties:
          agentId: support_agent
          sharedState:
            legal_name: { _state: legal_name }
            company: { _state: company }
            notes: { _state: notes }
";

/// The definition for the model stays on the server; the browser gets the actions.
#[test]
fn client_tools_are_split_between_server_and_browser() {
    let (config, warnings) = load(
        "
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: m, activeTools: [go] } }]
pages:
  - id: p
    blocks:
      - id: chat
        type: AgentChat
        properties:
          agentId: helper
          clientTools:
            - name: go
              description: Goes.
              inputSchema: { type: object, properties: { to: { type: string } } }
              confirm: { remember: false }
              timeoutMs: 5000
              actions: [{ id: gone, type: SetState, params: { place: { _event: to } } }]
              result: { at: { _state: place } }
",
    );
    assert_eq!(warnings, "");
    let tool = &config.pages[0].client_tools[0];
    assert_eq!((tool.agent_id.as_str(), tool.name.as_str(), tool.description.as_str()), ("helper", "go", "Goes."));
    assert!(tool.confirm.is_some_and(|confirm| !confirm.remember));
    let page = serde_json::to_value(&config.pages[0].definition).unwrap();
    let actions = json!([{ "id": "gone", "type": "SetState", "params": { "place": { "_event": "to" } } }]);
    let shown =
        json!([{ "name": "go", "actions": actions, "result": { "at": { "_state": "place" } }, "timeoutMs": 5000 }]);
    assert_eq!(page["blocks"][0]["properties"]["clientTools"], shown);
}

#[test]
fn secrets_are_not_in_debug_output() {
    let (config, _) = load(SUPPORT);
    assert!(!format!("{config:?}").contains("sk-canary"));
    let ConnectionKind::Anthropic(connection) = &config.connections["anthropic"].kind else { panic!("not Anthropic") };
    assert_eq!(secrecy::ExposeSecret::expose_secret(connection.api_key.as_ref().unwrap()), "sk-canary");
}

#[test]
fn json_is_accepted() {
    let tabbed = "{\n\t\"connections\": [\n\t\t{ \"id\": \"a\", \"type\": \"Demo\", \"properties\": { \"delayMs\": 5 } }\n\t]\n}\n";
    let (config, _) = load(tabbed);
    let ConnectionKind::Demo(demo) = &config.connections["a"].kind else { panic!("not Demo") };
    assert_eq!(demo.delay, Some(Duration::from_millis(5)));
}

#[test]
fn rates_and_retention_are_converted() {
    let (config, warnings) = load(
        "connections: [{ id: demo, type: Demo }]\nagents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]\n\
         limits: { rates: [{ of: signIn, per: address, requests: 3, seconds: 9 }, { of: chat, per: user, requests: 20 }], trustedProxies: [10.0.0.7] }\n\
         store: { retention: { conversationsDays: 90, agents: { a: 7 }, keepPinned: false, questionsDays: 1 } }\n",
    );
    assert_eq!(warnings, "");
    let seconds = Duration::from_secs;
    assert_eq!(
        config.rate_limits,
        [
            RateLimit { target: RateLimitTarget::SignIn, per: RateLimitKey::Address, requests: 3, window: seconds(9) },
            RateLimit { target: RateLimitTarget::Chat, per: RateLimitKey::User, requests: 20, window: seconds(60) },
        ]
    );
    assert_eq!(config.trusted_proxies, ["10.0.0.7/32".parse().unwrap()]);
    assert!(config.store.is_none());
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    let expected = Retention {
        conversations: Some(days(90)),
        agents: [("a".to_owned(), days(7))].into(),
        keeps_pinned: false,
        temporary: days(1),
        invocations: Some(days(1)),
    };
    assert_eq!(config.retention, expected);
}

#[test]
fn aliases_and_includes_are_resolved() {
    let files = [
        (
            "chatwright.yaml",
            "connections: { _ref: parts/connections.yaml }\nagents:\n  - { _ref: parts/agent.json }\n  - id: b\n    type: Agent\n    connectionId: d\n    properties: &p { model: m, instructions: { _ref: parts/prompt.md } }\n  - { id: c, type: Agent, connectionId: d, properties: *p }\n",
        ),
        ("parts/connections.yaml", "\u{feff}- { id: d, type: Demo }\r\n"),
        (
            "parts/agent.json",
            "{\"id\": \"a\", \"type\": \"Agent\", \"connectionId\": \"d\", \"properties\": {\"model\": \"\\u00fc\"}}",
        ),
        ("parts/prompt.md", "Be *kind*.\n- always: yes\n"),
    ];
    let (config, _) = load_files(&files, &env());
    assert_eq!(config.agents["a"].model, "ü");
    assert_eq!(config.agents["a"].at.to_string(), "parts/agent.json:1:1");
    assert_eq!(config.agents["c"].instructions, Some("Be *kind*.\n- always: yes\n".into()));
}

#[test]
fn config_is_read_from_its_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("outside.yaml", "[]");
    std::fs::create_dir(folder.path().join("site")).unwrap();
    write("site/chatwright.yaml", "agents: { _ref: agents.yaml }\n");
    write("site/agents.yaml", "[]");
    let said = |path: &str| match load_path(&folder.path().join(path), &env()) {
        Ok(_) => "accepted".to_owned(),
        Err(errors) => errors[0].message.clone(),
    };
    assert_eq!(said("site"), "accepted");
    assert_eq!(said("site/chatwright.yaml"), "accepted");
    assert_eq!(said("site/missing.yaml"), "cannot read this file: there is no such file");
    assert_eq!(said("."), "cannot read this file: there is no such file");
    write("site/agents.yaml", "- \u{0}");
    assert_ne!(said("site"), "accepted");
    std::fs::write(folder.path().join("site/agents.yaml"), b"a\n\xff").unwrap();
    assert_eq!(said("site"), "cannot read `agents.yaml`: line 2 is not UTF-8");
    #[cfg(unix)]
    {
        std::fs::remove_file(folder.path().join("site/agents.yaml")).unwrap();
        std::os::unix::fs::symlink("../outside.yaml", folder.path().join("site/agents.yaml")).unwrap();
        assert_eq!(said("site"), "cannot read `agents.yaml`: it is outside the config's folder");
    }
}

/// The protocol supports only a part of JSON Schema. Constraints are left to the endpoint.
#[test]
fn served_endpoints_get_protocol_parameters() {
    let (config, warnings) = load("
api:
  - id: articles/search
    description: Finds articles.
    payloadSchema:
      type: object
      additionalProperties: false
      required: [query]
      properties:
        query: { type: string, description: What to look for., minLength: 2 }
        limit: { type: integer, description: How many., default: 3, maximum: 9 }
        kinds: { type: array, description: Which., items: { type: string, description: One., enum: [a, b] }, default: [a] }
        when: { type: object, description: When., properties: { from: { type: string, description: From. } }, required: [from] }
    routine: [{ ':return': 1 }]
  - { id: about, routine: [{ ':return': 1 }] }
serveAsRemoteAgent:
  endpoints: [{ endpointId: articles/search, confirm: true, visibleParameters: [query] }]
  apiKey: { _secret: ANTHROPIC_API_KEY }
  resource: about
");
    assert_eq!(warnings, "");
    let served = config.served_agent.as_ref().unwrap();
    let tool = &served.tools[0];
    assert_eq!(
        (tool.name.as_str(), tool.endpoint_id.as_str(), tool.confirm),
        ("articles__search", "articles/search", true)
    );
    assert_eq!(
        (tool.visible_parameters.clone(), served.resource.as_deref()),
        (Some(vec!["query".to_owned()]), Some("about"))
    );
    let parameters = tool.parameters.to_string();
    insta::assert_snapshot!(parameters, @r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"number","description":"How many. A whole number.","default":3},"kinds":{"type":"array","description":"Which.","items":{"type":"string","description":"One.","enum":["a","b"]}},"when":{"type":"object","description":"When.","properties":{"from":{"type":"string","description":"From."}},"required":["from"]}},"required":["query"]}"#);
}

#[test]
fn confirm_settings_are_converted() {
    let check = |confirm: &str, expected: Option<Confirm>| {
        let (config, warnings) = load(
            &SUPPORT.replace("- search_knowledge_base", &format!("- {{ endpointId: search_knowledge_base{confirm} }}")),
        );
        assert_eq!(warnings, "");
        assert_eq!(config.agents["support_agent"].tools[0].confirm, expected, "{confirm}");
    };
    let terms =
        |remember, seconds: Option<u64>| Some(Confirm { remember, expires_after: seconds.map(Duration::from_secs) });
    check("", None);
    check(", confirm: false", None);
    check(", confirm: true", terms(true, None));
    check(", confirm: {}", terms(true, None));
    check(", confirm: { remember: false }", terms(false, None));
    check(", confirm: { expiresAfterSeconds: 60 }", terms(true, Some(60)));
}

#[test]
fn idempotent_annotations_are_converted() {
    let agents = "
connections:
  - { id: demo, type: Demo }
  - { id: tracker, type: Mcp, properties: { url: 'https://mcp.example.com/mcp' } }
  - { id: crm, type: RemoteAgent, properties: { baseURL: 'https://crm.example.com', apiKey: { _secret: ANTHROPIC_API_KEY } } }
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m, fileSystem: { basePath: /usr } }
    tools: [find, { endpointId: find, name: again, idempotent: true }]
    mcp: [tracker, { connectionId: tracker, idempotent: ['get_*'] }, { connectionId: tracker, idempotentHint: true }]
    remoteAgents: [crm, { connectionId: crm, idempotent: true }]
api: [{ id: find, description: d, payloadSchema: { type: object }, routine: [{ ':return': 1 }] }]
pages:
  - id: p
    blocks:
      - id: chat
        type: AgentChat
        properties:
          agentId: a
          clientTools: [{ name: show, description: d, inputSchema: { type: object }, idempotent: true, actions: [{ type: Reset }] }]
";
    let config = load(agents).0;
    let agent = &config.agents["a"];
    assert_eq!(
        agent.tools.iter().map(|tool| Annotations::from(tool.annotations).idempotent).collect::<Vec<_>>(),
        [false, true]
    );
    let servers = agent
        .mcp
        .iter()
        .map(|server| format!("{:?} {}", server.annotations.idempotent.as_ref().unwrap(), server.idempotent_hint));
    let expected = ["All(false) false", r#"These(["get_*"]) false"#, "All(false) true"];
    assert_eq!(servers.collect::<Vec<_>>(), expected);
    let remote =
        agent.remote_agents.iter().map(|remote| format!("{:?}", remote.annotations.idempotent.as_ref().unwrap()));
    assert_eq!(remote.collect::<Vec<_>>(), ["All(false)", "All(true)"]);
    assert!(Annotations::from(agent.file_system.as_ref().unwrap().annotations).idempotent, "files are only read");
    let page = &config.pages[0];
    assert!(Annotations::from(page.client_tools[0].annotations).idempotent);
    let files = Annotations::from(agent.file_system.as_ref().unwrap().annotations);
    assert!(files.reads_only && !Annotations::from(page.client_tools[0].annotations).reads_only);
    let shown = serde_json::to_value(&page.definition).unwrap();
    assert_eq!(shown["blocks"][0]["properties"]["clientTools"][0]["idempotent"], true, "{shown}");
}

#[test]
fn auth_modes_are_converted() {
    let auth = |text: &str| load(&format!("auth: {text}\n")).0.auth;
    assert!(matches!(load("pages: []\n").0.auth.mode, AuthMode::Local));
    let password = auth("{ mode: password, publicUrls: ['https://a.test'], sessionIdleHours: 8 }");
    let AuthMode::Accounts(settings) = password.mode else { panic!("not password") };
    assert_eq!((settings.open_sign_up, settings.session_idle), (false, Duration::from_secs(8 * 3600)));
    assert_eq!((settings.second_factor, settings.second_factor_keys.len()), (SecondFactorMode::Optional, 0));
    let AuthMode::Accounts(settings) = auth("{ mode: password, secondFactor: off }").mode else {
        panic!("no accounts")
    };
    assert_eq!(settings.second_factor, SecondFactorMode::Off);
    let company = auth(
        "{ mode: openidConnect, openidConnect: [{ id: a, issuer: 'https://id.test/', clientId: chat, \
         groups: { roles: { x: admin, y: [admin] } }, allowedDomains: [A.test] }] }",
    );
    assert_eq!(company.mode.name(), "openidConnect");
    let AuthMode::Accounts(settings) = company.mode else { panic!("no accounts") };
    let provider = &settings.providers[0];
    assert_eq!((settings.passwords, provider.label.as_str(), provider.sign_up), (false, "a", false));
    assert_eq!((provider.issuer.as_str(), provider.session), ("https://id.test/", Duration::from_secs(86_400)));
    assert_eq!(
        (&provider.scopes[..], &provider.allowed_domains[..]),
        (&["profile", "email"].map(String::from)[..], &["a.test".to_owned()][..])
    );
    assert!(provider.groups.as_ref().is_some_and(|groups| groups.claim == "groups" && groups.roles.len() == 2));
    let jwt =
        auth("{ mode: jwt, jwksUrl: 'https://id.test/keys', issuer: id, audience: chat, claims: { roles: groups } }");
    let AuthMode::Jwt(settings) = jwt.mode else { panic!("not jwt") };
    assert_eq!((settings.audience, settings.leeway), (vec!["chat".to_owned()], Duration::from_secs(30)));
    assert_eq!((settings.claims.user_id.as_str(), settings.claims.roles.as_str()), ("sub", "groups"));
    let proxy = auth("{ mode: proxy, trustedProxies: ['10.1.2.3/8', '::1'], userHeader: X-User }");
    let AuthMode::Proxy(settings) = proxy.mode else { panic!("not proxy") };
    let trusted: Vec<_> = settings.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!(
        (trusted, settings.user_header.as_str()),
        (vec!["10.0.0.0/8".to_owned(), "::1/128".to_owned()], "x-user")
    );
}

#[test]
fn locale_texts_are_merged() {
    let read = |text: &str| load(text).0.locale.unwrap();
    let said = |locale: &Locale, text: Text| {
        locale.texts().find(|(number, _)| *number == text.number()).map(|found| found.1.to_owned())
    };
    let hebrew = read("locale: he\n");
    assert_eq!((hebrew.language.as_deref(), hebrew.is_rtl), (Some("he"), true));
    assert_eq!(said(&hebrew, Text::Send).as_deref(), Some("שליחה"));
    let own = read("locale: { language: he-IL, texts: { send: שלח } }\n");
    assert_eq!((own.is_rtl, said(&own, Text::Stop)), (true, None));
    let mixed = read("locale: { language: he, direction: ltr, texts: { send: שלח } }\n");
    assert_eq!((mixed.is_rtl, said(&mixed, Text::Send).as_deref()), (false, Some("שלח")));
    assert_eq!(said(&mixed, Text::Stop).as_deref(), Some("עצירה"));
    assert!(load("agents: []\n").0.locale.is_none());
}

#[test]
fn block_can_have_its_own_locale() {
    let (config, warnings) = load(&SUPPORT.replace(
        "agentId: support_agent",
        "agentId: support_agent\n          locale: { language: de, texts: { send: Senden } }",
    ));
    assert_eq!(warnings, "");
    let chat = config.pages[0].definition.blocks.iter().find(|block| block.id == "chat").unwrap();
    let locale = AgentChatProperties::read(&chat.properties).locale.unwrap();
    assert_eq!(locale, Locale::for_language("de").with(Text::Send, "Senden"));
}

#[test]
fn roles_are_collected_from_all_sections() {
    let text = "
connections: [{ id: demo, type: Demo }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    auth: { roles: [clerk] }
    policy: { default: allow, rules: [{ tools: ['*'], roles: [judge], action: ask }] }
    properties: { model: demo }
api: [{ id: e, auth: { roles: [editor, clerk] }, routine: [{ ':return': 1 }] }]
pages: [{ id: p, auth: { roles: [reader] } }]
limits: { quotas: [{ roles: [guest], per: day, messages: 1 }] }
auth: { mode: password, openSignUp: true, signUpRoles: [newcomer] }
";
    let (config, _) = load_embedded(&[("chatwright.yaml", text)], &env()).unwrap();
    let roles: Vec<_> = config.roles().into_iter().collect();
    assert_eq!(roles, ["admin", "clerk", "editor", "guest", "judge", "newcomer", "reader"]);
    assert_eq!(config.nearest_role("editr"), Some("editor"));
    assert_eq!(config.nearest_role("anything"), None);
}
