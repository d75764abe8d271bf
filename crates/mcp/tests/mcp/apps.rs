//! User interfaces of tools, with an example server of the specification.

use crate::peers::{Peer, context, node, npm, scope_of};
use contract::{CallReport, CallReports, RunScope, ToolContext, ToolSource};
use mcp::{McpFeatures, McpSettings};
use serde_json::{Value, json};
use settings::mcp::McpApps;
use tokio::sync::mpsc;

fn server(package: &str, apps: bool) -> McpSettings {
    let apps = apps.then(McpApps::default);
    McpSettings { features: McpFeatures { apps, ..McpFeatures::default() }, ..node(&[&npm(package), "--stdio"]) }
}

/// Calls a tool as the model or the app does. Returns the result, and what is shown of it.
async fn called(peer: &Peer, tool: &str, for_app: bool) -> (Value, Option<Value>) {
    let (sender, mut reports) = mpsc::channel(8);
    let context = ToolContext { reports: CallReports::new("call", sender), ..context() };
    let scope = RunScope { for_app, ..scope_of("ada") };
    let tools = peer.source.tools(&scope).await.unwrap().tools;
    let tool = tools.iter().find(|known| known.spec().name == tool).unwrap();
    let result = tool.call(json!({}), context).await.unwrap();
    let shown = reports.recv().await.map(|(id, report)| match report {
        CallReport::App { data } => {
            assert_eq!(id, "call");
            data
        }
        other => panic!("{other:?}"),
    });
    (result, shown)
}

#[tokio::test]
async fn a_result_is_shown_as_its_server_sent_it_if_apps_are_shown() {
    let peer = Peer::new(server("server-basic-vanillajs", true));
    let (result, shown) = called(&peer, "get-time", false).await;
    let shown = shown.unwrap();
    assert_eq!(shown["result"]["structuredContent"], result, "the model reads the data only");
    assert_eq!(shown["result"]["content"][0]["text"], result["time"]);
    let kept = (&shown["server"], &shown["tool"], &shown["title"], &shown["input"]);
    assert_eq!(kept, (&json!("peer"), &json!("get-time"), &json!("Get Time"), &json!({})));
    let (again, shown) = called(&peer, "get-time", true).await;
    assert!(again["structuredContent"]["time"].is_string() && shown.is_none(), "{again}");

    let (result, shown) = called(&Peer::new(server("server-basic-vanillajs", false)), "get-time", false).await;
    assert!(result["time"].is_string() && shown.is_none());
}
