//! The first config of `docs/projects.md`, with projects, their members and their conversations.

use crate::access::*;
use auth::{AuthMethod, Credentials};
use axum::Extension;
use futures::StreamExt;
use std::io::Cursor;
use std::time::Duration;
use store::NewUser;
use web::RequestContext;
use zip::ZipArchive;

/// Returns the config.
fn config() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/projects.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    // Callers of these tests are made without accounts.
    let begin = config.find("connections:").unwrap();
    config[begin..].to_owned()
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

/// Returns the status and the names of the files of an archive.
async fn archive(routes: &Router, who: &Caller, path: &str) -> (u16, Vec<String>) {
    let request = Request::builder().uri(path).extension(who.clone()).body(Body::empty()).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let mut names = Vec::new();
    if let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes.to_vec())) {
        for index in 0..archive.len() {
            names.push(archive.by_index(index).unwrap().name().unwrap().into_owned());
        }
    }
    (status, names)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_a_project_is_moved_and_exported_with_its_conversations() {
    let routes = serve(&config()).await;
    let (ada, bob) = (caller(("ada", true, &[])), caller(("bob", true, &[])));
    let (_, project) = ask(&routes, &ada, Method::POST, ALL, Some(json!({ "name": "Sales" }))).await;
    let (_, inner) = ask(&routes, &ada, Method::POST, "/api/folders", Some(json!({ "name": "May" }))).await;
    let (outer, inner) = (project["folderId"].as_str().unwrap(), inner["id"].as_str().unwrap());
    for (id, folder) in [("c", outer), ("d", inner)] {
        assert_eq!(call_route(&routes, &ada, send("home", "helper", id, "Hello")).await.0, 200);
        let place = Some(json!({ "folderId": folder }));
        assert_eq!(ask(&routes, &ada, Method::PATCH, &format!("/api/conversations/{id}"), place).await.0, 204);
    }
    let place = async |who: &Caller, id: &str, parent: Value| {
        let body = Some(json!({ "parentId": parent }));
        ask(&routes, who, Method::PUT, &format!("/api/folders/{id}/parent"), body).await.0
    };
    assert_eq!(place(&bob, inner, json!(outer)).await, 404);
    assert_eq!(place(&ada, inner, json!(outer)).await, 204);
    assert_eq!(place(&ada, outer, json!(inner)).await, 422);
    let (_, folders) = ask(&routes, &ada, Method::GET, "/api/folders", None).await;
    let parents: Vec<_> = folders["items"].as_array().unwrap().iter().map(|folder| &folder["parentId"]).collect();
    assert_eq!(parents, [&json!(outer), &Value::Null], "{folders}");

    let export = format!("/api/folders/{outer}/export");
    assert_eq!(archive(&routes, &bob, &export).await.0, 404);
    let names =
        ["Sales/0001 Hello.json", "Sales/0001 Hello.md", "Sales/May/0002 Hello.json", "Sales/May/0002 Hello.md"];
    assert_eq!(archive(&routes, &ada, &export).await, (200, names.map(str::to_owned).to_vec()));
    // A user downloads two archives at a time.
    let download = async || {
        let request = Request::builder().uri(export.as_str()).extension(ada.clone()).body(Body::empty()).unwrap();
        routes.clone().oneshot(request).await.unwrap()
    };
    let (first, second) = (download().await, download().await);
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    let refused = download().await;
    let retry_after = refused.headers()[header::RETRY_AFTER].to_str().unwrap();
    assert_eq!((refused.status().as_u16(), retry_after), (429, "10"));
    drop(first);
    assert_eq!(archive(&routes, &ada, &export).await.0, 200);
    let (_, lines) = call_route(&routes, &ada, get(format!("{ALL}/{}/export", project["id"].as_str().unwrap()))).await;
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert_eq!(ask(&routes, &ada, Method::DELETE, &format!("/api/folders/{outer}"), None).await.0, 204);
    let (_, folders) = ask(&routes, &ada, Method::GET, "/api/folders", None).await;
    assert_eq!((&folders["items"][0]["id"], folders["items"][0].get("parentId")), (&json!(inner), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_that_move_in_the_list_during_a_download_are_in_it() {
    let routes = serve(&config()).await;
    let ada = caller(("ada", true, &[]));
    let (_, project) = ask(&routes, &ada, Method::POST, ALL, Some(json!({ "name": "Sales" }))).await;
    assert_eq!(call_route(&routes, &ada, send("home", "helper", "c", "Hello")).await.0, 200);
    let (_, exported) = ask(&routes, &ada, Method::GET, "/api/conversations/c/export", None).await;
    // One more than a page of the list has.
    let mut ids = Vec::new();
    for _ in 0..101 {
        let (status, imported) = ask(&routes, &ada, Method::POST, "/api/conversations", Some(exported.clone())).await;
        assert_eq!(status, 201, "{imported}");
        let path = format!("/api/conversations/{}", imported["id"].as_str().unwrap());
        let place = Some(json!({ "folderId": project["folderId"] }));
        assert_eq!(ask(&routes, &ada, Method::PATCH, &path, place).await.0, 204);
        ids.push(path);
    }
    let folder = format!("/api/folders/{}/export", project["folderId"].as_str().unwrap());
    let project = format!("{ALL}/{}/export", project["id"].as_str().unwrap());
    for (path, oldest) in [(folder, &ids[0]), (project, &ids[1])] {
        let request = Request::builder().uri(&path).extension(ada.clone()).body(Body::empty()).unwrap();
        let mut frames = routes.clone().oneshot(request).await.unwrap().into_body().into_data_stream();
        let mut bytes = Vec::new();
        // The project begins with its settings.
        for _ in 0..2 {
            bytes.extend_from_slice(&frames.next().await.unwrap().unwrap());
        }
        // From the last page of the list to the first one, which was read already.
        assert_eq!(ask(&routes, &ada, Method::PATCH, oldest, Some(json!({ "pinned": true }))).await.0, 204);
        while let Some(frame) = frames.next().await {
            bytes.extend_from_slice(&frame.unwrap());
        }
        let count = match ZipArchive::new(Cursor::new(&bytes)) {
            Ok(archive) => archive.len() / 2,
            Err(_) => String::from_utf8_lossy(&bytes).lines().count() - 1,
        };
        assert_eq!(count, 101, "{path}");
    }
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

/// Sends a file as a form does.
async fn upload(routes: &Router, who: &Caller, path: &str, name: &str, text: &str) -> u16 {
    let head = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n");
    let body = format!("--part\r\n{head}\r\n{text}\r\n--part--\r\n");
    let request = Request::post(path).header(header::CONTENT_TYPE, "multipart/form-data; boundary=part");
    let request = request.extension(who.clone()).body(Body::from(body)).unwrap();
    routes.clone().oneshot(request).await.unwrap().status().as_u16()
}

/// Serves the config with accounts of Bob, Cid and Dan, whose requests come from a browser, and reads documents.
async fn serve_with_users() -> Router {
    let server = open(&config()).await;
    for name in ["bob", "cid", "dan"] {
        let [id, name, name_key] = [name; 3].map(str::to_owned);
        let (password, must_change_password, roles) = (String::new(), false, Vec::new());
        let user = NewUser { id, name, name_key, password, must_change_password, roles, now: 0 };
        server.store().add_user(user, false, None).await.unwrap();
    }
    server.start_background_work();
    // Pages of an account are only for people who have signed in.
    server.caller_routes().layer(Extension(RequestContext {
        credentials: Credentials::from_request(&Request::new(Body::empty())),
        auth_method: AuthMethod::Primary,
        is_https: false,
        address: None,
        audit_address: None,
        has_sign_in: false,
    }))
}

/// Waits until a library has so many documents.
async fn settled(routes: &Router, who: &Caller, library: &str, count: u32) {
    for _ in 0..1_500 {
        let (_, found) = ask(routes, who, Method::GET, library, None).await;
        if found["documents"]["ready"] == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the documents are not read");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_project_are_for_its_members() {
    let routes = serve_with_users().await;
    let [ada, bob, cid, dan, eve] = ["ada", "bob", "cid", "dan", "eve"].map(|name| caller((name, true, &[])));
    let boss = caller(("boss", true, &["admin"]));
    let (_, made) = ask(&routes, &ada, Method::POST, ALL, Some(json!({ "name": "Sales" }))).await;
    let id = made["id"].as_str().unwrap();
    let (path, page, library) =
        (format!("{ALL}/{id}"), format!("/account/projects/{id}"), format!("/api/libraries/{id}"));
    for (name, role) in [("bob", "editor"), ("cid", "viewer"), ("dan", "editor")] {
        let member = Some(json!({ "name": name, "role": role }));
        assert_eq!(ask(&routes, &ada, Method::POST, &format!("{path}/members"), member).await.0, 201);
    }
    let check = async |who: &Caller, method: Method, path: &str, body: Option<Value>, expected: u16| {
        let (status, answer) = ask(&routes, who, method.clone(), path, body).await;
        assert_eq!(status, expected, "{} {method} {path}: {answer}", who.user_id);
        answer
    };

    // The first file creates the library, through the API or with the form of the page.
    let documents = format!("{library}/documents");
    let form = format!("{page}/files");
    check(&ada, Method::GET, &library, None, 404).await;
    for (who, path, expected) in [
        (&cid, &documents, 403),
        (&cid, &form, 403),
        (&eve, &documents, 404),
        (&eve, &form, 404),
        (&boss, &documents, 404),
        (&bob, &documents, 202),
        (&dan, &form, 303),
    ] {
        let name = format!("{}.md", who.user_id);
        let text = if name == "dan.md" { "Umbrellas are sold on Sundays." } else { "The pumps run at night." };
        let status = upload(&routes, who, path, &name, text).await;
        assert_eq!(status, expected, "{} {path}", who.user_id);
    }
    settled(&routes, &cid, &library, 2).await;

    let list = check(&ada, Method::GET, &documents, None, 200).await;
    let document = format!("/api/documents/{}", list["items"][0]["id"].as_str().unwrap());
    let search = || Some(json!({ "query": "pumps" }));
    let several = || Some(json!({ "query": "pumps", "libraries": [id] }));
    let everything = async |who: &Caller, expected: u16| {
        for rest in ["", "/text", "/chunks", "/file", "?conversationId=c"] {
            check(who, Method::GET, &format!("{document}{rest}"), None, expected).await;
        }
        for rest in ["", "/documents", "/changes"] {
            check(who, Method::GET, &format!("{library}{rest}"), None, expected).await;
        }
        check(who, Method::POST, &format!("{library}/search"), search(), expected).await;
        check(who, Method::POST, "/api/search", several(), expected).await;
        let all = check(who, Method::GET, "/api/libraries", None, 200).await;
        assert_eq!(all.to_string().contains(id), expected == 200, "{} {all}", who.user_id);
    };
    for (who, expected) in [(&ada, 200), (&bob, 200), (&cid, 200), (&dan, 200), (&eve, 404), (&boss, 404)] {
        everything(who, expected).await;
    }

    // The page shows the files; the form is for those who may change the project.
    for (who, may_change) in [(&ada, true), (&bob, true), (&cid, false)] {
        let shown = check(who, Method::GET, &page, None, 200).await.to_string();
        assert!(shown.contains("bob.md") && shown.contains("dan.md"), "{shown}");
        assert_eq!(shown.contains("multipart/form-data"), may_change, "{shown}");
    }
    let hidden = check(&eve, Method::GET, &page, None, 404).await.to_string();
    assert!(hidden.contains("Page not found"), "{hidden}");
    let roles = || Some(json!({ "readers": ["staff"] }));
    for (who, of_document, of_library) in [(&cid, 403, 403), (&eve, 404, 404), (&boss, 404, 404)] {
        check(who, Method::DELETE, &document, None, of_document).await;
        check(who, Method::DELETE, &library, None, of_library).await;
        check(who, Method::PATCH, &library, roles(), of_library).await;
    }
    check(&bob, Method::DELETE, &library, None, 403).await;
    check(&ada, Method::PATCH, &library, roles(), 403).await;

    // Its conversations search it, and no others.
    let begun = check(&cid, Method::POST, &format!("{path}/conversations"), Some(json!({})), 201).await;
    for (conversation, is_found) in [(begun["id"].as_str().unwrap(), true), ("elsewhere", false)] {
        let question = send("home", "helper", conversation, "Tell me about the pumps");
        assert_eq!(call_route(&routes, &cid, question).await.0, 200);
        let view = check(&cid, Method::GET, &format!("/api/conversations/{conversation}"), None, 200).await;
        assert_eq!(view.to_string().contains("bob.md"), is_found, "{view}");
    }

    // Who is not in it any more reads nothing, and their files stay.
    check(&ada, Method::DELETE, &format!("{path}/members/bob"), None, 204).await;
    check(&cid, Method::DELETE, &format!("{path}/members/cid"), None, 204).await;
    everything(&bob, 404).await;
    everything(&cid, 404).await;
    let cited = format!("{document}?conversationId={}", begun["id"].as_str().unwrap());
    check(&cid, Method::GET, &cited, None, 404).await;
    assert_eq!(upload(&routes, &bob, &documents, "late.md", "Too late.").await, 404);
    everything(&dan, 200).await;

    // Files are deleted one by one, and with the project.
    let file = list["items"][1]["id"].as_str().unwrap();
    let delete = format!("{form}/{file}/delete");
    check(&eve, Method::POST, &delete, None, 404).await;
    check(&dan, Method::POST, &delete, None, 303).await;
    check(&dan, Method::GET, &format!("/api/documents/{file}"), None, 404).await;
    check(&ada, Method::DELETE, &path, None, 204).await;
    everything(&ada, 404).await;
    everything(&dan, 404).await;
}
