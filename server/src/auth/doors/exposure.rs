//! What the config says of a tool decides whether the user is asked (A29).

use super::*;

/// Of an agent whose tool has these marks: whether the user is asked before the first call, and before the second one, a turn later.
async fn asked(marks: &str) -> [bool; 2] {
    let schema = "{ type: object, properties: { query: { type: string } } }";
    let routes = serve(&format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}]
api: [{{ id: e, description: Search, payloadSchema: {schema}, routine: [{{ ':return': found }}] }}]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: demo }}
    tools: [{{ endpointId: e, name: search_it{marks} }}]
pages: [{{ id: p }}]
"
    ))
    .await;
    let ada = caller(("ada", true, &[]));
    let mut asked = [false; 2];
    for asked in &mut asked {
        let (status, stream) = knock(&routes, &ada, send("p", "a", "c", "Search for refunds")).await;
        assert!(status == 200 && stream.contains(r#""toolName":"search_it""#), "{stream}");
        *asked = stream.contains("tool-approval-request");
        let exposed = r#""exposed":{"private":"search_it","untrusted":"search_it"}"#;
        assert_eq!(*asked, stream.contains(exposed), "{stream}");
    }
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_send_asks_after_both_were_read() {
    let check = async |marks: &str, expected: [bool; 2]| assert_eq!(asked(marks).await, expected, "{marks}");
    check("", [false, false]).await;
    check(", readsPrivate: true, returnsUntrusted: true", [false, false]).await;
    check(", readsPrivate: true, egress: true", [false, false]).await;
    check(", readsPrivate: true, returnsUntrusted: true, egress: true", [false, true]).await;
}
