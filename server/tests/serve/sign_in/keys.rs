//! API keys of users who are managed outside of the server.

use crate::process::Server;
use crate::sign_in::callers::{TokenIssuer, config_folder, serve, status, status_and_body};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

fn with_token(request: RequestBuilder, token: &str) -> RequestBuilder {
    request.header(AUTHORIZATION, format!("Bearer {token}"))
}

fn me_request(server: &Server) -> RequestBuilder {
    server.request(Method::POST, "/api/endpoints/closed/me").json(&json!({}))
}

fn list_request(server: &Server) -> RequestBuilder {
    server.request(Method::GET, "/api/keys")
}

fn create_request(server: &Server, scopes: &[&str]) -> RequestBuilder {
    let body = json!({ "name": "nightly", "scopes": scopes, "expiresInDays": 7 });
    server.request(Method::POST, "/api/keys").json(&body)
}

/// Creates a key; returns its id and secret text.
async fn create_key(request: RequestBuilder) -> (String, String) {
    let (status, key) = status_and_body(request).await;
    assert_eq!(status, 201, "{key}");
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

#[tokio::test]
async fn keys_of_jwt_users_have_their_current_roles() {
    let host = TokenIssuer::new();
    let (server, _folder) = serve(&host.auth_config());
    let (ada, bob) = (host.token("ada", "chat", 60), host.token("bob", "chat", 60));
    assert_eq!(status(create_request(&server, &["endpoints"])).await, 401, "anonymous users cannot have keys");
    let (id, key) = create_key(with_token(create_request(&server, &["endpoints"]), &ada)).await;
    let user = |roles: &[&str]| json!({ "id": "ada", "name": "Ada", "roles": roles });
    assert_eq!(status_and_body(with_token(me_request(&server), &key)).await, (200, user(&["editor"])));
    assert_eq!(status_and_body(me_request(&server).header("x-api-key", &key)).await, (200, user(&["editor"])));
    // The key is valid for its scope only, and cannot create keys.
    for path in ["/api/conversations", "/api/keys", "/auth/account", "/"] {
        assert_eq!(status(with_token(server.request(Method::GET, path), &key)).await, 403, "{path}");
    }
    assert_eq!(status(with_token(create_request(&server, &["agents"]), &key)).await, 403);
    // Requests with two identities and requests with an unknown key are rejected.
    assert_eq!(status(with_token(me_request(&server), &bob).header("x-api-key", &key)).await, 400);
    let (_, other) = create_key(with_token(create_request(&server, &["endpoints"]), &ada)).await;
    assert_eq!(status(with_token(me_request(&server), &key).header("x-api-key", &other)).await, 400);
    assert_eq!(status(with_token(me_request(&server), "cw_wrong")).await, 401);
    // With both a token and a key, the scopes of the key apply.
    assert_eq!(
        status(with_token(server.request(Method::GET, "/api/conversations"), &ada).header("x-api-key", &key)).await,
        403
    );

    // Another user cannot see the key.
    let delete = |token: &str| with_token(server.request(Method::DELETE, &format!("/api/keys/{id}")), token);
    assert_eq!(status_and_body(with_token(list_request(&server), &bob)).await, (200, json!([])));
    assert_eq!(status(delete(&bob)).await, 404);
    let (_, listed) = status_and_body(with_token(list_request(&server), &ada)).await;
    assert!(listed.to_string().contains(&id) && !listed.to_string().contains(&key), "{listed}");

    // The key loses a role when the user's next token lacks it.
    let less = host.token_with_roles(("ada", &["reader"]), "chat", 60);
    assert_eq!(status(with_token(me_request(&server), &less)).await, 200);
    assert_eq!(status_and_body(with_token(me_request(&server), &key)).await, (200, user(&["reader"])));

    assert_eq!(status(delete(&less)).await, 204);
    assert_eq!(status(with_token(me_request(&server), &key)).await, 401);
}

#[tokio::test]
async fn keys_are_valid_only_for_their_auth_mode() {
    let host = TokenIssuer::new();
    let (first, _folder) = serve(&host.auth_config());
    let (_, key) = create_key(with_token(create_request(&first, &["endpoints"]), &host.token("ada", "chat", 60))).await;
    let (database, kept) = (first.database.clone(), first.stop());
    let proxy = "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['127.0.0.0/8'] }";
    for (auth, expected) in [(proxy.to_owned(), 401), ("{ mode: local }".to_owned(), 401), (host.auth_config(), 200)] {
        let folder = config_folder(&auth);
        let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &database];
        let server = Server::start_with(&arguments);
        assert_eq!(status(with_token(me_request(&server), &key)).await, expected, "{auth}");
    }
    drop(kept);
}

#[tokio::test]
async fn proxy_users_and_the_local_owner_can_have_keys() {
    let auth = "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['127.0.0.0/8'] }";
    let (server, _folder) = serve(auth);
    let named = |request: RequestBuilder, user: &str| {
        request.header("x-forwarded-user", user).header("x-forwarded-groups", "editor")
    };
    let (_, key) = create_key(named(create_request(&server, &["endpoints"]), "ada")).await;
    let user: Value = json!({ "id": "ada", "name": null, "roles": ["editor"] });
    assert_eq!(status_and_body(with_token(me_request(&server), &key)).await, (200, user));
    assert_eq!(status(named(with_token(me_request(&server), &key), "bob")).await, 400);
    assert_eq!(status(named(with_token(list_request(&server), &key), "ada")).await, 403);
    // A bearer token that is not one of our keys is left to the proxy.
    assert_eq!(status(named(with_token(me_request(&server), "of-the-proxy"), "ada")).await, 200);

    let (server, _folder) = serve("{ mode: local }");
    let (_, key) = create_key(create_request(&server, &["endpoints"])).await;
    let owner = status_and_body(me_request(&server)).await;
    assert_eq!(status_and_body(with_token(me_request(&server), &key)).await, owner);
    assert_eq!(status(with_token(server.request(Method::GET, "/api/conversations"), &key)).await, 403);
    assert_eq!(status(with_token(me_request(&server), "cw_wrong")).await, 401);
}

/// The account page works without scripts.
#[tokio::test]
async fn account_page_creates_keys_without_scripts() {
    let host = TokenIssuer::new();
    let (server, _folder) = serve(&host.auth_config());
    let ada = host.token("ada", "chat", 60);
    let page = async || {
        with_token(server.request(Method::GET, "/auth/account"), &ada).send().await.unwrap().text().await.unwrap()
    };
    let shown = page().await;
    assert!(shown.contains("API keys") && !shown.contains("Password") && !shown.contains("Sign out"));
    assert!(!shown.contains("Keep what I read"), "nothing would remove it when the user signs out at the site");
    assert_eq!(status(server.request(Method::GET, "/auth/account")).await, 401);
    let form = server.request(Method::POST, "/auth/keys").body("name=nightly&days=30&endpoints=on");
    let form = with_token(form, &ada).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let made = form.send().await.unwrap().text().await.unwrap();
    let key = made.split_once("value=\"cw_").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(status(with_token(me_request(&server), &format!("cw_{key}"))).await, 200);
    assert!(page().await.contains("nightly"));
}
