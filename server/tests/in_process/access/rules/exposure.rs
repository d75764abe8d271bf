//! The annotations of tools decide when a call needs approval.

use crate::access::*;

/// Returns whether an agent whose tool has these annotations needs approval for its first call, and
/// for the second one a turn later.
async fn approval_requests(marks: &str) -> [bool; 2] {
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
        let (status, stream) = call_route(&routes, &ada, send("p", "a", "c", "Search for refunds")).await;
        assert!(status == 200 && stream.contains(r#""toolName":"search_it""#), "{stream}");
        *asked = stream.contains("tool-approval-request");
        let exposed = r#""exposed":{"private":"search_it","untrusted":"search_it"}"#;
        assert_eq!(*asked, stream.contains(exposed), "{stream}");
    }
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn egress_needs_approval_after_private_and_untrusted_data() {
    let check =
        async |marks: &str, expected: [bool; 2]| assert_eq!(approval_requests(marks).await, expected, "{marks}");
    check("", [false, false]).await;
    check(", readsPrivate: true, returnsUntrusted: true", [false, false]).await;
    check(", readsPrivate: true, egress: true", [false, false]).await;
    check(", readsPrivate: true, returnsUntrusted: true, egress: true", [false, true]).await;
}
