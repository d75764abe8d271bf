//! Chats: their events, properties and surroundings, as the documentation of Lowdefy writes them.

use crate::{check_one, check_sections};
use insta::assert_snapshot;

const BASICS: &str = "connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: OPENAI_API_KEY } } }
agents:
  - { id: clerk, type: OpenAIAgent, connectionId: gpt, properties: { model: gpt-5-mini } }
";

fn check(pages: &str) -> String {
    check_sections(&["pages"], &format!("{BASICS}pages:\n{pages}"))
}

#[test]
fn fields_of_events_have_the_names_of_this_product() {
    assert_snapshot!(check("
  - id: chat
    type: PageHeaderMenu
    blocks:
      - id: list
        type: AgentConversations
        properties: { items: [], menu: [{ key: delete, label: Delete, icon: AiOutlineDelete }], groupable: { collapsible: true, label: Chats } }
        events:
          onMenuClick: [{ id: a, type: SetState, params: { did: { _event: key }, to: { _event: item.key } } }]
      - id: chat
        type: AgentChat
        properties: { agentId: clerk }
        events:
          onUserMessage: [{ id: a, type: SetState, params: { a: { _event: content }, b: { _event: messageId }, c: { _event: role }, d: { _event: parts.0.text } } }]
          onMessageComplete: [{ id: b, type: SetState, params: { a: { _string.concat: ['> ', { _event: { key: content } }] }, b: { _event: isAbort } } }]
          onToolResult: [{ id: c, type: SetState, params: { failed: { _event: error } } }]
          onEditMessage: [{ id: d, type: SetState, params: { a: { _event: messageId }, b: { _event: originalContent }, c: { _event: newContent } } }]
          onFeedback: [{ id: e, type: SetState, params: { a: { _event: rating }, b: { _event: messageContent } } }]
          onSuggestionClick: [{ id: f, type: SetState, params: { a: { _event: suggestion } } }]
          onSwitchChange: [{ id: g, type: SetState, params: { a: { _event: checked }, all: { _event: } } }]
          onDeleteMessage: [{ id: h, type: SetState, params: { a: { _event: true } } }]
"), @"");
}

#[test]
fn properties_of_a_chat_keep_what_they_mean() {
    assert_snapshot!(check("
  - id: chat
    type: PageHeaderMenu
    blocks:
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          welcome: { title: Hi, icon: AiOutlineRobot, prompts: [{ label: A, icon: 📦 }] }
          messageDisplay:
            actions: { feedback: false }
            roles: { assistant: { name: Clerk } }
"), @"");
}

#[test]
fn blocks_in_an_unknown_container_are_taken_over() {
    assert_snapshot!(check("
  - id: chat
    type: PageHeaderMenu
    blocks:
      - id: flex
        type: Flex
        properties: { gap: 8 }
        blocks:
          - id: panel
            type: Affix
            slots:
              content:
                blocks: [{ id: chat, type: AgentChat, properties: { agentId: clerk } }]
              aside:
                blocks: [{ id: name, type: TextInput }, { id: other, type: AgentChat, properties: { agentId: clerk } }]
      - id: hidden
        type: Box
        visible: { _js: code }
        blocks: [{ id: plan, type: Selector, properties: { options: [a] } }, { id: seats, type: NumberInput }]
"), @"");
}

#[test]
fn operators_with_another_name_or_form_are_converted() {
    assert_snapshot!(check_one("
connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: OPENAI_API_KEY } } }
agents:
  - id: clerk
    type: OpenAIAgent
    connectionId: gpt
    properties:
      model: gpt-5-mini
      instructions: { _nunjucks: 'You serve {{ userId }} on {{ pageId }}.' }
      providerOptions: { openai: { user: '{{ user.sub }}' } }
      temperature: { _if: { test: { _eq: [{ _user: plan }, free] }, then: 0, else: 1 } }
    mcp:
      - { url: https://mcp.example.com, headers: { Authorization: { _string.concat: ['Bearer ', { _secret: MCP_TOKEN }] } } }
api:
  - id: who
    routine:
      - :set_state: { id: { _uuid: v4 }, age: { _moment.humanizeDuration: { on: 5000 } }, day: { _moment.format: { on: { _payload: at }, format: YYYY } } }
      - :return: { _user: sub }
pages:
  - id: page
    type: PageHeaderMenu
    blocks:
      - { id: name, type: TextInput }
      - { id: hello, type: Title, properties: { content: { _nunjucks: 'Hello {{ name | upper }}' } } }
"), @"");
}
