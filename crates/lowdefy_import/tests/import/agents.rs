//! Agents, their connections, and who may use what.

use crate::check_one;
use insta::assert_snapshot;

#[test]
fn agents_and_their_connections_are_taken_over() {
    assert_snapshot!(check_one(
        "
lowdefy: 5.3.0
connections:
  - id: anthropic
    type: Anthropic
    properties:
      apiKey:
        _secret: ANTHROPIC_API_KEY
  - id: tracker
    type: Mcp
    properties:
      transport: http
      url: https://mcp.example.com/mcp
      headers:
        Authorization:
          _string.concat:
            - 'Bearer '
            - _secret: TRACKER_TOKEN
agents:
  - id: helper
    type: AnthropicAgent
    connectionId: anthropic
    properties:
      model: claude-sonnet-4-20250514
      instructions: |
        You help.
        Be brief.
      generateTitle: true
      thinking: { type: enabled, budgetTokens: 10000 }
      effort: high
      prepareStep:
        - steps: [1]
          toolChoice: required
        - from: 2
          temperature: 0.3
      prune: { reasoning: before-last-message, toolCalls: all, emptyMessages: remove }
    mcp:
      - connectionId: tracker
        confirm: true
    agents:
      - agentId: researcher
        description: Finds sources.
    hooks:
      onFinish: [keep]
  - id: researcher
    type: ClaudeAgent
    connectionId: anthropic
    properties:
      model: claude-haiku-4-5
      frobnicate: 3
api:
  - id: keep
    type: InternalApi
    routine:
      :return:
        dataParts: []
"
    ), @r#"
    connections:
      # lowdefy.yaml, line 4
      - id: anthropic
        type: Anthropic
        properties:
          apiKey: { _secret: ANTHROPIC_API_KEY }

      # lowdefy.yaml, line 9
      - id: tracker
        type: Mcp
        properties:
          transport: http
          url: https://mcp.example.com/mcp
          headers:
            Authorization: { _secret: TRACKER_TOKEN_HEADER }

    agents:
      # lowdefy.yaml, line 20
      - id: helper
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: claude-sonnet-4-20250514
          instructions: |
            You help.
            Be brief.
          generateTitle: true
          thinking:
            type: enabled
            budgetTokens: 10000
          effort: high
          prepareStep:
            - { steps: [1], toolChoice: required }
            - { from: 2, temperature: 0.3 }
          prune:
            reasoning: before-last-message
            toolCalls: all
            emptyMessages: remove
        mcp:
          - { connectionId: tracker, confirm: true }
        agents:
          - { agentId: researcher, description: "Finds sources." }
        hooks:
          onFinish: [keep]

      # lowdefy.yaml, line 45
      - id: researcher
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: claude-haiku-4-5

    api:
      # lowdefy.yaml, line 52
      - id: keep
        type: InternalApi
        routine:
          - :return:
              dataParts: []
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    ANTHROPIC_API_KEY=
    # The whole header `Authorization`: `Bearer ` and the value of TRACKER_TOKEN
    TRACKER_TOKEN_HEADER=

    lowdefy.yaml:16:11: warning: changed: the header `Authorization` is read from one variable
        |
     16 |           _string.concat:
        |           ^^^^^^^^^^^^^^
        = help: set `TRACKER_TOKEN_HEADER` to `Bearer ` and the value of TRACKER_TOKEN

    lowdefy.yaml:50:7: warning: left out: `properties.frobnicate` of the agent `researcher`: there is no key `frobnicate` here
        |
     50 |       frobnicate: 3
        |       ^^^^^^^^^^

    taken over: 2 connections, 2 agents, 1 endpoint; left out: 1; changed: 1
    "#);
}

#[test]
fn access_rules_are_taken_over() {
    assert_snapshot!(check_one(
        "
auth:
  pages:
    protected: true
    public: [home]
    roles: { admin: [admin], manager: [admin] }
  api:
    protected: [mine]
  providers: [{ id: google, type: GoogleProvider }]
pages:
  - { id: home, type: Box }
  - { id: admin, type: Box }
  - { id: other, type: Box }
api:
  - { id: mine, type: Api, routine: [{ :return: { _user: id } }] }
  - { id: open, type: Api, routine: [{ :return: 1 }] }
"
    ), @r"
    pages:
      # lowdefy.yaml, line 11
      - id: home
        auth: public

      # lowdefy.yaml, line 13
      - id: other

    api:
      # lowdefy.yaml, line 15
      - id: mine
        auth: protected
        type: Api
        routine:
          - :return: { _user: id }

      # lowdefy.yaml, line 16
      - id: open
        type: Api
        routine:
          - :return: 1

    lowdefy.yaml:8:16: warning: changed: what is not listed was public; now it needs a signed-in user
       |
     8 |     protected: [mine]
       |                ^
       = help: write `auth: public` at those that everybody may use

    lowdefy.yaml:9:3: warning: left out: `auth.providers`
       |
     9 |   providers: [{ id: google, type: GoogleProvider }]
       |   ^^^^^^^^^
       = help: choose how users sign in with `auth: { mode: … }`, see docs/accounts.md

    lowdefy.yaml:12:11: warning: left out: the page `admin`: the address `/admin` belongs to the server
        |
     12 |   - { id: admin, type: Box }
        |           ^^^^^
        = help: give the page another id

    taken over: 2 endpoints, 2 pages; left out: 2; changed: 1
    ");
}
