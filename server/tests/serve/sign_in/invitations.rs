//! Invitations, and passwords that an administrator has set, over HTTP.

use super::accounts::{
    PASSWORD, create_first_account, form_request, me_request, serve, session_cookie, sign_in, status,
};
use crate::process::Server;
use reqwest::header::{COOKIE, LOCATION, ORIGIN};
use reqwest::{Method, Response};
use serde_json::{Value, json};

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
