//! Request rates per user and address, behind a proxy on the same machine.

use crate::process::Server;
use reqwest::{Method, Response};
use serde_json::{Value, json};

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo }, auth: public }]
api: [{ id: hello, auth: public, routine: [{ ':return': { hello: true } }] }]
pages: [{ id: p, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
auth: { mode: password, publicUrls: ['https://chat.test'], openSignUp: true }
limits:
  trustedProxies: [127.0.0.1]
  rates:
    - { of: chat, per: address, requests: 2, seconds: 3600 }
    - { of: endpoints, per: address, requests: 3, seconds: 3600 }
    - { of: signIn, per: address, requests: 1, seconds: 3600 }
";

fn retry_after(response: &Response) -> Option<u32> {
    response.headers().get("retry-after")?.to_str().ok()?.parse().ok()
}

#[tokio::test]
async fn requests_over_the_rate_get_429_with_retry_after() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let call = async |from: Option<&str>| {
        let request = server.request(Method::POST, "/api/endpoints/p/hello").json(&json!({}));
        let request = from.into_iter().fold(request, |request, from| request.header("x-forwarded-for", from));
        request.send().await.unwrap()
    };
    let ada = Some("203.0.113.9, 198.51.100.1");
    for _ in 0..3 {
        assert_eq!(call(ada).await.status(), 200, "within the rate");
    }
    let refused = call(ada).await;
    assert_eq!(refused.status(), 429);
    assert!(retry_after(&refused).is_some_and(|seconds| (1000..=1201).contains(&seconds)), "{refused:?}");
    let error_body: Value = refused.json().await.unwrap();
    assert_eq!(
        (&error_body["error"]["code"], error_body["error"]["retryAfter"].is_u64()),
        (&json!("rate_limited"), true)
    );
    // Addresses that the client adds itself are ignored, other addresses have their own count, and
    // requests from the machine itself are not limited.
    assert_eq!(call(Some("192.0.2.7, 198.51.100.1")).await.status(), 429);
    assert_eq!(call(Some("198.51.100.2")).await.status(), 200);
    for _ in 0..5 {
        assert_eq!(call(None).await.status(), 200);
    }

    let say = async |id: &str| {
        let message = json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "Hello" }] });
        let body = json!({ "id": "c", "trigger": "submit-message", "messages": [message] });
        let request = server.request(Method::POST, &format!("/api/agent/p/helper?conversationId={id}")).json(&body);
        request.header("x-forwarded-for", "198.51.100.1").send().await.unwrap().status().as_u16()
    };
    assert_eq!([say("m1").await, say("m2").await, say("m3").await], [200, 200, 429]);

    // Users of forms get a page instead of JSON.
    let sign_in = async || {
        let request = server.request(Method::POST, "/auth/sign-in").body("name=ada&password=several+words");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.header("x-forwarded-for", "198.51.100.1").send().await.unwrap()
    };
    assert_eq!(sign_in().await.status(), 401);
    let refused = sign_in().await;
    assert_eq!((refused.status().as_u16(), retry_after(&refused).is_some()), (429, true));
    assert!(refused.text().await.unwrap().contains("Wait for a moment"));
    // Opening the form does not count as an attempt.
    let form = server.request(Method::GET, "/auth/sign-in").header("x-forwarded-for", "198.51.100.1");
    assert_ne!(form.send().await.unwrap().status(), 429);
}

/// Proxies write addresses with ports and in brackets. Clients whose address cannot be read are
/// counted, too.
#[tokio::test]
async fn clients_are_counted_in_every_format_of_forwarded_addresses() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let call = async |from: &str| {
        let request = server.request(Method::POST, "/api/endpoints/p/hello").json(&json!({}));
        request.header("x-forwarded-for", from).send().await.unwrap().status().as_u16()
    };
    let ready = async || server.request(Method::GET, "/readyz").send().await.unwrap().text().await.unwrap();
    // One client with several ports, one IPv6 network, and clients that cannot be distinguished.
    for forms in [
        ["203.0.113.1:5555", "203.0.113.1:5556", "203.0.113.1", "\"203.0.113.1:1\""],
        ["[2001:db8::1]:5555", "2001:db8::2", "\"[2001:db8::3]:1\"", "[2001:db8::4]"],
        ["unknown", "", "_hidden", "203.0.113.1, unknown"],
    ] {
        if forms[0] == "unknown" {
            assert_eq!(ready().await, "ready");
        }
        let mut statuses = Vec::new();
        for form in forms {
            statuses.push(call(form).await);
        }
        assert_eq!(statuses, [200, 200, 200, 429], "{forms:?}");
    }
    assert!(ready().await.starts_with("ready\nwarning: a trusted proxy sends"), "{}", ready().await);
}

/// The other platform is one user. Requests with a wrong key do not use up its rate.
#[tokio::test]
async fn remote_agent_platform_counts_as_one_user() {
    const SERVED: &str = "
api: [{ id: hello, description: Says hello., payloadSchema: { type: object }, routine: [{ ':return': hello }] }]
pages: [{ id: p }]
serveAsRemoteAgent: { endpoints: [hello], apiKey: { _secret: AGENT_KEY } }
limits: { rates: [{ of: endpoints, per: user, requests: 2, seconds: 3600 }] }
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), SERVED).unwrap();
    let server = Server::start_with_env(&[("AGENT_KEY", "key-1")], &["--config", folder.path().to_str().unwrap()]);
    let call = async |key: &str| {
        let request = server.request(Method::POST, "/remote-agent/tools/hello").header("x-api-key", key);
        request.send().await.unwrap()
    };
    for _ in 0..5 {
        assert_eq!(call("key-2").await.status(), 401);
    }
    assert_eq!([call("key-1").await.status(), call("key-1").await.status()], [200, 200]);
    let refused = call("key-1").await;
    assert_eq!(refused.status(), 429);
    assert!(retry_after(&refused).is_some_and(|seconds| (1700..=1801).contains(&seconds)), "{refused:?}");
    // The error has the format of the remote-agent contract.
    let error_body: Value = refused.json().await.unwrap();
    assert_eq!((&error_body["success"], &error_body["error"]["code"]), (&json!(false), &json!(429)));
    // Listing the tools is not limited.
    let list = server.request(Method::GET, "/remote-agent/tools").header("x-api-key", "key-1");
    assert_eq!(list.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn openapi_document_is_public() {
    let server = Server::start();
    let document: Value = server.request(Method::GET, "/api/openapi.json").send().await.unwrap().json().await.unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/api/conversations/{id}"]["patch"]["requestBody"].is_object());
}
