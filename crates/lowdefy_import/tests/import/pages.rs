//! Pages: blocks, events, requests.

use crate::check_sections;
use insta::assert_snapshot;

#[test]
fn pages_are_taken_over() {
    assert_snapshot!(check_sections(
        &["pages", "api"],
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
                header:
                  title: Hint
                  content: Be kind.
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

    lowdefy.yaml:48:61: warning: left out: `width` of a column
        |
     48 |               columnDefs: [{ field: name, headerName: Name, width: 100 }]
        |                                                             ^^^^^
        = help: a column has a key and a title

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

    taken over: 2 connections, 1 agent, 2 endpoints, 2 pages; left out: 11; changed: 0
    ");
}
