//! Tests of what apps are converted to, as data: a small app, the config with the notes.

use config::{Language, load_embedded, render};
use insta::assert_snapshot;
use lowdefy_import::{Import, import_embedded};
use std::collections::HashMap;

/// Converts an app, checks that the result is a valid config, and renders it with the notes.
fn check(files: &[(&str, &str)]) -> String {
    match import_embedded(files, &Language::default()) {
        Ok(import) => rendered(&import),
        Err(problems) => render(&problems),
    }
}

fn rendered(import: &Import) -> String {
    let env: HashMap<String, String> = import.secrets.iter().cloned().collect();
    let config: Vec<(&str, &str)> = import.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let problems = match load_embedded(&config, &env) {
        Ok((_, warnings)) => warnings,
        Err(problems) => panic!("{}\n{}", render(&problems), texts(import)),
    };
    let parts = [texts(import), render(&import.notes), render(&problems), import.summary.to_string()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the texts of all files, without the comment at the top of the main file.
fn texts(import: &Import) -> String {
    let mut text = String::new();
    for file in &import.files {
        if file.path != "chatwright.yaml" {
            text.push_str(&format!("--- {}\n", file.path));
        }
        let lines: Vec<&str> = file.text.lines().collect();
        let skipped =
            lines.iter().take_while(|line| line.starts_with("# Imported") || line.starts_with("# Left")).count();
        lines[skipped..].iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}

/// Converts an app of one file.
fn check_one(text: &str) -> String {
    check(&[("lowdefy.yaml", text)])
}

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

    lowdefy.yaml:28:7: warning: left out: `generateTitle`
        |
     28 |       generateTitle: true
        |       ^^^^^^^^^^^^^
        = help: add an endpoint with `GenerateText` to `hooks.onFinish` that returns a part `data-chat-title`

    lowdefy.yaml:50:7: warning: left out: `properties.frobnicate` of the agent `researcher`: there is no key `frobnicate` here
        |
     50 |       frobnicate: 3
        |       ^^^^^^^^^^

    taken over: 2 connections, 2 agents, 1 endpoint; left out: 2; changed: 1
    "#);
}

#[test]
fn routines_are_taken_over() {
    assert_snapshot!(check_one(
        "
connections:
  - id: shop
    type: AxiosHttp
    properties:
      baseUrl: https://shop.example.com/api
      timeout: 5000
  - id: sql
    type: Knex
    properties:
      client: pg
      connection: { host: { _secret: PG_HOST }, user: app }
  - id: documents
    type: MongoDBCollection
    properties: { collection: users }
api:
  - id: orders/find
    type: Api
    description: Finds orders.
    payloadSchema:
      type: object
      properties: { customer: { type: string } }
      required: [customer]
    routine:
      - id: orders
        type: AxiosHttp
        connectionId: shop
        properties:
          url: { _string.concat: ['/customers/', { _payload: customer }, '/orders'] }
          method: get
          params: { limit: 20 }
      - id: rows
        type: KnexRaw
        connectionId: sql
        properties:
          query: select * from notes where customer = ? and kind <> '?'
          bindings: [{ _payload: customer }]
      - :set_state: { count: 0 }
      - :parallel_for: row
        :in: { _step: rows.rows }
        :do:
          :log: { _item: row.id }
          :level: info
      - :if: { _eq: [{ _step: orders.data.total }, 0] }
        :then:
          :reject: No orders.
      - :switch:
          - :case: { _payload: customer }
            :then: { :return: { orders: { _step: orders.data.items }, notes: { _step: rows.rows } } }
        :default: { :throw: Never. }
  - id: users/find
    type: Api
    routine:
      - id: user
        type: MongoDBFindOne
        connectionId: documents
        properties: { query: { _id: { _payload: id } } }
      - id: orders
        type: CallApi
        properties: { endpointId: orders/find, payload: { customer: { _payload: id } } }
      - :return: { user: { _step: user.name }, orders: { _step: orders.orders } }
"
    ), @r#"
    connections:
      # lowdefy.yaml, line 3
      - id: shop
        type: Http
        properties:
          baseURL: https://shop.example.com/api
          timeoutMs: 5000

      # lowdefy.yaml, line 8
      - id: sql
        type: Sql
        properties:
          url: { _secret: SQL_URL }

    api:
      # lowdefy.yaml, line 17
      - id: orders/find
        type: Api
        description: Finds orders.
        payloadSchema:
          type: object
          properties:
            customer:
              type: string
          required: [customer]
        routine:
          - id: orders
            type: Http
            connectionId: shop
            properties:
              path: { _template: "/customers/{{ payload.customer }}/orders" }
              method: GET
              query:
                limit: 20
          - id: rows
            type: SqlQuery
            connectionId: sql
            properties:
              query: select * from notes where customer = :p1 and kind <> '?'
              parameters:
                p1: { _payload: customer }
          - :set_state:
              count: 0
          - :for: row
            :in: { _step: rows }
            :do:
              - :log: { _item: row.id }
          - :if: { _eq: [{ _step: orders.body.total }, 0] }
            :then:
              - :reject: No orders.
          - :switch:
              - :case: { _payload: customer }
                :then:
                  - :return:
                      orders: { _step: orders.body.items }
                      notes: { _step: rows }
            :default:
              - :throw: Never.

      # lowdefy.yaml, line 51
      - id: users/find
        type: Api
        routine:
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step user of the type MongoDBFindOne"
          - id: orders
            type: CallEndpoint
            properties:
              endpointId: orders/find
              payload:
                customer: { _payload: id }
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step :return"
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    # postgres://USER:PASSWORD@HOST:5432/DATABASE
    SQL_URL=

    lowdefy.yaml:12:19: warning: changed: host, user and password of the database are one address now
        |
     12 |       connection: { host: { _secret: PG_HOST }, user: app }
        |                   ^
        = help: set `SQL_URL` to postgres://USER:PASSWORD@HOST:5432/DATABASE

    lowdefy.yaml:13:5: warning: left out: the connection of the type `MongoDBCollection`
        |
     13 |   - id: documents
        |     ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    lowdefy.yaml:39:9: warning: changed: `:parallel_for` runs one item after the other
        |
     39 |       - :parallel_for: row
        |         ^^^^^^^^^^^^^
        = help: use `:parallel` for a fixed number of branches

    lowdefy.yaml:43:11: warning: left out: `:level`
        |
     43 |           :level: info
        |           ^^^^^^

    lowdefy.yaml:54:9: warning: left out: the step `user` of the type `MongoDBFindOne`
        |
     54 |       - id: user
        |         ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    lowdefy.yaml:61:35: warning: left out: the step `:return`: no step before this one has the id `user`
        |
     61 |       - :return: { user: { _step: user.name }, orders: { _step: orders.orders } }
        |                                   ^^^^^^^^^
        = help: the only one is `orders`

    taken over: 2 connections, 2 endpoints; left out: 4; changed: 2
    "#);
}

#[test]
fn pages_are_taken_over() {
    assert_snapshot!(check_one(
        "
config:
  homePageId: chat
connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: OPENAI_API_KEY } } }
  - { id: shop, type: AxiosHttp, properties: { baseURL: https://shop.example.com } }
agents:
  - { id: clerk, type: OpenAIAgent, connectionId: gpt, properties: { model: gpt-5-mini } }
pages:
  - id: about
    type: PageHeaderMenu
    properties: { title: About }
    blocks:
      - { id: text, type: Html, properties: { html: <b>us</b> } }
  - id: chat
    type: PageSiderMenu
    properties: { title: Customers, header: { theme: dark } }
    requests:
      - id: get_customers
        type: AxiosHttp
        connectionId: shop
        payload: { name: { _state: name } }
        properties: { url: /customers, params: { name: { _payload: name } } }
    events:
      onMount:
        - { id: fetch, type: Request, params: get_customers }
      onInitAsync:
        - { id: focus, type: ScrollTo, params: { blockId: name } }
        - { id: hello, type: DisplayMessage, params: { content: Hello, status: info } }
    slots:
      content:
        blocks:
          - id: name
            type: TextInput
            required: true
            layout: { span: 8 }
            style: { color: red }
            validate: [{ message: no, status: error, pass: { _regex: '^a' } }]
            properties: { title: Name, size: large }
          - id: plan
            type: Selector
            layout: { span: 16 }
            properties: { title: Plan, options: [small, { label: Large, value: large }] }
          - id: rows
            type: AgGridAlpine
            properties:
              rowData: { _request: get_customers.data }
              columnDefs: [{ field: name, headerName: Name, width: 100 }]
          - id: save
            type: Button
            properties: { title: Save, type: primary }
            events:
              onClick:
                - { id: check, type: Validate, params: [name] }
                - { id: save, type: CallAPI, params: { endpointId: save, payload: { name: { _state: { key: name, default: nobody } } } } }
                - { id: done, type: SetState, params: { saved: { _actions: save.response.ok } } }
                - { id: global, type: SetGlobal, params: { saved: true } }
                - { id: go, type: Link, params: about }
          - id: chat
            type: AgentChat
            properties:
              agentId: clerk
              sharedState: { name: { _state: name } }
              messageDisplay: { showReasoning: true, actions: [copy, feedback] }
              sender: { header: { title: Hint, content: Be kind. }, bogus: 1 }
              display: drawer
              drawer: { placement: right, width: 400, title: Chat }
            events:
              onMessageComplete:
                - { id: again, type: Request, params: { requestId: get_customers } }
      footer:
        blocks: []
api:
  - id: save
    type: Api
    routine: [{ :return: { ok: true } }]
menus:
  - id: default
    links: []
"
    ), @r"
    connections:
      # lowdefy.yaml, line 5
      - id: gpt
        type: OpenAI
        properties:
          apiKey: { _secret: OPENAI_API_KEY }

      # lowdefy.yaml, line 6
      - id: shop
        type: Http
        properties:
          baseURL: https://shop.example.com

    agents:
      # lowdefy.yaml, line 8
      - id: clerk
        type: OpenAIAgent
        connectionId: gpt
        properties:
          model: gpt-5-mini

    pages:
      # lowdefy.yaml, line 15
      - id: chat
        title: Customers
        events:
          onInit:
            - id: request_get_customers
              type: CallEndpoint
              params:
                endpointId: chat/get_customers
                payload:
                  name: { _state: name }
            - type: SetState
              params:
                request_get_customers: { _step: request_get_customers }
            - id: hello
              type: Message
              params:
                content: Hello
                status: info
        blocks:
          - id: name_row
            type: Columns
            properties:
              widths: [8, 16]
            blocks:
              - id: name
                type: TextInput
                properties:
                  label: Name
                  required: true
              - id: plan
                type: Select
                properties:
                  label: Plan
                  options:
                    - small
                    - { label: Large, value: large }
          - id: rows
            type: Table
            properties:
              rows: { _state: request_get_customers.body }
              columns:
                - { key: name, title: Name }
          - id: save
            type: Button
            properties:
              title: Save
              variant: primary
            events:
              onClick:
                - id: check
                  type: Validate
                  params:
                    ids: [name]
                - id: save
                  type: CallEndpoint
                  params:
                    endpointId: save
                    payload:
                      name:
                        _if:
                          test: { _eq: [{ _state: name }, null] }
                          then: nobody
                          else: { _state: name }
                - { type: SetState, params: { api_save: { _step: save } } }
                - id: done
                  type: SetState
                  params:
                    saved: { _step: save.ok }
                - id: go
                  type: Link
                  params:
                    pageId: about
          - id: chat
            type: AgentChat
            properties:
              agentId: clerk
              sharedState:
                name: { _state: name }
              messageDisplay:
                showReasoning: true
              sender:
                header: Be kind.
              display: drawer
              drawer:
                placement: right
                width: 400
                title: Chat
              actions:
                copy: true
                feedback: true
                regenerate: false
                delete: false
                audio: false
            events:
              onMessageComplete:
                - id: request_get_customers
                  type: CallEndpoint
                  params:
                    endpointId: chat/get_customers
                    payload:
                      name: { _state: name }
                - type: SetState
                  params:
                    request_get_customers: { _step: request_get_customers }

      # lowdefy.yaml, line 10
      - id: about
        title: About
        blocks: []

    api:
      # lowdefy.yaml, line 74
      - id: save
        type: Api
        routine:
          - :return:
              ok: true

      # lowdefy.yaml, line 19
      # the request `get_customers` of the page `chat`
      - id: chat/get_customers
        type: Api
        routine:
          - id: get_customers
            type: Http
            connectionId: shop
            properties:
              path: /customers
              query:
                name: { _payload: name }
          - :return: { _step: get_customers }
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    OPENAI_API_KEY=

    lowdefy.yaml:14:27: warning: left out: the block `text` of the type `Html`: there is no block type `Html`
        |
     14 |       - { id: text, type: Html, properties: { html: <b>us</b> } }
        |                           ^^^^
        = help: write the page in Leptos, or embed the chat into a page of your own, see docs/embedding.md

    lowdefy.yaml:17:37: warning: left out: `header` of a page
        |
     17 |     properties: { title: Customers, header: { theme: dark } }
        |                                     ^^^^^^
        = help: a page has a title and blocks; its frame is that of the server

    lowdefy.yaml:28:30: warning: left out: the action `focus` of the type `ScrollTo`: the action type `ScrollTo` is not available in this version
        |
     28 |         - { id: focus, type: ScrollTo, params: { blockId: name } }
        |                              ^^^^^^^^

    lowdefy.yaml:37:13: warning: left out: `style`
        |
     37 |             style: { color: red }
        |             ^^^^^
        = help: the look is that of the server; see docs/embedding.md for CSS variables

    lowdefy.yaml:38:13: warning: left out: `validate`
        |
     38 |             validate: [{ message: no, status: error, pass: { _regex: '^a' } }]
        |             ^^^^^^^^
        = help: use `pattern`, `minLength`, `min` or `max` of the input, or check the value in the endpoint

    lowdefy.yaml:39:40: warning: left out: `properties.size` of the block `name`: there is no key `size` here
        |
     39 |             properties: { title: Name, size: large }
        |                                        ^^^^
        = help: one of `label`, `placeholder`, `initial`, `required`, `disabled`, `minLength`, `maxLength`, `pattern` and `patternMessage`

    lowdefy.yaml:57:39: warning: left out: the action `global` of the type `SetGlobal`: there is no action type `SetGlobal`
        |
     57 |                 - { id: global, type: SetGlobal, params: { saved: true } }
        |                                       ^^^^^^^^^
        = help: write the page in Leptos, or do it in an endpoint

    lowdefy.yaml:65:69: warning: left out: `properties.sender.bogus` of the block `chat`: there is no key `bogus` here
        |
     65 |               sender: { header: { title: Hint, content: Be kind. }, bogus: 1 }
        |                                                                     ^^^^^
        = help: one of `placeholder`, `header`, `submitType`, `whileRunning`, `allowSpeech`, `attachments`, `switches`, `commands` and `mentions`

    lowdefy.yaml:71:7: warning: left out: the blocks of the slot `footer`
        |
     71 |       footer:
        |       ^^^^^^
        = help: move them to `blocks`, or write the page in Leptos

    lowdefy.yaml:77:1: warning: left out: the section `menus`
        |
     77 | menus:
        | ^^^^^
        = help: the first page is the start page; link to others with the action `Link`

    taken over: 2 connections, 1 agent, 2 endpoints, 2 pages; left out: 10; changed: 0
    ");
}

#[test]
fn files_and_references_are_taken_over() {
    let files = [
        (
            "lowdefy.yaml",
            "
agents:
  - _ref: agents/support.yaml
  - _ref: { path: agents/team.yaml, vars: { id: sales, model: demo, extra: { temperature: 0.5 } } }
  - _ref: { path: agents/team.yaml, vars: { id: legal } }
connections:
  - { id: anthropic, type: Anthropic, properties: { apiKey: { _secret: KEY } } }
pages:
  - _ref: { path: pages/made.yaml.njk }
  - _ref: { path: pages/all.yaml, key: first, transformer: add.js }
",
        ),
        (
            "agents/support.yaml",
            "
id: support
type: ClaudeAgent
connectionId: anthropic
properties:
  model: claude-haiku-4-5
  instructions: { _ref: agents/support.md }
",
        ),
        ("agents/support.md", "# Support\n\nYou help.\n"),
        (
            "agents/team.yaml",
            "
id: { _var: id }
type: ClaudeAgent
connectionId: anthropic
properties:
  model: { _var: { key: model, default: claude-haiku-4-5 } }
  temperature: { _var: extra.temperature }
",
        ),
        ("pages/all.yaml", "first: { id: home, type: Box, blocks: [] }"),
    ];
    assert_snapshot!(check(&files), @r"
    agents:
      - { _ref: agents/support.yaml }

      # team.yaml, line 2
      - id: sales
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: demo
          temperature: 0.5

      # team.yaml, line 2
      - id: legal
        type: ClaudeAgent
        connectionId: anthropic
        properties:
          model: claude-haiku-4-5

    connections:
      # lowdefy.yaml, line 7
      - id: anthropic
        type: Anthropic
        properties:
          apiKey: { _secret: KEY }

    pages:
      # all.yaml, line 1
      - id: home
        blocks: []
    --- agents/support.md
    # Support

    You help.
    --- agents/support.yaml
    id: support
    type: ClaudeAgent
    connectionId: anthropic
    properties:
      model: claude-haiku-4-5
      instructions: { _ref: agents/support.md }
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    KEY=

    lowdefy.yaml:9:19: warning: left out: a Nunjucks template
       |
     9 |   - _ref: { path: pages/made.yaml.njk }
       |                   ^^^^^^^^^^^^^^^^^^^
       = help: write the rendered YAML into a file and refer to that

    lowdefy.yaml:10:47: warning: left out: `transformer` of a reference
        |
     10 |   - _ref: { path: pages/all.yaml, key: first, transformer: add.js }
        |                                               ^^^^^^^^^^^
        = help: it is a program; write what it returns into the file

    agents/team.yaml:7:24: warning: left out: the reference to this file passes no variable `extra.temperature`
       |
     7 |   temperature: { _var: extra.temperature }
       |                        ^^^^^^^^^^^^^^^^^

    taken over: 1 connection, 3 agents, 1 page; left out: 3; changed: 0
    ");
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

/// What decides who may do what, and when, never disappears alone.
#[test]
fn owners_of_refused_conditions_are_left_out() {
    assert_snapshot!(check_one(
        "
connections:
  - { id: gpt, type: OpenAI, properties: { apiKey: { _secret: KEY } } }
agents:
  - id: clerk
    type: OpenAIAgent
    connectionId: gpt
    properties: { model: gpt-5-mini, temperature: { _js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
    tools:
      - { endpointId: save, confirm: { _js: code } }
      - save
api:
  - id: save
    description: Saves.
    payloadSchema: { type: object }
    routine: [{ :if: { _js: a }, :then: [{ :return: 1 }] }, { :return: 2 }]
pages:
  - id: home
    blocks:
      - { id: secret, type: Title, visible: { _js: a }, properties: { title: Secret } }
      - { id: shown, type: Title, properties: { title: Shown } }
      - id: go
        type: Button
        properties: { title: Go, disabled: { _js: a } }
        events:
          onClick:
            - { id: ask, type: Confirm, params: {} }
            - { id: save, type: CallAPI, params: { endpointId: save } }
"
    ), @r#"
    connections:
      # lowdefy.yaml, line 3
      - id: gpt
        type: OpenAI
        properties:
          apiKey: { _secret: KEY }

    agents:
      # lowdefy.yaml, line 5
      - id: clerk
        type: OpenAIAgent
        connectionId: gpt
        properties:
          model: gpt-5-mini
        tools: [save]

    api:
      # lowdefy.yaml, line 13
      - id: save
        description: Saves.
        payloadSchema:
          type: object
        routine:
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step :if"
          - :return: 2

    pages:
      # lowdefy.yaml, line 18
      - id: home
        blocks:
          - id: shown
            type: Title
            properties:
              title: Shown
          - id: go
            type: Button
            properties:
              title: Go
            events: {}
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    KEY=

    lowdefy.yaml:8:53: warning: left out: `properties.temperature` of the agent `clerk`: there is no operator `_js`
       |
     8 | …{ model: gpt-5-mini, temperature: { _js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
       |                                      ^^^
       = help: write it as an `_expr`, such as `_expr: state.seats * 2`

    lowdefy.yaml:8:89: warning: left out: `properties.seed` of the agent `clerk`: there is no operator `_js`
       |
     8 | …_js: code }, seed: { _if: { test: { _js: a }, then: 1, else: 2 } } }
       |                                      ^^^
       = help: write it as an `_expr`, such as `_expr: state.seats * 2`

    lowdefy.yaml:10:40: warning: left out: `tools.0` of the agent `clerk`: there is no key `_js` here
        |
     10 |       - { endpointId: save, confirm: { _js: code } }
        |                                        ^^^
        = help: one of `remember` and `expiresAfterSeconds`

    lowdefy.yaml:16:24: warning: left out: the step `:if`: there is no operator `_js`
        |
     16 |     routine: [{ :if: { _js: a }, :then: [{ :return: 1 }] }, { :return: 2 }]
        |                        ^^^
        = help: write it as an `_expr`, such as `_expr: state.seats * 2`

    lowdefy.yaml:20:47: warning: left out: the block `secret` of the type `Title`: there is no operator `_js`
        |
     20 |       - { id: secret, type: Title, visible: { _js: a }, properties: { title: Secret } }
        |                                               ^^^
        = help: write it as an `_expr`, such as `_expr: state.seats * 2`

    lowdefy.yaml:24:46: warning: left out: `properties.disabled` of the block `go`: there is no operator `_js`
        |
     24 |         properties: { title: Go, disabled: { _js: a } }
        |                                              ^^^
        = help: write it as an `_expr`, such as `_expr: state.seats * 2`

    lowdefy.yaml:27:32: warning: left out: the action `ask` of the type `Confirm` of `onClick`, and the 2 after it: there is no action type `Confirm`
        |
     27 |             - { id: ask, type: Confirm, params: {} }
        |                                ^^^^^^^
        = help: write the page in Leptos, or do it in an endpoint

    taken over: 1 connection, 1 agent, 1 endpoint, 1 page; left out: 7; changed: 0
    "#);
}

#[test]
fn unreadable_apps_are_errors() {
    assert_snapshot!(check_one("pages: [\n"), @r"
    lowdefy.yaml:1:9: error: this is not valid YAML: while parsing a node, did not find expected node content
       |
     1 | pages: [
       |         ^
       = help: a value is missing here, or a bracket is not closed
    ");
    assert_snapshot!(check_one("- a\n"), @r"
    lowdefy.yaml:1:1: error: this is not a Lowdefy app: a mapping is expected
       |
     1 | - a
       | ^
    ");
    assert_snapshot!(check(&[("other.yaml", "")]), @r"lowdefy.yaml: error: cannot read this file: there is no such file");
    assert_snapshot!(check_one("pages: { _ref: ../secret.yaml }\nagents: { _ref: /etc/passwd }\napi: { _ref: missing.yaml }"), @r"
    lowdefy.yaml:1:16: error: `../secret.yaml` leaves the app's folder
       |
     1 | pages: { _ref: ../secret.yaml }
       |                ^^^^^^^^^^^^^^
       = help: copy the file into the folder; nothing outside it is read

    lowdefy.yaml:2:17: error: `/etc/passwd` leaves the app's folder
       |
     2 | agents: { _ref: /etc/passwd }
       |                 ^^^^^^^^^^^
       = help: copy the file into the folder; nothing outside it is read

    lowdefy.yaml:3:14: error: cannot read `missing.yaml`: there is no such file
       |
     3 | api: { _ref: missing.yaml }
       |              ^^^^^^^^^^^^
    ");
    assert_snapshot!(check(&[("lowdefy.yaml", "pages: { _ref: a.yaml }"), ("a.yaml", "- { _ref: b.yaml }"), ("b.yaml", "{ _ref: a.yaml }")]), @r"
    b.yaml:1:9: error: `a.yaml` includes itself
       |
     1 | { _ref: a.yaml }
       |         ^^^^^^
       = help: `lowdefy.yaml` → `a.yaml` → `b.yaml` → `a.yaml`
    ");
}

/// Files that include each other twice would double with each level.
#[test]
fn growth_is_bounded() {
    let names: Vec<String> = (0..40).map(|number| format!("{number}.yaml")).collect();
    let texts: Vec<String> =
        (1..=40).map(|next| format!("[{{ _ref: {next}.yaml }}, {{ _ref: {next}.yaml }}]")).collect();
    let mut files = vec![("lowdefy.yaml", "pages: { _ref: 0.yaml }"), ("40.yaml", "[]")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    assert_snapshot!(check(&files), @r"
    29.yaml:1:2: error: lists, mappings and included files nest more than 60 deep
       |
     1 | [{ _ref: 30.yaml }, { _ref: 30.yaml }]
       |  ^
    ");
    let doubling = (1..40).map(|n| {
        format!(
            "{{ a: {{ _var: v }}, b: {{ _ref: {{ path: {n}.yaml, vars: {{ v: [{{ _var: v }}, {{ _var: v }}] }} }} }} }}"
        )
    });
    let texts: Vec<String> = doubling.collect();
    let mut files = vec![("lowdefy.yaml", "pages: { _ref: { path: 0.yaml, vars: { v: [1] } } }"), ("39.yaml", "[]")];
    files.extend(names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())));
    assert_snapshot!(check(&files), @r"
    14.yaml:1:59: error: the app holds more than 200000 values, with all that it includes
       |
     1 | { a: { _var: v }, b: { _ref: { path: 15.yaml, vars: { v: [{ _var: v }, { _var: v }] } } } }
       |                                                           ^
    ");
}
