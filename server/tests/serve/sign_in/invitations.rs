//! Invitations, and passwords that an administrator has set, over HTTP.

use super::accounts::{
    PASSWORD, config, create_first_account, form_request, me_request, serve, session_cookie, sign_in, status,
};
use crate::process::Server;
use reqwest::header::{COOKIE, LOCATION, ORIGIN};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::{AuditFilter, NewInvitation, SignInWays, Store};

/// Sends a request of an administrator to the API; the response must be JSON, or empty.
async fn admin_request(server: &Server, cookie: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = server.request(method, path).header(COOKIE, cookie).header(ORIGIN, &server.origin);
    let answer = request.json(&body).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

/// Makes an invitation and returns its id and the token of its link.
async fn invite(server: &Server, admin: &str, roles: &[&str]) -> (String, String) {
    let body = json!({ "label": "Eve", "roles": roles, "allowUnknownRoles": true });
    let (status, made) = admin_request(server, admin, Method::POST, "/api/admin/invitations", body).await;
    assert_eq!(status, 201, "{made}");
    let link = made["link"].as_str().unwrap();
    let token = link.strip_prefix(&format!("{}/auth/invitation?token=", server.origin)).unwrap();
    (made["id"].as_str().unwrap().to_owned(), token.to_owned())
}

async fn accept(server: &Server, token: &str, name: &str) -> Response {
    let fields = [("token", token), ("name", name), ("password", PASSWORD)];
    form_request(server, "/auth/invitation", &fields).send().await.unwrap()
}

async fn replace(server: &Server, fields: &[(&str, &str)]) -> Response {
    form_request(server, "/auth/new-password", fields).send().await.unwrap()
}

#[tokio::test]
async fn invitation_creates_one_account_with_its_roles() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (_, token) = invite(&server, &ada, &["editor"]).await;
    let path = format!("/auth/invitation?token={token}");
    // Programs that open links in messages do not use it up.
    for _ in 0..2 {
        assert_eq!(status(server.request(Method::GET, &path)).await, 200);
    }
    assert_eq!(accept(&server, &token, "ada").await.status().as_u16(), 409);
    assert_eq!(accept(&server, &token, "ada@example.com").await.status().as_u16(), 422);
    let short = [("token", token.as_str()), ("name", "eve"), ("password", "short")];
    assert_eq!(status(form_request(&server, "/auth/invitation", &short)).await, 422);
    let eve = session_cookie(&accept(&server, &token, "eve").await).unwrap();
    let user: Value = me_request(&server).header(COOKIE, &eve).send().await.unwrap().json().await.unwrap();
    assert_eq!((user["name"].as_str(), &user["roles"]), (Some("eve"), &json!(["editor"])));
    assert_eq!(accept(&server, &token, "mallory").await.status().as_u16(), 404);
    assert_eq!(status(server.request(Method::GET, &path)).await, 404);
}

#[tokio::test]
async fn invitations_are_listed_and_revoked_by_administrators() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (id, token) = invite(&server, &ada, &[]).await;
    let (_, listed) = admin_request(&server, &ada, Method::GET, "/api/admin/invitations", Value::Null).await;
    assert_eq!((listed["items"][0]["id"].as_str(), &listed["items"][0]["label"]), (Some(id.as_str()), &json!("Eve")));
    assert!(!listed.to_string().contains(&token));
    let misspelt = json!({ "label": "Eve", "roles": ["amin"] });
    let (refused, error) = admin_request(&server, &ada, Method::POST, "/api/admin/invitations", misspelt).await;
    assert_eq!((refused, error["error"]["path"].as_str()), (422, Some("/allowUnknownRoles")));
    let path = format!("/api/admin/invitations/{id}");
    assert_eq!(admin_request(&server, &ada, Method::DELETE, &path, Value::Null).await.0, 204);
    assert_eq!(admin_request(&server, &ada, Method::DELETE, &path, Value::Null).await.0, 404);
    assert_eq!(accept(&server, &token, "eve").await.status().as_u16(), 404);
}

#[tokio::test]
async fn password_of_an_administrator_is_replaced_before_the_user_is_signed_in() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (_, added) = admin_request(&server, &ada, Method::POST, "/api/admin/users", json!({ "name": "eve" })).await;
    let given = added["password"].as_str().unwrap().to_owned();
    let sent = sign_in(&server, "eve", &given).await;
    assert_eq!((sent.status().as_u16(), session_cookie(&sent)), (200, None));
    assert!(sent.text().await.unwrap().contains("Choose a password"));
    let check = async |fields: &[(&str, &str)], expected: u16| {
        let answer = replace(&server, fields).await;
        assert_eq!((answer.status().as_u16(), session_cookie(&answer)), (expected, None), "{fields:?}");
    };
    check(&[("name", "eve"), ("current", "wrong words"), ("password", PASSWORD)], 401).await;
    check(&[("name", "eve"), ("current", &given), ("password", &given)], 422).await;
    check(&[("name", "eve"), ("current", &given), ("password", "short")], 422).await;
    // It is no second way to sign in, or to change a password that the user has chosen.
    check(&[("name", "ada"), ("current", PASSWORD), ("password", "quite another sentence")], 303).await;
    let fields = [("name", "eve"), ("current", given.as_str()), ("password", PASSWORD), ("next", "/p?a=b")];
    let answer = replace(&server, &fields).await;
    assert_eq!(answer.headers()[LOCATION], "/p?a=b");
    let eve = session_cookie(&answer).unwrap();
    assert_eq!(status(me_request(&server).header(COOKIE, &eve)).await, 200);
    assert_eq!(sign_in(&server, "eve", &given).await.status().as_u16(), 401);
    assert!(session_cookie(&sign_in(&server, "eve", PASSWORD).await).is_some());
    // A reset begins anew.
    let path = format!("/api/admin/users/{}/password", added["id"].as_str().unwrap());
    let (_, reset) = admin_request(&server, &ada, Method::POST, &path, json!({})).await;
    assert_eq!(status(me_request(&server).header(COOKIE, &eve)).await, 401);
    assert!(session_cookie(&sign_in(&server, "eve", reset["password"].as_str().unwrap()).await).is_none());
}

/// Waits until the audit log has this many entries of an action, and returns them as text, newest first. Refused
/// attempts are entered in the background.
async fn audited(store: &Store, tool: &str, count: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for _ in 0..1200 {
        let filter = AuditFilter { tool: Some(tool.to_owned()), ..AuditFilter::default() };
        rows = store.audit_list(filter, 100, None).await.unwrap();
        if rows.len() >= count {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    rows.iter().map(|row| format!("{} {}", row.outcome, row.arguments)).collect()
}

#[tokio::test]
async fn invitations_and_first_passwords_are_audited() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let store = Store::open_existing(&server.database).await.unwrap();
    let (id, token) = invite(&server, &ada, &["editor"]).await;
    assert!(session_cookie(&accept(&server, &token, "eve").await).is_some());
    let accepted = audited(&store, "account:accept_invitation", 1).await;
    assert!(accepted.len() == 1 && accepted[0].contains(&format!(r#""invitationId":"{id}""#)), "{accepted:?}");

    let (_, added) = admin_request(&server, &ada, Method::POST, "/api/admin/users", json!({ "name": "bob" })).await;
    let given = added["password"].as_str().unwrap();
    let wrong = [("name", "bob"), ("current", "wrong words"), ("password", PASSWORD)];
    assert_eq!(replace(&server, &wrong).await.status().as_u16(), 401);
    let right = [("name", "bob"), ("current", given), ("password", PASSWORD)];
    assert!(session_cookie(&replace(&server, &right).await).is_some());
    let mut changed = audited(&store, "account:change_password", 2).await;
    changed.sort_unstable();
    let outcomes: Vec<_> = changed.iter().map(|row| row.split(' ').next().unwrap()).collect();
    assert_eq!(outcomes, ["ok", "refused"], "{changed:?}");
}

/// An office may invite many people at once; who guesses still has to wait.
#[tokio::test]
async fn accepted_invitations_do_not_count_as_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{}limits: {{ trustedProxies: [127.0.0.1] }}\n", config(", openSignUp: true"));
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let ada = create_first_account(&server).await;
    let send = async |path: &str, token: &str, name: &str| {
        let fields = [("token", token), ("name", name), ("password", PASSWORD)];
        status(form_request(&server, path, &fields).header("x-forwarded-for", "198.51.100.1")).await
    };
    for number in 0..12 {
        let (_, token) = invite(&server, &ada, &[]).await;
        assert_eq!(send("/auth/invitation", &token, &format!("user{number}")).await, 303, "{number}");
    }
    let mut sign_ups = Vec::new();
    for number in 0..11 {
        sign_ups.push(send("/auth/sign-up", "", &format!("guest{number}")).await);
    }
    assert_eq!((sign_ups[9], sign_ups[10]), (303, 429));
    let (_, token) = invite(&server, &ada, &[]).await;
    assert_eq!(send("/auth/invitation", &token, "late").await, 303, "sign-ups do not block it");
    let mut guesses = Vec::new();
    for _ in 0..11 {
        guesses.push(send("/auth/invitation", "guessed", "mallory").await);
    }
    assert_eq!((guesses[9], guesses[10]), (404, 429));
}

fn stored_invitation(creator: &str, number: u8, expires_at: i64) -> NewInvitation {
    NewInvitation {
        id: format!("i{number}"),
        token_hash: [number; 32],
        label: "Eve".to_owned(),
        roles: Vec::new(),
        groups: Vec::new(),
        created_by: creator.to_owned(),
        now: 1,
        expires_at,
    }
}

#[tokio::test]
async fn invitations_of_former_administrators_are_marked() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let store = Store::open_existing(&server.database).await.unwrap();
    let body = json!({ "name": "bob", "roles": ["admin"] });
    let (_, bob) = admin_request(&server, &ada, Method::POST, "/api/admin/users", body).await;
    let bob = bob["id"].as_str().unwrap();
    let entry = auth::audit_row(bob, "admin:invite_user", "", json!({}));
    assert!(store.add_invitation(stored_invitation(bob, 1, i64::MAX), entry).await.unwrap());
    let (path, text) = (format!("/api/admin/users/{bob}"), "void: bob is not known to be an administrator now");
    for (roles, is_void) in [(json!(["admin"]), false), (json!([]), true)] {
        assert_eq!(admin_request(&server, &ada, Method::PATCH, &path, json!({ "roles": roles })).await.0, 200);
        let (_, listed) = admin_request(&server, &ada, Method::GET, "/api/admin/invitations", Value::Null).await;
        assert_eq!(listed["items"][0]["void"], is_void, "{roles}");
        let page = server.request(Method::GET, "/admin/invitations").header(COOKIE, &ada).send().await.unwrap();
        assert_eq!(page.text().await.unwrap().contains(text), is_void, "{roles}");
    }
}

#[tokio::test]
async fn expired_invitations_are_removed_in_the_background() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let store = Store::open_existing(&server.database).await.unwrap();
    let creator = store.user_by_name("ada").await.unwrap().unwrap().0.id;
    for (number, expires_at) in [(1, 2), (2, i64::MAX)] {
        let entry = auth::audit_row(&creator, "admin:invite_user", "", json!({}));
        assert!(store.add_invitation(stored_invitation(&creator, number, expires_at), entry).await.unwrap());
    }
    // Its time is ten minutes after the start.
    let path = "/api/admin/jobs?kind=chat.delete_invitations";
    let (_, jobs) = admin_request(&server, &ada, Method::GET, path, Value::Null).await;
    let path = format!("/api/admin/jobs/{}/retry", jobs["items"][0]["id"].as_str().unwrap());
    assert!(admin_request(&server, &ada, Method::POST, &path, json!({})).await.0 < 300);
    let ways = Arc::new(SignInWays { passwords: true, issuers: Vec::new() });
    let mut left = Vec::new();
    for _ in 0..1200 {
        // As of the beginning, when neither has expired.
        left = store.invitations(1, &ways).await.unwrap().into_iter().map(|it| it.id).collect();
        if left.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(left, ["i2"]);
}
