//! Keys of programs where users are kept elsewhere.

use crate::callers::{Host, folder, serve, status, told};
use crate::process::Server;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

fn by(request: RequestBuilder, token: &str) -> RequestBuilder {
    request.header(AUTHORIZATION, format!("Bearer {token}"))
}

fn me(server: &Server) -> RequestBuilder {
    server.ask(Method::POST, "/api/endpoints/closed/me").json(&json!({}))
}

fn keys(server: &Server) -> RequestBuilder {
    server.ask(Method::GET, "/api/keys")
}

fn new_key(server: &Server, scopes: &[&str]) -> RequestBuilder {
    let body = json!({ "name": "nightly", "scopes": scopes, "expiresInDays": 7 });
    server.ask(Method::POST, "/api/keys").json(&body)
}

/// The id and the text of a key that was made.
async fn made(request: RequestBuilder) -> (String, String) {
    let (status, key) = told(request).await;
    assert_eq!(status, 201, "{key}");
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

#[tokio::test]
async fn of_users_who_come_with_tokens() {
    let host = Host::new();
    let (server, _folder) = serve(&host.auth());
    let (ada, bob) = (host.token("ada", "chat", 60), host.token("bob", "chat", 60));
    assert_eq!(status(new_key(&server, &["endpoints"])).await, 401, "nobody has keys");
    let (id, key) = made(by(new_key(&server, &["endpoints"]), &ada)).await;
    let user = |roles: &[&str]| json!({ "id": "ada", "name": "Ada", "roles": roles });
    assert_eq!(told(by(me(&server), &key)).await, (200, user(&["editor"])));
    assert_eq!(told(me(&server).header("x-api-key", &key)).await, (200, user(&["editor"])));
    // It opens what it is for, and makes no key.
    for path in ["/api/conversations", "/api/keys", "/auth/account", "/"] {
        assert_eq!(status(by(server.ask(Method::GET, path), &key)).await, 403, "{path}");
    }
    assert_eq!(status(by(new_key(&server, &["agents"]), &key)).await, 403);
    // Two users, two keys, and what is no key.
    assert_eq!(status(by(me(&server), &bob).header("x-api-key", &key)).await, 400);
    let (_, other) = made(by(new_key(&server, &["endpoints"]), &ada)).await;
    assert_eq!(status(by(me(&server), &key).header("x-api-key", &other)).await, 400);
    assert_eq!(status(by(me(&server), "cw_wrong")).await, 401);
    // With both, he has what the key is for.
    assert_eq!(status(by(server.ask(Method::GET, "/api/conversations"), &ada).header("x-api-key", &key)).await, 403);

    // Another user sees nothing of it.
    let delete = |token: &str| by(server.ask(Method::DELETE, &format!("/api/keys/{id}")), token);
    assert_eq!(told(by(keys(&server), &bob)).await, (200, json!([])));
    assert_eq!(status(delete(&bob)).await, 404);
    let (_, listed) = told(by(keys(&server), &ada)).await;
    assert!(listed.to_string().contains(&id) && !listed.to_string().contains(&key), "{listed}");

    // A role that he had no longer when he came again is none of his key's either.
    let less = host.token_of(("ada", &["reader"]), "chat", 60);
    assert_eq!(status(by(me(&server), &less)).await, 200);
    assert_eq!(told(by(me(&server), &key)).await, (200, user(&["reader"])));

    assert_eq!(status(delete(&less)).await, 204);
    assert_eq!(status(by(me(&server), &key)).await, 401);
}

#[tokio::test]
async fn they_count_only_where_they_were_made() {
    let host = Host::new();
    let (first, _folder) = serve(&host.auth());
    let (_, key) = made(by(new_key(&first, &["endpoints"]), &host.token("ada", "chat", 60))).await;
    let (database, kept) = (first.database.clone(), first.stop());
    let proxy = "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['127.0.0.0/8'] }";
    for (auth, expected) in [(proxy.to_owned(), 401), ("{ mode: local }".to_owned(), 401), (host.auth(), 200)] {
        let folder = folder(&auth);
        let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &database];
        let server = Server::start_with(&arguments);
        assert_eq!(status(by(me(&server), &key)).await, expected, "{auth}");
    }
    drop(kept);
}

#[tokio::test]
async fn of_users_whom_a_proxy_names_and_of_the_owner() {
    let auth = "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['127.0.0.0/8'] }";
    let (server, _folder) = serve(auth);
    let named = |request: RequestBuilder, user: &str| {
        request.header("x-forwarded-user", user).header("x-forwarded-groups", "editor")
    };
    let (_, key) = made(named(new_key(&server, &["endpoints"]), "ada")).await;
    let user: Value = json!({ "id": "ada", "name": null, "roles": ["editor"] });
    assert_eq!(told(by(me(&server), &key)).await, (200, user));
    assert_eq!(status(named(by(me(&server), &key), "bob")).await, 400);
    assert_eq!(status(named(by(keys(&server), &key), "ada")).await, 403);
    // What is no key of ours is the proxy's business.
    assert_eq!(status(named(by(me(&server), "of-the-proxy"), "ada")).await, 200);

    let (server, _folder) = serve("{ mode: local }");
    let (_, key) = made(new_key(&server, &["endpoints"])).await;
    let owner = told(me(&server)).await;
    assert_eq!(told(by(me(&server), &key)).await, owner);
    assert_eq!(status(by(server.ask(Method::GET, "/api/conversations"), &key)).await, 403);
    assert_eq!(status(by(me(&server), "cw_wrong")).await, 401);
}

/// The page on which a user makes them, without any script.
#[tokio::test]
async fn a_page_for_them() {
    let host = Host::new();
    let (server, _folder) = serve(&host.auth());
    let ada = host.token("ada", "chat", 60);
    let page = async || by(server.ask(Method::GET, "/auth/account"), &ada).send().await.unwrap().text().await.unwrap();
    let shown = page().await;
    assert!(shown.contains("API keys") && !shown.contains("Password") && !shown.contains("Sign out"));
    assert_eq!(status(server.ask(Method::GET, "/auth/account")).await, 401);
    let form = server.ask(Method::POST, "/auth/keys").body("name=nightly&days=30&endpoints=on");
    let form = by(form, &ada).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let made = form.send().await.unwrap().text().await.unwrap();
    let key = made.split_once("value=\"cw_").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(status(by(me(&server), &format!("cw_{key}"))).await, 200);
    assert!(page().await.contains("nightly"));
}
