use crate::check;
use crate::pages::page;
use insta::assert_snapshot;

#[test]
fn unknown_events_are_rejected() {
    assert_snapshot!(check(&page("      - { id: a, type: TextInput, events: { onChnage: [] } }
      - { id: b, type: Title, properties: { title: B }, events: { onClick: [] } }
      - { id: c, type: Button, properties: { title: C }, events: { onClick: { type: Reset } } }
      - { id: d, type: AgentChat, properties: { agentId: helper }, events: { onSwitchChange: [], onFinish: [] } }
      - { id: e, type: Button, properties: { title: E }, events: [onClick] }
")), @"
    refused
    chatwright.yaml:6:45: error: a block of the type TextInput has no event `onChnage`
       |
     6 |       - { id: a, type: TextInput, events: { onChnage: [] } }
       |                                             ^^^^^^^^
       = help: did you mean `onChange`?

    chatwright.yaml:7:67: error: a block of the type Title has no event `onClick`
       |
     7 |       - { id: b, type: Title, properties: { title: B }, events: { onClick: [] } }
       |                                                                   ^^^^^^^

    chatwright.yaml:8:77: error: expected a list of actions, found a mapping
       |
     8 |       - { id: c, type: Button, properties: { title: C }, events: { onClick: { type: Reset } } }
       |                                                                             ^
       = help: start the line with `- ` to make it a list of one

    chatwright.yaml:9:98: error: a block of the type AgentChat has no event `onFinish`
       |
     9 | …er }, events: { onSwitchChange: [], onFinish: [] } }
       |                                      ^^^^^^^^
       = help: one of `onBeforeSend`, `onConversationStart`, `onUserMessage`, `onMessageComplete`, `onToolCall`, `onToolResult`, `onError`, `onStop`, `onRegenerate`, `onEditMessage`, `onDeleteMessage`, `onFeedback`, `onSuggestionClick`, `onSwitchChange`, `onTitleGenerated`, `onDataPart` and `onLinkClick`

    chatwright.yaml:10:66: error: expected a mapping of events, found a list
        |
     10 |       - { id: e, type: Button, properties: { title: E }, events: [onClick] }
        |                                                                  ^
    ");
}

#[test]
fn invalid_actions_are_rejected() {
    assert_snapshot!(check(&page("      - { id: name, type: TextInput }
      - { id: chat, type: AgentChat, properties: { agentId: helper } }
      - id: go
        type: Button
        properties: { title: Go }
        events:
          onClick:
            - { type: SetStat, params: {} }
            - { type: CallEndpoint, params: { endpointId: serch } }
            - { type: CallEndpoint }
            - { id: one, type: Validate, params: { ids: [nmae] } }
            - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
            - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
            - { type: CallMethod, params: { blockId: chat, method: setMessage } }
            - { type: Link, params: { pageId: q } }
            - { type: Link, params: { url: 'javascript:alert(1)' } }
            - { type: Link }
            - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
            - { type: Request, params: {} }
            - { type: Message, params: { content: { _secret: KEY } }, try: [] }
")), @"
    refused
    chatwright.yaml:13:23: error: there is no action type `SetStat`
        |
     13 |             - { type: SetStat, params: {} }
        |                       ^^^^^^^
        = help: did you mean `SetState`?

    chatwright.yaml:14:59: error: there is no endpoint `serch`
        |
     14 |             - { type: CallEndpoint, params: { endpointId: serch } }
        |                                                           ^^^^^
        = help: declare it in the section `api`

    chatwright.yaml:15:15: error: `params` is missing here
        |
     15 |             - { type: CallEndpoint }
        |               ^
        = help: `params` holds `endpointId`

    chatwright.yaml:16:58: error: no input on this page has the id `nmae`
        |
     16 |             - { id: one, type: Validate, params: { ids: [nmae] } }
        |                                                          ^^^^
        = help: did you mean `name`?

    chatwright.yaml:17:21: error: there are two actions with the id `one` in this list
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                     ^^^

    chatwright.yaml:17:67: error: no action before this one has the id `two`
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                                                                   ^^^
        = help: the only one is `one`

    chatwright.yaml:17:74: error: the key `__proto__` is refused: it can change every object in a browser
        |
     17 |             - { id: one, type: SetState, params: { name: { _step: two }, __proto__: 1 } }
        |                                                                          ^^^^^^^^^

    chatwright.yaml:18:54: error: no chat on this page has the id `chatt`
        |
     18 |             - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
        |                                                      ^^^^^
        = help: did you mean `chat`?

    chatwright.yaml:18:69: error: a chat has no method `sendMesage`
        |
     18 |             - { type: CallMethod, params: { blockId: chatt, method: sendMesage } }
        |                                                                     ^^^^^^^^^^
        = help: did you mean `sendMessage`?

    chatwright.yaml:19:68: error: a chat has no method `setMessage`
        |
     19 |             - { type: CallMethod, params: { blockId: chat, method: setMessage } }
        |                                                                    ^^^^^^^^^^
        = help: did you mean `setMessages`?

    chatwright.yaml:20:47: error: there is no page `q`
        |
     20 |             - { type: Link, params: { pageId: q } }
        |                                               ^
        = help: the only one is `p`

    chatwright.yaml:21:44: error: a link cannot lead there
        |
     21 |             - { type: Link, params: { url: 'javascript:alert(1)' } }
        |                                            ^^^^^^^^^^^^^^^^^^^^^^
        = help: use `https:`, `http:`, `mailto:`, or a path that starts with `/`

    chatwright.yaml:22:15: error: a link leads to one place
        |
     22 |             - { type: Link }
        |               ^
        = help: give it a `pageId` or a `url`

    chatwright.yaml:23:63: error: there is no status `loud`
        |
     23 |             - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
        |                                                               ^^^^
        = help: one of `info`, `success`, `warning` and `error`

    chatwright.yaml:23:79: error: expected a number between 1 and 60, found the number 0
        |
     23 |             - { type: Message, params: { content: Hi, status: loud, duration: 0 } }
        |                                                                               ^

    chatwright.yaml:24:23: error: the action type `Request` is not available in this version
        |
     24 |             - { type: Request, params: {} }
        |                       ^^^^^^^

    chatwright.yaml:25:53: error: a secret has no place here
        |
     25 |             - { type: Message, params: { content: { _secret: KEY } }, try: [] }
        |                                                     ^^^^^^^
        = help: secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise

    chatwright.yaml:25:71: error: `try` is not available in this version
        |
     25 |             - { type: Message, params: { content: { _secret: KEY } }, try: [] }
        |                                                                       ^^^
    ");
}
