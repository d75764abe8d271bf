//! Warnings about what is accepted and has no effect: keys that are always null, texts that look like templates, and
//! names of icons.

use crate::agents::agent;
use crate::api::routine;
use crate::check;
use crate::pages::page;

/// Returns the messages about a config that contain a text.
fn messages(config: &str, part: &str) -> Vec<String> {
    let report = check(config);
    let messages = report.lines().filter_map(|line| line.strip_prefix("chatwright.yaml:")?.split_once(": warning: "));
    messages.map(|(_, message)| message.to_owned()).filter(|message| message.contains(part)).collect()
}

#[test]
fn fields_that_an_event_does_not_have_cause_a_warning() {
    let page = page("      - { id: name, type: TextInput, events: { onChange: [{ type: SetState, params: { a: { _event: values } } }] } }
      - { id: go, type: Button, properties: { title: Go }, events: { onClick: [{ type: SetState, params: { a: { _event: x } } }] } }
      - id: chat
        type: AgentChat
        properties: { agentId: helper }
        events:
          onUserMessage: [{ type: SetState, params: { a: { _event: content } } }, { type: SetState, params: { a: { _event: parts.0.text } } }]
          onFeedback: [{ type: SetState, params: { a: { _event: rating }, b: { _event: raiting }, c: { _event: true } } }]
          onConversationStart: [{ type: SetState, params: { a: { _event: id } } }]
");
    let expected = ["values", "x", "content", "raiting", "id"].map(|key| format!("this event has no field `{key}`"));
    assert_eq!(messages(&page, "field"), expected);
    assert!(check(&page).contains("did you mean `rating`?"));
}

#[test]
fn keys_that_no_user_and_no_payload_has_cause_a_warning() {
    let operators = "noThink: { _eq: [{ _user: plan }, { _user: inputs.plan }] }, topP: { _payload: urlQueri.p }, topK: { _payload: switches.k }";
    let agent = agent(&format!(", {operators}"), "[]");
    assert_eq!(messages(&agent, "has no"), ["a user has no `plan`", "the payload of a turn has no `urlQueri`"]);
    let routine =
        routine("      - { ':return': [{ _user: email }, { _user: roles }, { _user: nam }, { _user: true }] }");
    assert_eq!(messages(&routine, "has no"), ["a user has no `email`", "a user has no `nam`"]);
}

#[test]
fn templates_that_are_not_evaluated_cause_a_warning() {
    let properties = "providerOptions: { openai: { user: '{{ user.id }}', metadata: { id: { _template: 'u-{{ user.id }}' } }, tags: ['{{ a }}'] } }";
    assert_eq!(messages(&agent(&format!(", {properties}"), "[]"), "as it is"), ["this text is sent as it is"; 2]);
}

#[test]
fn names_of_icons_cause_a_warning() {
    let page = page("      - { id: list, type: AgentConversations, properties: { menu: [{ key: a, icon: AiOutlineDelete }] } }
      - id: chat
        type: AgentChat
        properties:
          agentId: helper
          welcome: { icon: /logo.svg, prompts: [{ label: A, icon: 👩‍💻 }, { label: B, icon: ok }, { label: C, icon: mdi-home }] }
          sender: { switches: [{ key: web, icon: AiOutlineGlobal }] }
");
    let expected = ["AiOutlineDelete", "mdi-home", "AiOutlineGlobal"];
    assert_eq!(messages(&page, "icon"), expected.map(|icon| format!("the icon `{icon}` is shown as text")));
}

#[test]
fn a_step_that_asks_an_agent_names_what_does() {
    let report = check(&routine("      - { id: a, type: CallAgent, properties: { agentId: helper } }"));
    assert!(report.contains("a workflow has a step that asks an agent"), "{report}");
}

#[test]
fn uuids_have_one_version() {
    let check = |argument: &str, expected: bool| {
        let report = check(&routine(&format!("      - {{ ':return': {{ _uuid: {argument} }} }}")));
        assert_eq!(report.contains("`_uuid` takes nothing, or `v4`"), !expected, "{report}");
        assert_eq!(report.starts_with("accepted"), expected, "{report}");
    };
    check("v4", true);
    check("true", true);
    check("v1", false);
}
