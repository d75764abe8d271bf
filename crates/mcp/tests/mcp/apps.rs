//! User interfaces of tools, with example servers of the specification.

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

/// Calls a tool without arguments as the model or the app does. Returns the result, and what is shown of it.
async fn called(peer: &Peer, tool: &str, for_app: bool) -> (Value, Option<Value>) {
    called_with(peer, tool, json!({}), for_app).await
}

async fn called_with(peer: &Peer, tool: &str, input: Value, for_app: bool) -> (Value, Option<Value>) {
    let (sender, mut reports) = mpsc::channel(8);
    let context = ToolContext { reports: CallReports::new("call", sender), ..context() };
    let scope = RunScope { for_app, ..scope_of("ada") };
    let tools = peer.source.tools(&scope).await.unwrap().tools;
    let tool = tools.iter().find(|known| known.spec().name == tool).unwrap();
    let result = tool.call(input, context).await.unwrap();
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

#[tokio::test]
async fn tools_for_apps_only_are_for_apps_only() {
    let check = async |package: &str, expected: [&[&str]; 2]| {
        let peer = Peer::new(server(package, true));
        for (for_app, expected) in [false, true].into_iter().zip(expected) {
            let tools = peer.source.tools(&RunScope { for_app, ..scope_of("ada") }).await.unwrap().tools;
            let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
            assert_eq!(names, expected, "{package}, for an app: {for_app}");
        }
    };
    check("server-debug", [&["debug-tool"], &["debug-log", "debug-refresh", "debug-tool"]]).await;
    check("server-system-monitor", [&["get-system-info"], &["get-system-info", "poll-system-stats"]]).await;
    check("server-cohort-heatmap", [&["get-cohort-data"], &["get-cohort-data"]]).await;
}

#[tokio::test]
async fn pictures_and_data_of_a_result_reach_the_app_as_they_are() {
    let peer = Peer::new(server("server-debug", true));
    let input = json!({ "contentType": "image", "includeMeta": true, "multipleBlocks": false });
    let (result, shown) = called_with(&peer, "debug-tool", input.clone(), false).await;
    let shown = shown.unwrap();
    assert_eq!((&shown["input"], &shown["title"]), (&input, &json!("Debug Tool")));
    let sent = &shown["result"];
    assert_eq!(
        (&sent["content"][0]["type"], sent["content"].as_array().unwrap().len()),
        (&json!("image"), 1),
        "{sent}"
    );
    assert_eq!(result["content"][0]["data"], sent["content"][0]["data"]);
    assert!(sent["structuredContent"]["counter"].is_number() && sent["_meta"].is_object(), "{sent}");
    // A result that is an error is shown as other tools' are.
    let failed = json!({ "simulateError": true });
    let tools = peer.tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool.spec().name == "debug-tool").unwrap();
    let (sender, mut reports) = mpsc::channel(8);
    let context = ToolContext { reports: CallReports::new("call", sender), ..context() };
    assert!(tool.call(failed, context).await.is_err() && reports.recv().await.is_none());
}
