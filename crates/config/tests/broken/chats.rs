use crate::check;
use crate::pages::page;
use insta::assert_snapshot;

#[test]
fn invalid_chats_are_rejected() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat }
      - { id: b, type: AgentChat, properties: { agentId: helpr } }
      - { id: c, type: AgentChat, properties: { agentId: helper, display: drawr, maxWidth: 800 } }
      - { id: d, type: AgentChat, properties: { agentId: helper, drawer: { width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
")), @"
    refused
    chatwright.yaml:7:9: error: `properties` is missing here
       |
     7 |       - { id: a, type: AgentChat }
       |         ^
       = help: `properties` holds `agentId`

    chatwright.yaml:8:58: error: there is no agent `helpr`
       |
     8 |       - { id: b, type: AgentChat, properties: { agentId: helpr } }
       |                                                          ^^^^^
       = help: did you mean `helper`?

    chatwright.yaml:9:75: error: there is no display `drawr`
       |
     9 |       - { id: c, type: AgentChat, properties: { agentId: helper, display: drawr, maxWidth: 800 } }
       |                                                                           ^^^^^
       = help: did you mean `drawer`?

    chatwright.yaml:10:83: error: expected a number between 240 and 2000, found the number 40
        |
     10 | …{ agentId: helper, drawer: { width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^^

    chatwright.yaml:10:110: error: `label` is missing here
        |
     10 | …{ width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^
        = help: `label`: The text that is shown and sent.

    chatwright.yaml:10:112: error: there is no key `text` here
        |
     10 | …width: 40 }, welcome: { prompts: [{ text: Hi }] } } }
        |                                      ^^^^
        = help: one of `key`, `label`, `description` and `icon`
    ");
}

#[test]
fn unknown_shared_state_is_reported() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - id: a
        type: AgentChat
        properties:
          agentId: helper
          sharedState:
            name: { _state: nam }
            key: { _secret: KEY }
            user: { _user: id }
            sum: { _stat: name }
            all: { _state: true }
            constructor: 1
            _x: 1
")), @"
    refused
    chatwright.yaml:12:29: warning: no input on this page has the id `nam`
        |
     12 |             name: { _state: nam }
        |                             ^^^
        = help: did you mean `name`?

    chatwright.yaml:13:20: error: a secret has no place here
        |
     13 |             key: { _secret: KEY }
        |                    ^^^^^^^
        = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:14:21: error: the operator `_user` has no meaning here
        |
     14 |             user: { _user: id }
        |                     ^^^^^
        = help: what can be read here: `_state`, `_url_query`, `_expr` and `_template`; operators that only compute are allowed, too

    chatwright.yaml:15:20: error: there is no operator `_stat`
        |
     15 |             sum: { _stat: name }
        |                    ^^^^^
        = help: did you mean `_state`?

    chatwright.yaml:16:28: error: `_state` takes the id of an input here, found `true`
        |
     16 |             all: { _state: true }
        |                            ^^^^

    chatwright.yaml:17:13: error: the name `constructor` is refused: in a browser it can change every object
        |
     17 |             constructor: 1
        |             ^^^^^^^^^^^

    chatwright.yaml:18:13: error: `_x` cannot be the name of a shared value
        |
     18 |             _x: 1
        |             ^^
        = help: write `key: { _state: id }`
    ");
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { _state: true } } }
")), @"
    accepted
    chatwright.yaml:7:66: warning: the agent sees and may write every input of this page, and every key that an action sets
       |
     7 |       - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { _state: true } } }
       |                                                                  ^^^^^^^^^^^
       = help: list the keys that it needs, `key: { _state: key }`
    ");
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: { name: { _state: company } } } }
")), @"
    accepted
    chatwright.yaml:7:97: warning: no input on this page has the id `company`
       |
     7 | …per, sharedState: { name: { _state: company } } } }
       |                                      ^^^^^^^
       = help: the only one is `name`
    ");
    assert_snapshot!(check(&page("      - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: [name] } }
")), @"
    refused
    chatwright.yaml:6:79: error: expected a mapping, found a list
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, sharedState: [name] } }
       |                                                                               ^
    ");
}

#[test]
fn invalid_message_settings_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
      - { id: b, type: AgentChat, properties: { agentId: helper, messageDisplay: { showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: left } } } }
      - { id: c, type: AgentChat, properties: { agentId: helper, messageDisplay: { thinkingMessageDelay: 10, reasoningDisplay: above } } }
      - { id: d, type: AgentChat, properties: { agentId: helper, messageDisplay: { toolResultDisplay: { search: all } } } }
      - { id: e, type: AgentChat, properties: { agentId: helper, roles: { agent: { name: A }, user: { shape: oval } } } }
      - { id: f, type: AgentChat, properties: { agentId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
      - { id: g, type: AgentChat, properties: { agentId: helper, conversationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
      - { id: h, type: AgentChat, properties: { agentId: helper, feedbackValues: { m: liked, n: { _sate: n } } } }
")), @"
    refused
    chatwright.yaml:6:77: error: there is no key `like` here
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
       |                                                                             ^^^^
       = help: one of `copy`, `feedback`, `regenerate`, `edit`, `delete`, `branch` and `audio`

    chatwright.yaml:6:95: error: expected true or false, found the text `maybe`
       |
     6 |       - { id: a, type: AgentChat, properties: { agentId: helper, actions: { like: true, copy: maybe } } }
       |                                                                                               ^^^^^

    chatwright.yaml:7:84: error: there is no key `showSource` here
       |
     7 | … agentId: helper, messageDisplay: { showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: lef…
       |                                      ^^^^^^^^^^
       = help: did you mean `showSources`?

    chatwright.yaml:7:120: error: there is no key `inlined` here
       |
     7 | …showSource: true, sourcesDisplay: { inlined: true, expandIconPosition: left } } } }
       |                                      ^^^^^^^
       = help: did you mean `inline`?

    chatwright.yaml:7:155: error: there is no position `left`
       |
     7 | … inlined: true, expandIconPosition: left } } } }
       |                                      ^^^^
       = help: one of `start` and `end`

    chatwright.yaml:8:106: error: expected a number between 500 and 600000, found the number 10
       |
     8 | …ageDisplay: { thinkingMessageDelay: 10, reasoningDisplay: above } } }
       |                                      ^^

    chatwright.yaml:8:128: error: there is no reasoning display `above`
       |
     8 | …MessageDelay: 10, reasoningDisplay: above } } }
       |                                      ^^^^^
       = help: one of `interleaved` and `grouped`

    chatwright.yaml:9:113: error: there is no result display `all`
       |
     9 | …lay: { toolResultDisplay: { search: all } } } }
       |                                      ^^^
       = help: one of `summary`, `full`, `readable` and `none`

    chatwright.yaml:10:75: error: there is no key `agent` here
        |
     10 | …erties: { agentId: helper, roles: { agent: { name: A }, user: { shape: oval } } } }
        |                                      ^^^^^
        = help: one of `assistant` and `user`

    chatwright.yaml:10:110: error: there is no shape `oval`
        |
     10 | … agent: { name: A }, user: { shape: oval } } } }
        |                                      ^^^^
        = help: one of `default`, `round` and `corner`

    chatwright.yaml:11:74: error: expected a number between 100 and 10000, found the number 20
        |
     11 | …perties: { agentId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^^

    chatwright.yaml:11:88: error: expected a number or text, found a list
        |
     11 | …ntId: helper, height: 20, maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^

    chatwright.yaml:11:113: error: there is no variant `plain`
        |
     11 | … maxWidth: [1], welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^^^^^
        = help: one of `filled` and `borderless`

    chatwright.yaml:11:129: error: `prompts` is missing here
        |
     11 | …welcome: { variant: plain, tracks: [{ label: A }] } } }
        |                                      ^
        = help: `prompts`: The prompts.

    chatwright.yaml:12:84: error: there is no operator `_sate`
        |
     12 | … agentId: helper, conversationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^^^^^
        = help: did you mean `_state`?

    chatwright.yaml:12:106: error: expected a mapping, found the text `plan`
        |
     12 | …ersationId: { _sate: a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^^^^

    chatwright.yaml:12:126: error: `label` is missing here
        |
     12 | … a }, urlQuery: plan, suggestions: [{ icon: x }] } }
        |                                      ^
        = help: `label`: The text that is shown and sent.

    chatwright.yaml:13:87: error: there is no feedback `liked`
        |
     13 | …entId: helper, feedbackValues: { m: liked, n: { _sate: n } } } }
        |                                      ^^^^^
        = help: did you mean `like`?

    chatwright.yaml:13:99: error: there is no operator `_sate`
        |
     13 | …r, feedbackValues: { m: liked, n: { _sate: n } } } }
        |                                      ^^^^^
        = help: did you mean `_state`?
    ");
}

/// Keys that only an embedding site can set are the site's, so agents can only read them.
#[test]
fn agents_write_what_the_page_itself_writes() {
    let chat = |read_only: &str| {
        let shared = "{ name: { _state: name }, items: { _state: cart.items }, plan: { _state: plan } }";
        page(&format!(
            "      - {{ id: name, type: TextInput }}\n      - id: set\n        type: Button\n        properties: {{ title: Set }}\n        events: {{ onClick: [{{ type: SetState, params: {{ cart.items: [] }} }}] }}\n      - id: a\n        type: AgentChat\n        properties: {{ agentId: helper, sharedState: {shared}{read_only} }}\n"
        ))
    };
    let said = check(&chat(""));
    assert!(said.contains("no input on this page has the id `plan`") && !said.contains("id `cart"), "{said}");
    let said = check(&chat(", sharedStateReadOnly: [nam]"));
    assert!(said.contains("this chat does not share `nam`") && said.contains("did you mean `name`?"), "{said}");
    let config = |read_only: &str, embed: &str| {
        let text = format!("{}{embed}", chat(read_only));
        let files = [("chatwright.yaml", text.as_str())];
        let (config, _) = config::load_embedded(&files, &std::collections::HashMap::new()).unwrap();
        let properties = serde_json::to_value(&config.pages[0].definition.blocks[2]).unwrap();
        properties["properties"]["sharedStateReadOnly"].clone()
    };
    let embed = "auth: { mode: anonymous, publicUrls: ['https://a.test'] }\nembed: { origins: ['https://b.test'] }\n";
    assert_eq!(config("", ""), serde_json::Value::Null);
    assert_eq!(config("", embed), serde_json::json!(["plan"]));
    assert_eq!(config(", sharedStateReadOnly: [name]", embed), serde_json::json!(["name", "plan"]));
    assert_eq!(config(", sharedStateReadOnly: true", embed), true);
}

#[test]
fn list_keys_without_an_effect_are_reported() {
    let list = |properties: &str| {
        check(&page(&format!(
            "      - {{ id: l, type: AgentConversations, properties: {{ {properties} }}, events: {{ onMenuClick: [{{ type: Reset }}] }} }}\n"
        )))
    };
    let stored = list("activeKey: a, groupable: true, width: 200, creation: { label: New }");
    for expected in [
        "`activeKey` has no effect on a list of the stored conversations",
        "`groupable` has no effect on a list of the stored conversations",
        "`onMenuClick` never happens, because this list has no `menu`",
    ] {
        assert!(stored.starts_with("accepted") && stored.contains(expected), "{stored}");
    }
    assert!(!stored.contains("width`") && !stored.contains("creation`"), "{stored}");
    let items = list("items: [{ key: a }], newLabel: New, menu: [{ key: x }]");
    assert!(items.contains("`newLabel` has no effect on a list with `items`") && !items.contains("menu`"), "{items}");
    assert_eq!(list("menu: [{ key: x }]"), "accepted\n");
}
