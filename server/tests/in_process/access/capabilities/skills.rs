//! The routes for skills: users read those of their agents, administrators see and change all.

use crate::access::{call_route, caller, get, open, post};
use auth::password::KeyScope;
use auth::{AuthMethod, Credentials};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use tempfile::TempDir;
use tower::ServiceExt;
use web::RequestContext;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MEMBER: (&str, bool, &[&str]) = ("ada", true, &[]);
const EDITOR: (&str, bool, &[&str]) = ("bob", true, &["editor"]);
const VISITOR: (&str, bool, &[&str]) = ("nobody", false, &[]);
const ADMIN: (&str, bool, &[&str]) = ("eve", true, &["admin"]);

async fn routes(folder: &TempDir) -> Router {
    for name in ["greet", "order"] {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let skill = format!("---\nname: {name}\ndescription: Use it to {name}.\n---\nDo it.\n");
        std::fs::write(path.join("SKILL.md"), skill).unwrap();
    }
    let agent = "type: Agent, connectionId: demo, properties: { model: demo }";
    let server = open(&format!(
        "
connections: [{{ id: demo, type: Demo }}]
skills: {{ folders: ['{}'] }}
agents:
  - {{ id: open, {agent}, skills: [greet, installed], auth: public }}
  - {{ id: editors, {agent}, skills: all, auth: {{ roles: [editor] }} }}
pages: [{{ id: p }}]
",
        folder.path().display()
    ))
    .await;
    server.caller_routes()
}

async fn call(routes: &Router, who: (&str, bool, &[&str]), path: &str) -> (u16, Value) {
    let (status, body) = call_route(routes, &caller(who), get(path.to_owned())).await;
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// Returns the names of the skills that a caller sees.
async fn names(routes: &Router, who: (&str, bool, &[&str])) -> Vec<String> {
    let (status, body) = call(routes, who, "/api/skills").await;
    assert_eq!(status, 200, "{body}");
    let skills = body["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| format!("{}{}", skill["name"].as_str().unwrap(), if skill["enabled"] == true { "" } else { "-" }))
        .collect()
}

async fn change(routes: &Router, who: (&str, bool, &[&str]), name: &str, body: Value) -> u16 {
    let request = crate::access::TestRequest { method: Method::PUT, ..post(format!("/api/skills/{name}"), body) };
    call_route(routes, &caller(who), request).await.0
}

async fn install(routes: &Router, who: (&str, bool, &[&str])) -> (u16, Value) {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("SKILL.md", SimpleFileOptions::default()).unwrap();
    archive.write_all(b"---\nname: installed\ndescription: Use it.\n---\nDo it.\n").unwrap();
    let body = Body::from(archive.finish().unwrap().into_inner());
    let request = Request::post("/api/skills/install").extension(caller(who)).body(body).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn users_read_the_skills_of_their_agents_and_administrators_change_all() {
    let folder = TempDir::new().unwrap();
    let routes = routes(&folder).await;
    assert_eq!(names(&routes, VISITOR).await, ["greet"]);
    assert_eq!(names(&routes, MEMBER).await, ["greet"]);
    assert_eq!(names(&routes, EDITOR).await, ["greet", "order"]);
    let (status, skill) = call(&routes, MEMBER, "/api/skills/greet").await;
    let expected = json!({ "name": "greet", "description": "Use it to greet.", "category": "public", "enabled": true });
    assert_eq!((status, skill), (200, expected));
    assert_eq!(call(&routes, MEMBER, "/api/skills/order").await.0, 404);

    for who in [VISITOR, MEMBER, EDITOR] {
        assert_eq!(install(&routes, who).await.0, 404);
        assert_eq!(change(&routes, who, "greet", json!({ "enabled": false })).await, 404);
    }
    let (status, installed) = install(&routes, ADMIN).await;
    assert_eq!((status, &installed["success"], &installed["skill_name"]), (201, &json!(true), &json!("installed")));
    assert_eq!(install(&routes, ADMIN).await.0, 409);
    assert_eq!(names(&routes, ADMIN).await, ["greet", "installed-", "order"]);
    assert_eq!(names(&routes, MEMBER).await, ["greet"]);
    assert_eq!(call(&routes, MEMBER, "/api/skills/installed").await.0, 404);

    let digest = call(&routes, ADMIN, "/api/skills/installed").await.1["digest"].clone();
    let stale = json!({ "enabled": true, "digest": "0".repeat(64) });
    assert_eq!(change(&routes, ADMIN, "installed", stale).await, 409);
    assert_eq!(change(&routes, ADMIN, "installed", json!({ "enabled": true })).await, 422);
    assert_eq!(names(&routes, ADMIN).await, ["greet", "installed-", "order"]);
    assert_eq!(change(&routes, ADMIN, "installed", json!({ "enabled": true, "digest": digest })).await, 200);
    assert_eq!(names(&routes, MEMBER).await, ["greet", "installed"]);
    assert_eq!(call(&routes, MEMBER, "/api/skills/installed").await.1.get("digest"), None);
    assert_eq!(change(&routes, ADMIN, "installed", json!({ "enabled": false })).await, 200);
    assert_eq!(names(&routes, MEMBER).await, ["greet"]);
    assert_eq!(change(&routes, ADMIN, "installed", json!({ "enabled": 1 })).await, 422);
    assert_eq!(change(&routes, ADMIN, "none", json!({ "enabled": false })).await, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_of_folders_are_switched_off_and_on_for_all_agents() {
    let folder = TempDir::new().unwrap();
    let routes = routes(&folder).await;
    let switch = async |who, name: &str, enabled: bool| {
        let path = format!("/api/admin/skills/{name}/folder");
        let body = json!({ "enabled": enabled });
        let request = crate::access::TestRequest { method: Method::PUT, ..post(path, body) };
        call_route(&routes, &caller(who), request).await.0
    };
    for who in [VISITOR, MEMBER, EDITOR] {
        assert_eq!(switch(who, "greet", false).await, 404);
    }
    assert_eq!(switch(ADMIN, "greet", false).await, 200);
    assert_eq!(switch(ADMIN, "greet", false).await, 200);
    assert_eq!(switch(ADMIN, "none", false).await, 404);
    assert_eq!(names(&routes, MEMBER).await, [""; 0]);
    assert_eq!(names(&routes, EDITOR).await, ["order"]);
    assert_eq!(names(&routes, ADMIN).await, ["greet-", "order"]);
    let (status, page) = call_route(&routes, &caller(ADMIN), get("/admin/skills/greet/folder".to_owned())).await;
    assert!(status == 200 && page.contains("disabled") && page.contains("Do it."), "{page}");
    let form = Request::post("/admin/skills/greet/folder").extension(caller(ADMIN));
    let form = form.header("content-type", "application/x-www-form-urlencoded").body(Body::from("enabled=true"));
    assert_eq!(routes.clone().oneshot(form.unwrap()).await.unwrap().status(), 303);
    assert_eq!(names(&routes, MEMBER).await, ["greet"]);
    // The shorter route does the same.
    assert_eq!(change(&routes, ADMIN, "order", json!({ "enabled": false })).await, 200);
    assert_eq!(names(&routes, EDITOR).await, ["greet"]);
    assert_eq!(change(&routes, ADMIN, "order", json!({ "enabled": true })).await, 200);
    assert_eq!(names(&routes, EDITOR).await, ["greet", "order"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_exported_as_archives_of_the_standard_form() {
    let folder = TempDir::new().unwrap();
    let routes = routes(&folder).await;
    install(&routes, ADMIN).await;
    let export = async |who, path: &str| {
        let request = Request::get(path).extension(caller(who)).body(Body::empty()).unwrap();
        let response = routes.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let mut files = Vec::new();
        if let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes.to_vec())) {
            for index in 0..archive.len() {
                files.push(archive.by_index(index).unwrap().name().unwrap().into_owned());
            }
        }
        files.sort();
        (status, files)
    };
    let check = async |path: &str, expected: (u16, &[&str])| {
        let (status, files) = export(ADMIN, path).await;
        assert_eq!(
            (status, files.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected.0, expected.1.to_vec()),
            "{path}"
        );
        assert_eq!(export(MEMBER, path).await.0, 404, "{path}");
    };
    check("/api/admin/skills/installed/export", (200, &["installed/SKILL.md"])).await;
    check("/api/admin/skills/greet/export", (200, &["greet/SKILL.md"])).await;
    check("/admin/skills/greet/export?origin=folder", (200, &["greet/SKILL.md"])).await;
    check("/admin/skills/installed/export?origin=installed", (200, &["installed/SKILL.md"])).await;
    check("/api/admin/skills/greet/export?origin=installed", (404, &[])).await;
    check("/api/admin/skills/none/export", (404, &[])).await;
    // An archive has at most 500 files; none is left out silently.
    for number in 0..500 {
        std::fs::write(folder.path().join(format!("greet/{number}.md")), "x").unwrap();
    }
    check("/api/admin/skills/greet/export", (413, &[])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_without_the_console_shows_an_administrator_what_users_see() {
    let folder = TempDir::new().unwrap();
    let routes = routes(&folder).await;
    install(&routes, ADMIN).await;
    let check = async |auth_method: AuthMethod, expected: &[&str]| {
        let mut request = Request::get("/api/skills").extension(caller(ADMIN)).body(Body::empty()).unwrap();
        let credentials = Credentials::from_request(&request);
        request.extensions_mut().insert(RequestContext {
            credentials,
            auth_method,
            is_https: true,
            address: None,
            audit_address: None,
            has_sign_in: false,
        });
        let response = routes.clone().oneshot(request).await.unwrap();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let skills = body["skills"].as_array().unwrap().iter();
        assert_eq!(skills.map(|skill| skill["name"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    };
    // Her role is none of those of the agent that has all skills.
    check(AuthMethod::Key(vec![KeyScope::Agents]), &["greet"]).await;
    check(AuthMethod::Site, &["greet"]).await;
    check(AuthMethod::Key(vec![KeyScope::Agents, KeyScope::Admin]), &["greet", "installed", "order"]).await;
    check(AuthMethod::Primary, &["greet", "installed", "order"]).await;
}
