//! Warnings about what is accepted and has no effect: keys that are always null, texts that look like templates, and
//! names of icons.

use crate::agents::agent;
use crate::api::routine;
use crate::check;
use crate::pages::page;
use insta::assert_snapshot;

#[test]
fn fields_that_an_event_does_not_have_cause_a_warning() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput, events: { onChange: [{ type: SetState, params: { a: { _event: values } } }] } }
      - { id: go, type: Button, properties: { title: Go }, events: { onClick: [{ type: SetState, params: { a: { _event: x } } }] } }
      - id: chat
        type: AgentChat
        properties: { agentId: helper }
        events:
          onUserMessage: [{ type: SetState, params: { a: { _event: content } } }, { type: SetState, params: { a: { _event: parts.0.text } } }]
          onFeedback: [{ type: SetState, params: { a: { _event: rating }, b: { _event: raiting }, c: { _event: true } } }]
          onConversationStart: [{ type: SetState, params: { a: { _event: id } } }]
")), @"");
}

#[test]
fn keys_that_no_user_and_no_payload_has_cause_a_warning() {
    let operators = "noThink: { _eq: [{ _user: plan }, { _user: inputs.plan }] }, topP: { _payload: urlQueri.p }, topK: { _payload: switches.k }";
    assert_snapshot!(check(&agent(&format!(", {operators}"), "[]")), @"");
    assert_snapshot!(check(&routine("      - { ':return': [{ _user: email }, { _user: roles }, { _user: nam }, { _user: true }] }")), @"");
}

#[test]
fn templates_that_are_not_evaluated_cause_a_warning() {
    let properties = "providerOptions: { openai: { user: '{{ user.id }}', metadata: { id: { _template: 'u-{{ user.id }}' } }, tags: ['{{ a }}'] } }";
    assert_snapshot!(check(&agent(&format!(", {properties}"), "[]")), @"");
}

#[test]
fn names_of_icons_cause_a_warning() {
    assert_snapshot!(check(&page("      - { id: list, type: AgentConversations, properties: { menu: [{ key: a, icon: AiOutlineDelete }] } }
      - id: chat
        type: AgentChat
        properties:
          agentId: helper
          welcome: { icon: /logo.svg, prompts: [{ label: A, icon: 👩‍💻 }, { label: B, icon: ok }, { label: C, icon: mdi-home }] }
          sender: { switches: [{ key: web, icon: AiOutlineGlobal }] }
")), @"");
}

#[test]
fn a_step_that_asks_an_agent_names_what_does() {
    assert_snapshot!(check(&routine("      - { id: a, type: CallAgent, properties: { agentId: helper } }")), @"");
}

#[test]
fn uuids_have_one_version() {
    let check = |argument: &str| check(&routine(&format!("      - {{ ':return': {{ _uuid: {argument} }} }}")));
    assert_snapshot!([check("v4"), check("true"), check("v1")].join("\n"), @"");
}
