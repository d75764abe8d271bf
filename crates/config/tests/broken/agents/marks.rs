//! Tests of tool annotations: their defaults, and the warnings about missing ones.

use crate::check;
use insta::assert_snapshot;

/// Returns the diagnostics for an agent with these lists of tools, and endpoints that query a
/// database, call an HTTP service, and do both through other endpoints.
fn agent(lists: &str) -> String {
    check(&format!(
        "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: kb, type: Sql, properties: {{ url: 'sqlite::memory:' }} }}
  - {{ id: web, type: Http, properties: {{ baseURL: 'https://example.com' }} }}
  - {{ id: far, type: Mcp, properties: {{ url: 'https://mcp.example.com/mcp' }} }}
  - {{ id: near, type: Mcp, properties: {{ command: npx, args: [x] }} }}
api:
  - {{ id: customers, description: d, payloadSchema: {{ type: object }}, routine: [{{ id: q, type: SqlQuery, connectionId: kb, properties: {{ query: select 1 }} }}] }}
  - {{ id: page, description: d, payloadSchema: {{ type: object }}, routine: [{{ id: h, type: Http, connectionId: web, properties: {{ path: /x }} }}] }}
  - {{ id: both, description: d, payloadSchema: {{ type: object }}, routine: [{{ ':try': [{{ id: c, type: CallEndpoint, properties: {{ endpointId: page }} }}], ':catch': [{{ id: d, type: CallEndpoint, properties: {{ endpointId: customers }} }}] }}] }}
agents:
  - {{ id: b, type: Agent, connectionId: demo, properties: {{ model: m }}, tools: [customers] }}
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: m }}
{lists}"
    ))
}

#[test]
fn agents_that_could_leak_private_data_cause_a_warning() {
    // One of the three conditions is missing, `egress` is set, or calls need approval anyway.
    for lists in [
        "    tools: [customers]\n",
        "    tools: [page]\n",
        "    mcp: [near]\n",
        "    mcp: [far]\n",
        "    tools: [customers, { endpointId: page, egress: true }]\n",
        "    tools: [customers, { endpointId: page, egress: false }]\n",
        "    tools: [customers, { endpointId: page, confirm: true }]\n",
        "    tools: [{ endpointId: customers, readsPrivate: false }, page]\n",
        "    tools: [customers, { endpointId: page, returnsUntrusted: false }]\n",
        "    tools: [customers]\n    mcp: [{ connectionId: far, egress: ['send_*'] }]\n",
    ] {
        assert_eq!(agent(lists).trim(), "accepted", "{lists}");
    }
    assert_snapshot!(agent("    tools: [customers, page]\n"), @"
    accepted
    chatwright.yaml:13:9: warning: the agent `a` reads private data (`customers`) and text from outside (`page`), which may talk it into sending the data away with `page`
        |
     13 |   - id: a
        |         ^
        = help: say there `egress: true`, so that the user is asked once it has read both, or `egress: false`
    ");
    assert_snapshot!(agent("    tools: [both]\n"), @"
    accepted
    chatwright.yaml:13:9: warning: the agent `a` reads private data (`both`) and text from outside (`both`), which may talk it into sending the data away with `both`
        |
     13 |   - id: a
        |         ^
        = help: say there `egress: true`, so that the user is asked once it has read both, or `egress: false`
    ");
    assert_snapshot!(agent("    agents: [b]\n    mcp: [far, { connectionId: near, readsPrivate: ['get_*'] }]\n"), @"
    accepted
    chatwright.yaml:13:9: warning: the agent `a` reads private data (`near`, `customers`) and text from outside (`far`, `near`), which may talk it into sending the data away with `far`
        |
     13 |   - id: a
        |         ^
        = help: say there `egress: true`, so that the user is asked once it has read both, or `egress: false`
    ");
}

#[test]
fn invalid_annotations_are_rejected() {
    assert_snapshot!(agent("    mcp: [{ connectionId: far, egress: ['send_['] }]\n"), @"
    refused
    chatwright.yaml:17:40: error: this is not a pattern: unclosed character class; missing ']'
        |
     17 |     mcp: [{ connectionId: far, egress: ['send_['] }]
        |                                        ^
    ");
    assert_snapshot!(agent("    tools: [{ endpointId: page, egres: true }]\n"), @"
    refused
    chatwright.yaml:17:33: error: there is no key `egres` here
        |
     17 |     tools: [{ endpointId: page, egres: true }]
        |                                 ^^^^^
        = help: did you mean `egress`?
    ");
    assert_snapshot!(agent("    tools: [{ endpointId: page, egress: [a] }]\n"), @"
    refused
    chatwright.yaml:17:41: error: expected true or false, found a list
        |
     17 |     tools: [{ endpointId: page, egress: [a] }]
        |                                         ^
    ");
}
