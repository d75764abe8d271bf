use crate::check;
use insta::assert_snapshot;

/// Returns a config with the endpoint `save`, an agent `a` with it as a tool, and a page with a chat
/// and a button that calls it. `more` adds endpoints.
fn config(page: &str, agent: &str, save: &str, more: &str) -> String {
    format!(
        "connections: [{{ id: demo, type: Demo }}, {{ id: kb, type: Sql, properties: {{ url: 'sqlite::memory:' }} }}]
api:
  - id: save
    description: Save
    payloadSchema: {{ type: object }}
    auth: {save}
    routine: [{{ ':return': 1 }}]
{more}
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: m }}
    tools: [save]
    auth: {agent}
pages:
  - id: p
    auth: {page}
    blocks:
      - {{ id: chat, type: AgentChat, properties: {{ agentId: a }} }}
      - id: go
        type: Button
        properties: {{ title: Go }}
        events: {{ onClick: [{{ type: CallEndpoint, params: {{ endpointId: save }} }}] }}
"
    )
}

#[test]
fn invalid_access_rules_are_reported() {
    assert_snapshot!(check(&config("open", "{ rolls: [admin] }", "{ roles: [] }", "")), @"
    refused
    chatwright.yaml:6:20: error: expected a list of at least 1, found 0
       |
     6 |     auth: { roles: [] }
       |                    ^

    chatwright.yaml:15:13: error: there is no key `rolls` here
        |
     15 |     auth: { rolls: [admin] }
        |             ^^^^^
        = help: did you mean `roles`?

    chatwright.yaml:18:11: error: there is no rule `open`
        |
     18 |     auth: open
        |           ^^^^
        = help: one of `public` and `protected`
    ");
    assert_snapshot!(check(&config("{ public: true, roles: [admin] }", "{ public: false }", "{ roles: }", "")), @"
    refused
    chatwright.yaml:6:11: error: this does not say who
       |
     6 |     auth: { roles: }
       |           ^
       = help: name roles: `{ roles: [admin] }`

    chatwright.yaml:15:21: error: expected `true`, found `false`
        |
     15 |     auth: { public: false }
        |                     ^^^^^

    chatwright.yaml:18:27: error: too many keys; 1 is the most here
        |
     18 |     auth: { public: true, roles: [admin] }
        |                           ^^^^^
        = help: one of `public`, `protected` and `roles`
    ");
    assert_snapshot!(check(&config("[admin]", "{}", "{ roles: [admin, ''] }", "")), @"
    refused
    chatwright.yaml:6:28: error: this text is empty
       |
     6 |     auth: { roles: [admin, ''] }
       |                            ^^

    chatwright.yaml:15:11: error: expected a mapping of at least 1, found 0
        |
     15 |     auth: {}
        |           ^
        = help: one of `public`, `protected` and `roles`

    chatwright.yaml:18:11: error: expected text or a mapping, found a list
        |
     18 |     auth: [admin]
        |           ^
    ");
}

#[test]
fn reference_to_a_stricter_entry_causes_a_warning() {
    assert_snapshot!(check(&config("protected", "", "{ roles: [admin] }", "")), @"
    accepted
    chatwright.yaml:14:13: warning: not everybody who may ask the agent `a` may call the endpoint `save`
        |
     14 |     tools: [save]
        |             ^^^^
        = help: `a` is for all signed-in users (chatwright.yaml:15:9), `save` is for the role `admin` (chatwright.yaml:6:11)

    chatwright.yaml:24:73: warning: not everybody who may open the page `p` may call the endpoint `save`
        |
     24 |         events: { onClick: [{ type: CallEndpoint, params: { endpointId: save } }] }
        |                                                                         ^^^^
        = help: `p` is for all signed-in users (chatwright.yaml:18:11), `save` is for the role `admin` (chatwright.yaml:6:11)
    ");
    let check = |page: &str, agent: &str, save: &str, expected: &[&str]| {
        let said = check(&config(page, agent, save, ""));
        let warned: Vec<_> =
            said.lines().filter_map(|line| line.split_once("warning: ")).map(|(_, text)| text).collect();
        assert_eq!(warned, expected, "page {page}, agent {agent}, endpoint {save}");
    };
    let (page_agent, page_save, agent_save) = (
        "not everybody who may open the page `p` may ask the agent `a`",
        "not everybody who may open the page `p` may call the endpoint `save`",
        "not everybody who may ask the agent `a` may call the endpoint `save`",
    );
    check("public", "public", "public", &[]);
    check("protected", "{ protected: true }", "", &[]);
    check("protected", "public", "{ public: true }", &[]);
    check("{ roles: [admin] }", "protected", "{ roles: [admin, editor] }", &[agent_save]);
    check("{ roles: [admin] }", "{ roles: [admin, editor] }", "{ roles: [admin, editor] }", &[]);
    check("{ roles: [admin, editor] }", "{ roles: [admin] }", "public", &[page_agent]);
    check("public", "protected", "protected", &[page_agent, page_save]);
    check("public", "public", "protected", &[agent_save, page_save]);
    check("protected", "protected", "{ roles: [admin] }", &[agent_save, page_save]);
}

#[test]
fn access_rules_of_sub_agents_hooks_and_routines_are_compared() {
    assert_snapshot!(check("connections: [{ id: demo, type: Demo }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: m }
    agents: [b]
    hooks: { onFinish: [log] }
    auth: public
  - { id: b, type: Agent, connectionId: demo, properties: { model: m }, auth: { roles: [admin, editor] } }
api:
  - id: log
    type: InternalApi
    routine:
      - :if: { _eq: [1, 1] }
        :then: { id: s, type: CallEndpoint, properties: { endpointId: deep } }
  - { id: deep, type: InternalApi, auth: { roles: [admin] }, routine: [{ ':return': 1 }] }
"), @"
    accepted
    chatwright.yaml:7:14: warning: not everybody who may ask the agent `a` may ask the agent `b`
       |
     7 |     agents: [b]
       |              ^
       = help: `a` is public (chatwright.yaml:9:11), `b` is for the roles `admin`, `editor` (chatwright.yaml:10:79)

    chatwright.yaml:8:25: warning: not everybody who may ask the agent `a` may call the endpoint `log`
       |
     8 |     hooks: { onFinish: [log] }
       |                         ^^^
       = help: `a` is public (chatwright.yaml:9:11), `log` is for all signed-in users (chatwright.yaml:12:5)

    chatwright.yaml:16:71: warning: not everybody who may call the endpoint `log` may call the endpoint `deep`
        |
     16 |         :then: { id: s, type: CallEndpoint, properties: { endpointId: deep } }
        |                                                                       ^^^^
        = help: `log` is for all signed-in users (chatwright.yaml:12:5), `deep` is for the role `admin` (chatwright.yaml:17:42)
    ");
}

#[test]
fn public_endpoint_that_writes_causes_a_warning() {
    let writes = |id: &str, kind: &str, auth: &str| {
        format!(
            "  - {{ id: {id}, type: {kind}, auth: {auth}, routine: [{{ id: w, type: SqlExecute, connectionId: kb, properties: {{ query: delete from a }} }}] }}"
        )
    };
    let calls = |id: &str, called: &str| {
        format!(
            "  - {{ id: {id}, auth: public, routine: [{{ id: c, type: CallEndpoint, properties: {{ endpointId: {called} }} }}] }}"
        )
    };
    let check = |more: &[String], expected: &[&str]| {
        let said = check(&config("", "", "", &more.join("\n")));
        let warned: Vec<_> =
            said.lines().filter_map(|line| line.split_once("warning: ")).map(|(_, text)| text).collect();
        assert_eq!(warned, expected, "{more:?}");
    };
    check(&[writes("w", "Api", "public")], &["everybody, signed in or not, may call `w`, which changes data"]);
    check(&[writes("w", "Api", "protected"), writes("v", "InternalApi", "public")], &[]);
    check(
        &[writes("w", "InternalApi", "public"), calls("c", "w")],
        &["everybody, signed in or not, may call `c`, which changes data"],
    );
    check(&[calls("c", "d"), calls("d", "c")], &[]);
}

#[test]
fn entries_that_nobody_can_use_are_reported() {
    assert_snapshot!(check(&config("{ roles: [editor] }", "protected", "{ roles: [author, editor] }", "")), @"
    accepted
    chatwright.yaml:6:11: warning: nobody may use this: in the auth mode `local` the one owner has the role `admin` only
       |
     6 |     auth: { roles: [author, editor] }
       |           ^
       = help: add `admin` to the roles

    chatwright.yaml:14:13: warning: not everybody who may ask the agent `a` may call the endpoint `save`
        |
     14 |     tools: [save]
        |             ^^^^
        = help: `a` is for all signed-in users (chatwright.yaml:15:11), `save` is for the roles `author`, `editor` (chatwright.yaml:6:11)

    chatwright.yaml:18:11: warning: nobody may use this: in the auth mode `local` the one owner has the role `admin` only
        |
     18 |     auth: { roles: [editor] }
        |           ^
        = help: add `admin` to the roles
    ");
    let internal = "  - { id: inner, type: InternalApi, routine: [{ ':return': 1 }] }\n";
    let text = config("", "", "", internal).replace("endpointId: save }", "endpointId: inner }");
    assert_snapshot!(check(&text), @"
    refused
    chatwright.yaml:25:73: error: the endpoint `inner` is internal, so no page can call it
        |
     25 |         events: { onClick: [{ type: CallEndpoint, params: { endpointId: inner } }] }
        |                                                                         ^^^^^
        = help: only routines, hooks and agents may call it
    ");
}

#[test]
fn public_agent_without_limits_causes_a_warning() {
    let config = |auth: &str, properties: &str, more: &str| {
        format!(
            "auth: {auth}
connections: [{{ id: demo, type: Demo }}, {{ id: kb, type: Mcp, properties: {{ url: 'https://kb.example/mcp' }} }}]
agents:
  - id: a
    type: Agent
    connectionId: demo
    auth: public
    properties: {{ model: m{properties} }}
    mcp: [{{ connectionId: kb }}]
{more}
"
        )
    };
    assert_snapshot!(check(&config("{ mode: anonymous }", "", "")), @"
    accepted
    chatwright.yaml:1:15: warning: without `publicUrls` the server can be used from this machine only
       |
     1 | auth: { mode: anonymous }
       |               ^^^^^^^^^
       = help: say where users find it: `publicUrls: [https://chat.example.com]`

    chatwright.yaml:7:11: warning: everybody, signed in or not, may ask the agent `a`, which has the tools of MCP servers
       |
     7 |     auth: public
       |           ^^^^^^
       = help: if that is not meant, write `auth: protected`; otherwise say under `policy` what it may do

    chatwright.yaml:7:11: warning: everybody, signed in or not, may ask the agent `a` as much as they like
       |
     7 |     auth: public
       |           ^^^^^^
       = help: bound what it costs with `limits.quotas`, or with the agent's own `limits`
    ");
    let bound = check(&config(
        "{ mode: anonymous }",
        ", limits: { requests: 5 }",
        "    policy: { rules: [{ tools: ['read_*'], action: allow }], default: deny }",
    ));
    assert_snapshot!(bound, @"
    accepted
    chatwright.yaml:1:15: warning: without `publicUrls` the server can be used from this machine only
       |
     1 | auth: { mode: anonymous }
       |               ^^^^^^^^^
       = help: say where users find it: `publicUrls: [https://chat.example.com]`
    ");
    assert_snapshot!(check(&config("{ mode: local }", "", "")), @"accepted");
}

/// A policy that denies an endpoint by a name, while a sub-agent offers it under another one.
#[test]
fn endpoint_that_a_sub_agent_offers_under_another_name_is_reported() {
    let check = |policy: &str, tool: &str, sub_policy: &str, expected: Option<&str>| {
        let text = format!(
            "connections: [{{ id: demo, type: Demo }}]
api:
  - {{ id: danger/zone, description: D, payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}
agents:
  - {{ id: top, type: Agent, connectionId: demo, properties: {{ model: m }}, agents: [mid], policy: {policy} }}
  - {{ id: mid, type: Agent, connectionId: demo, properties: {{ model: m }}, agents: [low] }}
  - {{ id: low, type: Agent, connectionId: demo, properties: {{ model: m }}, tools: [{tool}]{sub_policy} }}
pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: top }} }}] }}]
"
        );
        let seen = check(&text);
        assert!(seen.starts_with("accepted"), "{text}{seen}");
        let warning = seen.lines().find_map(|line| Some(line.split_once("warning: this denies ")?.1));
        assert_eq!(warning, expected, "{text}{seen}");
    };
    let denied = "{ rules: [{ tools: [danger__zone], action: deny }] }";
    let other = "{ endpointId: danger/zone, name: harmless }";
    let message = Some("the endpoint `danger/zone`, but the sub-agent `low` offers it as `harmless`");
    check(denied, other, "", message);
    check("{ rules: [{ tools: ['danger_*'], action: deny }] }", other, "", message);
    // The rule holds.
    check(denied, "danger/zone", "", None);
    check("{ rules: [{ tools: [danger__zone, harmless], action: deny }] }", other, "", None);
    check("{ rules: [{ tools: [danger__zone], action: deny }], default: deny }", other, "", None);
    check(denied, other, ", policy: { rules: [{ tools: [harmless], action: deny }] }", None);
    // The policy of the whole server.
    let of_all_message = Some("the endpoint `danger/zone`, but the agent `low` offers it as `harmless`");
    check("{}", other, &format!("}}\npolicy: {denied} #"), of_all_message);
    // Nothing is denied.
    check("{ rules: [{ tools: [danger__zone], action: ask }] }", other, "", None);
    check("{ rules: [{ tools: [other], action: deny }] }", other, "", None);
}
