//! Groups of users, and the import from CSV, over HTTP.

use super::accounts::{
    PASSWORD, create_first_account, form_request, me_request, serve, session_cookie, sign_in, status,
};
use crate::process::Server;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, ORIGIN};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// Sends a request of an administrator to the API; the response must be JSON, or empty.
pub(super) async fn admin_request(
    server: &Server,
    cookie: &str,
    method: Method,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let request = server.request(method, path).header(COOKIE, cookie).header(ORIGIN, &server.origin);
    let answer = request.json(&body).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

/// Adds a user who has replaced the first password. Returns the id and the session cookie.
async fn add_user(server: &Server, admin: &str, name: &str) -> (String, String) {
    let (_, added) = admin_request(server, admin, Method::POST, "/api/admin/users", json!({ "name": name })).await;
    let given = added["password"].as_str().unwrap();
    assert_eq!(sign_in(server, name, given).await.status().as_u16(), 200);
    let fields = [("name", name), ("current", given), ("password", PASSWORD)];
    let cookie = session_cookie(&form_request(server, "/auth/new-password", &fields).send().await.unwrap());
    (added["id"].as_str().unwrap().to_owned(), cookie.unwrap())
}

fn endpoint(server: &Server, id: &str) -> RequestBuilder {
    server.request(Method::POST, &format!("/api/endpoints/p/{id}")).json(&json!({}))
}

#[tokio::test]
async fn roles_of_groups_count_from_the_next_request_on() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (eve_id, eve) = add_user(&server, &ada, "eve").await;
    let send = async |who: &str, method, path: &str, body: Value| admin_request(&server, who, method, path, body).await;
    let key = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 1 });
    let (_, key) = send(&eve, Method::POST, "/api/keys", key).await;
    let key = format!("Bearer {}", key["key"].as_str().unwrap());
    // The endpoint is for administrators.
    let check = async |expected: u16| {
        assert_eq!(status(endpoint(&server, "admins").header(COOKIE, &eve)).await, expected);
        assert_eq!(status(endpoint(&server, "admins").header(AUTHORIZATION, &key)).await, expected);
    };
    check(404).await;
    let (made, group) =
        send(&ada, Method::POST, "/api/admin/groups", json!({ "name": "Admins", "roles": ["admin"] })).await;
    assert_eq!(made, 201, "{group}");
    let path = format!("/api/admin/groups/{}", group["id"].as_str().unwrap());
    check(404).await;
    let (_, changed) = send(&ada, Method::PATCH, &path, json!({ "addMembers": [eve_id] })).await;
    assert_eq!((&changed["members"], &changed["roles"]), (&json!(1), &json!(["admin"])));
    check(200).await;
    let (_, user) = send(&eve, Method::GET, &format!("/api/admin/users/{eve_id}"), Value::Null).await;
    assert_eq!((&user["roles"], &user["groups"][0]["name"]), (&json!([]), &json!("Admins")));

    // An administrator by group does not change their own rights, and the last one of their own keeps the role.
    for body in [json!({ "removeMembers": [eve_id] }), json!({ "roles": [] })] {
        assert_eq!(send(&eve, Method::PATCH, &path, body.clone()).await.0, 422, "{body}");
    }
    assert_eq!(send(&eve, Method::DELETE, &path, Value::Null).await.0, 422);
    let (_, users) = send(&ada, Method::GET, "/api/admin/users?text=ada", Value::Null).await;
    let ada_path = format!("/api/admin/users/{}", users["items"][0]["id"].as_str().unwrap());
    assert_eq!(send(&eve, Method::PATCH, &ada_path, json!({ "roles": [] })).await.0, 422);
    check(200).await;

    assert_eq!(send(&ada, Method::PATCH, &path, json!({ "roles": ["amin"] })).await.0, 422);
    assert_eq!(send(&ada, Method::POST, "/api/admin/groups", json!({ "name": "ADMINS" })).await.0, 422);
    let (_, members) = send(&ada, Method::GET, &format!("{path}/members"), Value::Null).await;
    assert_eq!(members["items"][0]["name"], "eve");
    assert_eq!(send(&ada, Method::DELETE, &path, Value::Null).await.0, 204);
    assert_eq!(send(&ada, Method::GET, &path, Value::Null).await.0, 404);
    check(404).await;
    assert_eq!(send(&eve, Method::GET, "/api/admin/groups", Value::Null).await.0, 404);
    assert_eq!(status(me_request(&server).header(COOKIE, &eve)).await, 200, "the session stays");
}

#[tokio::test]
async fn import_is_atomic() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let send = async |method, path: &str, body: Value| admin_request(&server, &ada, method, path, body).await;
    send(Method::POST, "/api/admin/groups", json!({ "name": "Sales, EMEA", "roles": ["admin"] })).await;
    let import = async |csv: &str, apply: bool| {
        let (status, answer) =
            send(Method::POST, "/api/admin/user-imports", json!({ "csv": csv, "apply": apply })).await;
        let problems = answer["items"].as_array().into_iter().flatten();
        let problems: Vec<_> = problems.map(|item| item["problem"].as_str().unwrap_or_default().to_owned()).collect();
        (status, answer["applied"] == true, problems, answer)
    };
    let open =
        async || send(Method::GET, "/api/admin/invitations", Value::Null).await.1["items"].as_array().unwrap().len();
    let wrong = "name,roles,groups\nADA,,\nbob,amin,\neve,,Nobody\neve,,\nmia,admin,\"sales, emea\"\n";
    let (_, applied, problems, _) = import(wrong, true).await;
    let expected = [
        "There is a user with this name already.",
        "The config does not name the role `amin`. Did you mean `admin`?",
        "There is no group “Nobody”.",
        "There is an open invitation for this name, or another line with it.",
        "",
    ];
    assert_eq!((applied, problems.as_slice(), open().await), (false, &expected.map(str::to_owned)[..], 0));
    assert_eq!(import("x,y\n", true).await.0, 422);

    let right = "name,groups\neve@example.com,\"Sales, EMEA\"\nbob,\n";
    assert_eq!((import(right, false).await.1, open().await), (false, 0));
    let (_, applied, _, answer) = import(right, true).await;
    assert_eq!((applied, open().await), (true, 2));
    assert!(import(right, true).await.2.iter().all(|problem| problem.starts_with("There is an open invitation")));
    let token = answer["items"][0]["link"].as_str().unwrap().split_once("token=").unwrap().1;
    let fields = [("token", token), ("name", "eve@example.com"), ("password", PASSWORD)];
    let eve = form_request(&server, "/auth/invitation", &fields).send().await.unwrap();
    let eve = session_cookie(&eve).unwrap();
    let me: Value = me_request(&server).header(COOKIE, &eve).send().await.unwrap().json().await.unwrap();
    assert_eq!(me["roles"], json!(["admin"]), "of the group");
}

#[tokio::test]
async fn import_page_shows_what_it_would_do_first() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let preview = async |file: &[u8], text: &str| {
        let part = |name: &str| format!("--cut\r\nContent-Disposition: form-data; name=\"{name}\"");
        let head = format!("{}\r\n\r\n{text}\r\n{}; filename=\"users.csv\"\r\n\r\n", part("csv"), part("file"));
        let body = [head.as_bytes(), file, b"\r\n--cut--\r\n"].concat();
        let request = server.request(Method::POST, "/admin/users/import").header(COOKIE, &ada);
        let request = request.header(ORIGIN, &server.origin).header(CONTENT_TYPE, "multipart/form-data; boundary=cut");
        let answer = request.body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (status, page) = preview(b"", "name\nada\n<eve>\n").await;
    assert!(status == 200 && page.contains("One line cannot be imported"), "{page}");
    assert!(page.contains("&lt;eve&gt;") && !page.contains("<eve>"), "{page}");
    let (status, page) = preview(b"name\n\xe4da\n", "").await;
    assert!(status == 422 && page.contains("not UTF-8"), "{page}");
    let (status, page) = preview(b"name\neve\nbob\n", "").await;
    assert!(status == 200 && page.contains("Invite 2 users"), "{page}");
    let apply = form_request(&server, "/admin/users/import/apply", &[("csv", "name\neve\nbob\n")]).header(COOKIE, &ada);
    let page = apply.send().await.unwrap().text().await.unwrap();
    assert_eq!(page.matches("/auth/invitation?token=").count(), 2, "{page}");
    let again = form_request(&server, "/admin/users/import/apply", &[("csv", "name\neve\n")]).header(COOKIE, &ada);
    let again = again.send().await.unwrap();
    assert_eq!(again.status().as_u16(), 422);
    assert!(again.text().await.unwrap().contains("There is an open invitation"));
}
