//! The first config of `docs/projects.md`, with projects, their members and their conversations.

use crate::access::*;

/// Returns the config.
fn config() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/projects.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    // Callers of these tests are made without accounts.
    let begin = config.find("connections:").unwrap();
    config[begin..].to_owned()
}

async fn ask(routes: &Router, who: &Caller, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    let (status, body) = call_route(routes, who, TestRequest { method, path: path.to_owned(), body }).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

const ALL: &str = "/api/projects";

#[tokio::test(flavor = "multi_thread")]
async fn projects_are_seen_and_changed_by_their_members() {
    let routes = serve(&config()).await;
    let (ada, bob) = (caller(("ada", true, &[])), caller(("bob", true, &[])));
    let (boss, visitor) = (caller(("boss", true, &["admin"])), caller(("visitor", false, &[])));
    let sent = json!({ "name": "Sales", "color": "green", "instructions": "Briefly.", "libraries": ["house"] });
    let (status, made) = ask(&routes, &ada, Method::POST, ALL, Some(sent.clone())).await;
    assert_eq!((status, &made["role"], &made["version"]), (201, &json!("owner"), &json!(1)), "{made}");
    let path = format!("{ALL}/{}", made["id"].as_str().unwrap());
    assert_eq!(ask(&routes, &visitor, Method::POST, ALL, Some(sent)).await.0, 401);

    // The folder of the project in the list of folders.
    let (_, folders) = ask(&routes, &ada, Method::GET, "/api/folders", None).await;
    let folder = &folders["items"][0];
    let link = format!("/account/projects/folder/{}", made["folderId"].as_str().unwrap());
    assert_eq!((&folder["color"], &folder["count"], &folder["settings"]), (&json!("green"), &json!(0), &json!(link)));

    let check = async |who: &Caller, method: Method, path: &str, body: Option<Value>, expected: u16| {
        let (status, answer) = ask(&routes, who, method.clone(), path, body).await;
        assert_eq!(status, expected, "{} {method} {path}: {answer}", who.user_id);
        answer
    };
    let change = |version: u32, libraries: Value| {
        Some(json!({ "name": "Sales", "instructions": "At length.", "libraries": libraries, "version": version }))
    };
    for (who, expected) in [(&bob, 404), (&boss, 404), (&visitor, 401)] {
        check(who, Method::GET, &path, None, expected).await;
        check(who, Method::PUT, &path, change(1, json!([])), expected).await;
        check(who, Method::DELETE, &path, None, expected).await;
        check(who, Method::GET, &format!("{path}/export"), None, expected).await;
        check(who, Method::POST, &format!("{path}/conversations"), Some(json!({})), expected).await;
        check(who, Method::DELETE, &format!("{path}/members/ada"), None, expected).await;
    }
    check(&ada, Method::PUT, &path, change(1, json!(["nothing"])), 422).await;
    check(&ada, Method::PUT, &path, change(2, json!(["house"])), 409).await;
    check(&ada, Method::PUT, &path, change(1, json!(["house"])), 200).await;
    check(&ada, Method::PUT, &path, Some(json!({ "name": "Sales" })), 422).await;
    check(&ada, Method::DELETE, &format!("{path}/members/ada"), None, 409).await;
    let member = |name: &str, role: &str| Some(json!({ "name": name, "role": role }));
    check(&ada, Method::POST, &format!("{path}/members"), member("nobody", "viewer"), 422).await;
    check(&ada, Method::POST, &format!("{path}/members"), member("bob", "owner"), 422).await;

    let order = |ids: Value| Some(json!({ "ids": ids }));
    check(&bob, Method::PUT, "/api/folders/order", order(json!([made["folderId"]])), 404).await;
    check(&ada, Method::PUT, "/api/folders/order", order(json!([made["folderId"], made["folderId"]])), 422).await;
    check(&ada, Method::PUT, "/api/folders/order", order(json!([made["folderId"]])), 204).await;
    let own = check(&ada, Method::GET, &format!("{ALL}?sort=own"), None, 200).await;
    assert_eq!(own["items"][0]["id"], made["id"]);

    let (_, log) = ask(&routes, &boss, Method::GET, "/api/admin/audit?user=ada", None).await;
    for action in ["projects:create", "projects:change"] {
        assert!(log.to_string().contains(action), "{action}: {log}");
    }
    assert!(!log.to_string().contains("At length"), "{log}");
    check(&ada, Method::DELETE, &path, None, 204).await;
    check(&ada, Method::GET, &path, None, 404).await;
    let (_, folders) = ask(&routes, &ada, Method::GET, "/api/folders", None).await;
    assert_eq!((&folders["items"][0]["name"], &folders["items"][0]["color"]), (&json!("Sales"), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_of_a_project_reads_its_instructions_and_libraries() {
    let routes = serve(&config()).await;
    let (ada, bob) = (caller(("ada", true, &[])), caller(("bob", true, &[])));
    let sent = json!({ "name": "Sales", "instructions": "Answer in French.", "libraries": ["house"] });
    let (_, made) = ask(&routes, &ada, Method::POST, ALL, Some(sent)).await;
    let path = format!("{ALL}/{}", made["id"].as_str().unwrap());
    let begin = format!("{path}/conversations");
    assert_eq!(ask(&routes, &ada, Method::POST, &begin, Some(json!({ "agentId": "nothing" }))).await.0, 404);
    let (status, begun) = ask(&routes, &ada, Method::POST, &begin, Some(json!({}))).await;
    assert_eq!((status, &begun["agentId"], &begun["pageId"]), (201, &json!("helper"), &json!("home")), "{begun}");
    let (_, again) = ask(&routes, &ada, Method::POST, &begin, Some(json!({}))).await;
    assert_eq!(again, begun, "one that has no message is used again");
    let id = begun["id"].as_str().unwrap();
    let conversation = format!("/api/conversations/{id}");
    let (_, view) = ask(&routes, &ada, Method::GET, &conversation, None).await;
    assert_eq!((&view["folderId"], &view["messages"]), (&made["folderId"], &json!([])), "{view}");
    assert_eq!(ask(&routes, &bob, Method::GET, &conversation, None).await.0, 404);

    let send = format!("/api/agent/home/helper?conversationId={id}");
    let message =
        json!({ "messages": [{ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Hello" }] }] });
    assert_eq!(ask(&routes, &ada, Method::POST, &send, Some(message)).await.0, 200);
    let (_, view) = ask(&routes, &ada, Method::GET, &conversation, None).await;
    assert_eq!(view["title"], "Hello", "{view}");
    let (_, list) = ask(&routes, &ada, Method::GET, &format!("{ALL}?sort=count"), None).await;
    assert_eq!((&list["items"][0]["conversations"], &list["items"][0]["members"]), (&json!(1), &json!(1)));
    let (_, log) =
        ask(&routes, &caller(("boss", true, &["admin"])), Method::GET, "/api/admin/audit?user=ada", None).await;
    assert!(log.to_string().contains("projects:tell"), "{log}");

    let (status, file) = ask(&routes, &ada, Method::GET, &format!("{path}/export"), None).await;
    let file = file.as_str().unwrap_or_default().to_owned();
    let lines: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, lines.len()), (200, 2), "{file}");
    assert_eq!((&lines[0]["name"], &lines[1]["title"]), (&json!("Sales"), &json!("Hello")));
    assert_eq!(ask(&routes, &ada, Method::POST, "/api/conversations", Some(lines[1].clone())).await.0, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_section_there_are_no_projects() {
    let routes = serve(&config().replacen("projects: {}\n", "", 1)).await;
    let ada = caller(("ada", true, &[]));
    for (method, body) in [(Method::GET, None), (Method::POST, Some(json!({ "name": "Sales" })))] {
        assert_eq!(ask(&routes, &ada, method, ALL, body).await.0, 404);
    }
    let (status, folder) = ask(&routes, &ada, Method::POST, "/api/folders", Some(json!({ "name": "Work" }))).await;
    assert_eq!((status, folder.get("settings")), (201, None), "{folder}");
}
