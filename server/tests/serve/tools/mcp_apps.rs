//! User interfaces of MCP servers: which are shown, what they may reach, and how they call tools.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use insta::assert_snapshot;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server with two MCP servers that have apps, and one whose apps are not shown.
struct Apps {
    server: Server,
    _folder: TempDir,
}

impl Apps {
    async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let csp = json!({
            "connectDomains": ["https://api.example.com", "https://evil.example", "https://x.example; script-src *"],
            "resourceDomains": ["https://img.cdn.example"],
        });
        let pages = json!({
            "plain": { "html": "<p>plain</p>" },
            "wide": { "html": "<p>wide</p>", "csp": csp.clone() },
            "listed": { "html": "<p>listed</p>", "csp": csp, "listed": true },
        });
        let file = folder.path().join("apps.json");
        std::fs::write(&file, pages.to_string()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/mcp/apps.mjs");
        let (model, file) = (start_provider().await, file.display());
        let config = format!(
            "
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}
  - id: apps
    type: Mcp
    properties:
      command: node
      args: ['{script}', '{file}']
      resources: true
      apps: {{ domains: ['https://api.example.com', 'https://*.cdn.example'] }}
  - {{ id: other, type: Mcp, properties: {{ command: node, args: ['{script}', '{file}'], apps: true }} }}
  - {{ id: silent, type: Mcp, properties: {{ command: node, args: ['{script}', '{file}'] }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m }}
    policy: {{ rules: [{{ tools: [a_pay, a_read_resource], action: ask }}] }}
    mcp:
      - {{ connectionId: apps, prefix: a_, deny: [fail] }}
      - {{ connectionId: other, prefix: b_ }}
      - {{ connectionId: silent, prefix: c_ }}
pages: [{{ id: demo, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
        );
        std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
        let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
        Self { server, _folder: folder }
    }

    /// Has the model call a tool. Returns the chunk with its result, and the id and content of the part with its app.
    async fn ask(&self, conversation: &str, text: &str) -> (Value, Option<(String, Value)>) {
        let sent = self.server.message_to("demo/helper", conversation, text).send().await.unwrap();
        let received = chunks(sent).await;
        let of = |kind: &str| received.iter().find(|chunk| chunk["type"] == kind).cloned();
        let ended = received.iter().find(|chunk| {
            ["tool-output", "tool-input-error"]
                .iter()
                .any(|kind| chunk["type"].as_str().unwrap_or_default().starts_with(kind))
        });
        let app = of("data-mcp-app").map(|part| (part["id"].as_str().unwrap().to_owned(), part["data"].clone()));
        (ended.cloned().unwrap_or_else(|| panic!("{received:?}")), app)
    }

    async fn get(&self, path: &str) -> Response {
        self.server.request(Method::GET, path).send().await.unwrap()
    }

    /// Calls a tool for an app, or reads a resource if `app` ends with `/resource`.
    async fn call(&self, app: &str, body: Value) -> Value {
        let path = format!("/api/tool-apps/{app}");
        let answer = self.server.request(Method::POST, &path).json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        let answer: Value = answer.json().await.unwrap();
        if status == 200 { answer } else { json!([status, answer["error"]["code"]]) }
    }
}

#[tokio::test]
async fn apps_are_shown_with_their_result_and_the_domains_that_are_declared_and_allowed() {
    let apps = Apps::start().await;
    let (result, shown) = apps.ask("c1", r#"a_show_wide {"text":"hello"}"#).await;
    assert_eq!(result["output"]["calls"], json!(["show_wide"]));
    let extensions = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } });
    assert_eq!(result["output"]["extensions"], extensions);
    let (id, data) = shown.unwrap();
    assert_eq!(data["input"], json!({ "text": "hello" }));
    assert_eq!(data["result"]["content"][0]["text"], "show_wide: hello");
    assert_eq!(data["result"]["_meta"], json!({ "hidden": "for the app" }));

    let page = apps.get(&format!("/mcp-apps/c1/{id}")).await;
    assert_eq!((page.status().as_u16(), page.headers()["cache-control"].to_str().unwrap()), (200, "no-store"));
    let page = page.text().await.unwrap();
    assert!(page.contains("show_wide: hello") && page.contains(&format!("/mcp-apps/c1/{id}/frame")), "{page}");
    assert!(page.contains(r#""readsResources":true"#), "{page}");

    let check = async |path: &str, html: &str, expected: [&str; 3]| {
        let frame = apps.get(path).await;
        assert_eq!(frame.status(), 200, "{path}");
        let policy = frame.headers()["content-security-policy"].to_str().unwrap().to_owned();
        let seen = ["connect-src", "script-src", "frame-src"].map(|name| {
            let directive = policy.split("; ").find(|directive| directive.starts_with(name)).unwrap();
            directive.strip_prefix(name).unwrap().trim().to_owned()
        });
        assert_eq!(seen, expected, "{path}");
        assert!(policy.starts_with("sandbox allow-scripts; default-src 'none'"), "{policy}");
        assert!(frame.headers()["permissions-policy"].to_str().unwrap().starts_with("camera=()"));
        assert!(frame.text().await.unwrap().contains(html));
    };
    let allowed = ["https://api.example.com", "'unsafe-inline' https://img.cdn.example", "'none'"];
    check(&format!("/mcp-apps/c1/{id}/frame"), "<p>wide<\\/p>", allowed).await;
    // The content declares nothing, the list of resources does.
    let (_, shown) = apps.ask("c4", "a_show_listed {}").await;
    check(&format!("/mcp-apps/c4/{}/frame", shown.unwrap().0), "<p>listed<\\/p>", allowed).await;
    // The other connection allows nothing.
    let (_, shown) = apps.ask("c2", "b_show_wide {}").await;
    let (other, _) = shown.unwrap();
    check(&format!("/mcp-apps/c2/{other}/frame"), "<p>wide<\\/p>", ["'none'", "'unsafe-inline'", "'none'"]).await;

    // Without the key, the server does not know of it, and nothing is shown.
    let (result, shown) = apps.ask("c3", "c_show_plain {}").await;
    assert!(shown.is_none() && result["output"]["extensions"].is_null(), "{result}");
    for path in [format!("/mcp-apps/c2/{id}x"), format!("/mcp-apps/c2/{id}x/frame"), format!("/mcp-apps/none/{id}")] {
        assert_eq!(apps.get(&path).await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn apps_call_tools_of_their_server_through_the_gates_of_the_agent() {
    let apps = Apps::start().await;
    // Models do not have the tools of apps.
    let (hidden, _) = apps.ask("c0", "a_refresh {}").await;
    assert!(hidden["errorText"].as_str().unwrap().contains("There is no tool"), "{hidden}");
    let (_, shown) = apps.ask("c1", "a_show_plain {}").await;
    let app = format!("c1/{}", shown.unwrap().0);

    let done = apps.call(&app, json!({ "tool": "refresh", "arguments": { "text": "now" } })).await;
    assert_eq!(done["status"], "done", "{done}");
    assert_eq!(done["result"]["content"][0]["text"], "refresh: now");
    assert_eq!(done["result"]["_meta"]["hidden"], "for the app");

    let refused = async |body: Value| {
        let answer = apps.call(&app, body).await;
        assert_eq!(answer["status"], "failed", "{answer}");
        answer["message"].as_str().unwrap().to_owned()
    };
    assert_snapshot!(refused(json!({ "tool": "for_models" })).await, @"Apps cannot call the tool `for_models`.");
    assert_snapshot!(refused(json!({ "tool": "fail" })).await, @"Apps cannot call the tool `fail`.");
    assert_snapshot!(refused(json!({ "tool": "b_refresh" })).await, @"`apps` has no tool `b_refresh` any more.");
    let unfit = refused(json!({ "tool": "refresh", "arguments": { "text": 1 } })).await;
    assert!(unfit.starts_with("The arguments do not fit: /text: "), "{unfit}");
    let unknown = apps.call(&app, json!({ "tool": "refresh", "approved": true })).await;
    assert!(matches!(unknown[0].as_u64(), Some(400 | 422)), "{unknown}");
    assert_eq!(apps.call("c0/none", json!({ "tool": "refresh" })).await[0], 404);

    // A tool that needs an approval waits for the user's decision, about the tool that they were asked about.
    let pay = |decision: Option<(bool, &str)>| {
        let decision =
            decision.map(|(approved, fingerprint)| json!({ "approved": approved, "fingerprint": fingerprint }));
        apps.call(&app, json!({ "tool": "pay", "arguments": { "text": "10" }, "decision": decision }))
    };
    let asked = pay(None).await;
    assert_eq!(asked["status"], "needsApproval", "{asked}");
    let fingerprint = asked["fingerprint"].as_str().unwrap();
    assert_eq!(pay(Some((true, "another tool"))).await, asked);
    assert_eq!(pay(Some((false, fingerprint))).await["message"], "The user denied the call.");
    let paid = pay(Some((true, fingerprint))).await;
    assert_eq!(paid["result"]["content"][0]["text"], "pay: 10", "{paid}");
    let calls = json!(["show_plain", "refresh", "pay"]);
    assert_eq!(paid["result"]["structuredContent"]["calls"], calls, "nothing else has reached the server");

    // All calls that ended are in the audit log, in the conversation.
    let log = apps.get("/api/admin/audit?conversation=c1").await.text().await.unwrap();
    let log: Value = serde_json::from_str(&log).unwrap();
    let rows = log["items"].as_array().unwrap_or_else(|| panic!("{log}"));
    let has = |tool: &str, gate: &str| {
        rows.iter().any(|row| row["tool"] == tool && row["gates"].to_string().to_lowercase().contains(gate))
    };
    assert!(has("a_refresh", "") && has("a_pay", "approved") && has("a_pay", "denied"), "{log}");
    assert!(!has("a_for_models", "") && !has("a_fail", ""), "{log}");
}

#[tokio::test]
async fn apps_read_resources_of_their_server_where_the_connection_has_them() {
    let apps = Apps::start().await;
    let (_, shown) = apps.ask("c1", "a_show_plain {}").await;
    let resource = format!("c1/{}/resource", shown.unwrap().0);
    let read = |decision: Option<(bool, &str)>| {
        let decision =
            decision.map(|(approved, fingerprint)| json!({ "approved": approved, "fingerprint": fingerprint }));
        apps.call(&resource, json!({ "uri": "note://1", "decision": decision }))
    };
    // The policy of the agent holds for apps.
    let asked = read(None).await;
    assert_eq!(asked["status"], "needsApproval", "{asked}");
    let fingerprint = asked["fingerprint"].as_str().unwrap();
    assert_eq!(read(Some((false, fingerprint))).await["message"], "The user denied the call.");
    let note = json!({ "contents": [{ "uri": "note://1", "mimeType": "text/plain", "text": "a note" }] });
    assert_eq!(read(Some((true, fingerprint))).await, json!({ "status": "done", "result": note }));
    let unfit = apps.call(&resource, json!({ "uri": "" })).await;
    assert!(unfit["message"].as_str().unwrap().starts_with("The arguments do not fit: /uri: "), "{unfit}");

    let log = apps.get("/api/admin/audit?conversation=c1").await.text().await.unwrap();
    let log: Value = serde_json::from_str(&log).unwrap();
    let gates = |gate: &str| {
        let rows = log["items"].as_array().into_iter().flatten().filter(|row| row["tool"] == "a_read_resource");
        rows.filter(|row| row["gates"].to_string().to_lowercase().contains(gate)).count()
    };
    assert_eq!((gates("approved"), gates("denied")), (1, 1), "{log}");

    // The other connection has no resources.
    let (_, shown) = apps.ask("c2", "b_show_plain {}").await;
    let id = shown.unwrap().0;
    let refused = apps.call(&format!("c2/{id}/resource"), json!({ "uri": "note://1" })).await;
    assert_snapshot!(refused["message"].as_str().unwrap(), @"Apps cannot read resources of `other`.");
    let page = apps.get(&format!("/mcp-apps/c2/{id}")).await.text().await.unwrap();
    assert!(page.contains(r#""readsResources":false"#), "{page}");
    assert_eq!(apps.call("c2/none/resource", json!({ "uri": "note://1" })).await[0], 404);
}
