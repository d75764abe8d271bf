//! Chats: their events, properties and surroundings, as the documentation of Lowdefy writes them.

use crate::check_one;

const BASICS: &str = "connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: OPENAI_API_KEY } } }
agents:
  - { id: clerk, type: OpenAIAgent, connectionId: gpt, properties: { model: gpt-5-mini } }
";

/// Checks that the config that an app is converted to, or a note, has these parts.
fn check_app(app: &str, expected: &[&str]) {
    let rendered = check_one(app);
    for part in expected {
        assert!(rendered.contains(part), "{part}\n{rendered}");
    }
}

fn check(pages: &str, expected: &[&str]) {
    check_app(&format!("{BASICS}pages:\n{pages}"), expected);
}

#[test]
fn fields_of_events_have_the_names_of_this_product() {
    check("
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
", &[
        "did: { _event: action }",
        "to: { _event: conversation.key }",
        "a: { _event: text }",
        "b: { _event: id }",
        "c: user",
        "d: { _event: parts.0.text }",
        "failed: { _event: errorText }",
        "a: { _event: replaces }",
        "b: { _event: textBefore }",
        "c: { _event: text }",
        "a: { _event: value }",
        "all: { _event: true }",
        "changed: the rating is `up`, `down` or null",
        "changed: fields of `onDeleteMessage` have other names",
        "left out: the name of an icon",
        "left out: `groupable.label` as a text",
    ]);
}

/// A request of the page is an endpoint in a group, which signs uploads only to a place that the config names.
#[test]
fn policies_of_uploads_need_the_place_of_the_files() {
    let page = |rest: &str| {
        format!(
            "
  - id: chat
    type: PageHeaderMenu
    requests:
      - {{ id: sign, type: AxiosHttp, connectionId: store, properties: {{ url: /sign, method: post }} }}
    blocks:
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          sender: {{ attachments: {{ s3PostPolicyRequestId: sign{rest} }} }}
"
        )
    };
    let app = |rest: &str| {
        let basics = BASICS.replace(
            "agents:",
            "  - { id: store, type: AxiosHttp, properties: { baseURL: 'https://files.example' } }\nagents:",
        );
        check_one(&format!("{basics}pages:\n{}", page(rest)))
    };
    let without = app("");
    assert!(without.contains("uploadOrigin"), "{without}");
    let with = app(", uploadOrigin: 'https://files.example'");
    assert!(with.contains("uploadPolicyRequestId: chat/sign"), "{with}");
}

#[test]
fn properties_of_a_chat_keep_what_they_mean() {
    check(
        "
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
",
        &[
            "icon: 📦",
            "copy: true",
            "feedback: false",
            "regenerate: false",
            "delete: false",
            "name: Clerk",
            "left out: the name of an icon",
        ],
    );
}

#[test]
fn blocks_in_an_unknown_container_are_taken_over() {
    check(
        "
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
",
        &[
            "id: panel",
            "id: chat",
            "changed: a block of the type `Affix` is a box around its blocks",
            "left out: the blocks of the slot `aside`, with the chat `other` and the input `name`",
            "with the inputs `plan`, `seats`",
        ],
    );
}

#[test]
fn operators_with_another_name_or_form_are_converted() {
    check_app("
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
", &[
        "{% set pageId = payload.pageId %}{% set userId = payload.userId %}You serve",
        "changed: `{{ user.sub }}` is evaluated",
        "{{ user.id }}",
        "_secret: MCP_TOKEN_HEADER",
        "_dayjs.humanizeDuration",
        "_dayjs.format",
        "_user: id",
        "changed: a user has no `plan`",
        "{% set name = state.name %}Hello {{ name | upper }}",
    ]);
}
