//! Resources and prompts of the reference server.

use crate::peers::{Peer, everything, node, npm, scope_of};
use contract::ToolSource;
use mcp::{McpFeatures, McpSelection, McpServer, McpSettings, McpSource};
use serde_json::{Value, json};
use std::sync::Arc;

fn peer(features: McpFeatures, prefix: &str) -> Peer {
    let settings = McpSettings { features, ..node(&[&npm("server-everything"), "stdio"]) };
    let selection = McpSelection { prefix: prefix.to_owned(), confirm: true, ..everything() };
    Peer { source: McpSource::new(Arc::new(McpServer::new(settings)), selection).unwrap() }
}

fn with(resources: bool, prompts: bool) -> McpFeatures {
    McpFeatures { resources, prompts, ..McpFeatures::default() }
}

#[tokio::test]
async fn resources_and_prompts_are_offered_if_the_config_says_so() {
    let check = async |features: McpFeatures, prefix: &str, expected: &[&str], has_context: bool| {
        let peer = peer(features.clone(), prefix);
        let sourced = peer.source.tools(&scope_of("ada")).await.unwrap();
        let own = sourced.tools.iter().map(|tool| tool.spec().name.as_str());
        let own: Vec<_> = own
            .filter(|name| name.ends_with("_resources") || name.ends_with("_resource") || name.ends_with("_prompt"))
            .collect();
        assert_eq!(own, expected, "{features:?}");
        assert_eq!(sourced.context.is_some(), has_context, "{features:?}");
    };
    check(with(false, false), "", &[], false).await;
    check(with(true, false), "", &["peer_list_resources", "peer_read_resource"], false).await;
    check(with(true, true), "e-", &["e-list_resources", "e-read_resource", "e-get_prompt"], true).await;
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let peer = peer(with(true, false), "");
    let listed = peer.call("peer_list_resources", json!({})).await.unwrap();
    let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().filter_map(|one| one["uri"].as_str()).collect();
    assert!(uris.iter().any(|uri| uri.contains("features.md")), "{listed}");
    let templates = listed["templates"].to_string();
    assert!(templates.contains("demo://resource/dynamic/text/{resourceId}"), "{templates}");

    let text = peer.call("peer_read_resource", json!({ "uri": "demo://resource/dynamic/text/7" })).await.unwrap();
    assert!(text.as_str().unwrap().contains("Resource 7"), "{text}");
    let binary = peer.call("peer_read_resource", json!({ "uri": "demo://resource/dynamic/blob/7" })).await.unwrap();
    assert!(binary.as_str().unwrap().contains("which cannot be read here"), "{binary}");
    let unknown = peer.call("peer_read_resource", json!({ "uri": "demo://nothing" })).await.unwrap_err();
    assert!(unknown.starts_with("The server refused the call:"), "{unknown}");

    let tools = peer.tools().await.unwrap();
    let spec = |name: &str| tools.iter().find(|tool| tool.spec().name == name).unwrap().spec().clone();
    let (list, read) = (spec("peer_list_resources"), spec("peer_read_resource"));
    assert_eq!(
        (list.needs_approval, read.needs_approval),
        (true, true),
        "both need what calls of its tools need: the model chooses the arguments"
    );
    assert!(list.annotations.returns_untrusted && read.annotations.returns_untrusted);
}

#[tokio::test]
async fn prompts_are_described_and_their_texts_returned() {
    let peer = peer(with(false, true), "e-");
    let context = peer.source.tools(&scope_of("ada")).await.unwrap().context.unwrap();
    assert!(context.contains("- /e-args-prompt(city, state?): A prompt with two arguments"), "{context}");
    let get = async |input: Value| peer.call("e-get_prompt", input).await;
    let city = json!({ "name": "/e-args-prompt", "arguments": { "city": "Oslo" } });
    assert_eq!(get(city).await.unwrap(), "What's weather in Oslo?");
    let missing = get(json!({ "name": "args-prompt" })).await.unwrap_err();
    assert!(missing.starts_with("The server refused the call:") && missing.contains("city"), "{missing}");
}
