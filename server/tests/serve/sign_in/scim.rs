//! A directory that manages users over SCIM, with the requests that Okta and Entra ID send.

use super::accounts::{config, create_first_account, me_request, session_cookie, sign_in, status};
use super::groups::admin_request;
use crate::process::Server;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION};
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "a token of the tests, which has more than 32 characters";
const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

fn serve() -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = config(", scim: { tokens: [{ _secret: SCIM_TOKEN }] }");
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with_env(&[("SCIM_TOKEN", TOKEN)], &["--config", folder.path().to_str().unwrap()]), folder)
}

/// Sends a request of the directory.
async fn send(server: &Server, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = server.request(method, &format!("/scim/v2{path}")).header(AUTHORIZATION, format!("Bearer {TOKEN}"));
    let request = match body {
        Value::Null => request,
        body => request.header(CONTENT_TYPE, "application/scim+json; charset=utf-8").body(body.to_string()),
    };
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    if status != 204 {
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/scim+json", "{path}");
    }
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

fn filter(path: &str, filter: &str) -> String {
    format!("{path}?filter={}", url::form_urlencoded::byte_serialize(filter.as_bytes()).collect::<String>())
}

fn patch(operations: Value) -> Value {
    json!({ "schemas": [PATCH], "Operations": operations })
}

#[tokio::test]
async fn only_the_directory_is_answered() {
    let (server, _folder) = serve();
    let ada = create_first_account(&server).await;
    let check = async |header: Option<&str>, cookie: Option<&str>, expected: u16| {
        let mut request = server.request(Method::GET, "/scim/v2/Users");
        if let Some(header) = header {
            request = request.header(AUTHORIZATION, header);
        }
        if let Some(cookie) = cookie {
            request = request.header(COOKIE, cookie);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), expected, "{header:?} {cookie:?}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["status"].as_str(), (expected != 200).then(|| expected.to_string()).as_deref());
    };
    check(Some(&format!("Bearer {TOKEN}")), None, 200).await;
    check(None, None, 401).await;
    check(None, Some(&ada), 401).await;
    check(Some("Bearer wrong"), Some(&ada), 401).await;
    // Others who try tokens do not keep the directory away.
    for _ in 0..40 {
        server.request(Method::GET, "/scim/v2/Users").header(AUTHORIZATION, "Bearer x").send().await.unwrap();
    }
    check(Some("Bearer wrong"), None, 429).await;
    check(Some(&format!("Bearer {TOKEN}")), None, 200).await;
    let elsewhere = Server::start();
    let answer =
        elsewhere.request(Method::GET, "/scim/v2/Users").header(AUTHORIZATION, "Bearer x").send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 404);
}

#[tokio::test]
async fn supported_features_are_described() {
    let (server, _folder) = serve();
    let get = async |path: &str| send(&server, Method::GET, path, Value::Null).await;
    let (_, service) = get("/ServiceProviderConfig").await;
    assert_eq!((&service["patch"]["supported"], &service["etag"]["supported"]), (&json!(true), &json!(false)));
    let (_, types) = get("/ResourceTypes").await;
    assert_eq!((&types["totalResults"], &types["Resources"][1]["endpoint"]), (&json!(2), &json!("/Groups")));
    let (_, schema) = get(&format!("/Schemas/{USER}")).await;
    assert_eq!((&schema["id"], &schema["attributes"][0]["name"]), (&json!(USER), &json!("userName")));
    let (unknown, error) = get("/Me").await;
    assert_eq!((unknown, &error["status"]), (404, &json!("404")));
    assert_eq!(send(&server, Method::POST, "/Bulk", json!({})).await.0, 404);
    // No user could become the first administrator any more.
    let early = send(&server, Method::POST, "/Users", json!({ "schemas": [USER], "userName": "eve" })).await;
    assert_eq!(early.0, 403);
}

#[tokio::test]
async fn okta_creates_changes_and_deactivates_users_and_pushes_groups() {
    let (server, _folder) = serve();
    let ada = create_first_account(&server).await;
    let send = async |method, path: &str, body: Value| send(&server, method, path, body).await;
    let (found, none) = send(
        Method::GET,
        &format!("{}&startIndex=1&count=100", filter("/Users", "userName eq \"eve@example.com\"")),
        Value::Null,
    )
    .await;
    assert_eq!((found, &none["totalResults"], &none["Resources"]), (200, &json!(0), &json!([])));
    let new = json!({
        "schemas": [USER], "userName": "eve@example.com", "name": { "givenName": "Eve", "familyName": "Moss" },
        "emails": [{ "primary": true, "value": "eve@example.com", "type": "work" }], "displayName": "Eve Moss",
        "locale": "en-US", "externalId": "00ujl29u0le5T6Aj10h7", "groups": [], "password": "1mz050nq", "active": true,
    });
    let (made, eve) = send(Method::POST, "/Users", new.clone()).await;
    assert_eq!((made, &eve["userName"], &eve["active"]), (201, &json!("eve@example.com"), &json!(true)));
    assert!(eve.get("password").is_none() && eve.get("locale").is_none(), "{eve}");
    let path = format!("/Users/{}", eve["id"].as_str().unwrap());
    assert_eq!(eve["meta"]["location"], format!("{}/scim/v2{path}", server.origin));
    let (again, error) = send(Method::POST, "/Users", new.clone()).await;
    assert_eq!((again, &error["scimType"]), (409, &json!("uniqueness")));
    // A name in the directory is no claim to an account that somebody has here.
    let (taken, error) = send(Method::POST, "/Users", json!({ "schemas": [USER], "userName": "ADA" })).await;
    assert_eq!((taken, &error["scimType"]), (409, &json!("uniqueness")));
    assert_eq!(send(Method::GET, &filter("/Users", "userName eq \"ada\""), Value::Null).await.1["totalResults"], 0);

    // The first password comes from an administrator; the session ends when the directory deactivates the user.
    let id = eve["id"].as_str().unwrap();
    let reset = format!("/api/admin/users/{id}/password");
    let (_, password) = admin_request(&server, &ada, Method::POST, &reset, json!({})).await;
    let password = password["password"].as_str().unwrap();
    let fields = [("name", "eve@example.com"), ("current", password), ("password", "another long sentence")];
    sign_in(&server, "eve@example.com", password).await;
    let cookie = super::accounts::form_request(&server, "/auth/new-password", &fields).send().await.unwrap();
    let cookie = session_cookie(&cookie).unwrap();
    assert_eq!(status(me_request(&server).header(COOKIE, &cookie)).await, 200);
    let mut changed = new.clone();
    changed["name"]["familyName"] = "Mos".into();
    let (put, eve) = send(Method::PUT, &path, changed).await;
    assert_eq!((put, &eve["name"]["familyName"]), (200, &json!("Mos")));

    let (made, group) =
        send(Method::POST, "/Groups", json!({ "schemas": [GROUP], "displayName": "Support", "members": [] })).await;
    assert_eq!((made, &group["members"]), (201, &json!([])));
    let group_path = format!("/Groups/{}", group["id"].as_str().unwrap());
    let add =
        patch(json!([{ "op": "add", "path": "members", "value": [{ "value": id, "display": "eve@example.com" }] }]));
    assert_eq!(send(Method::PATCH, &group_path, add).await.0, 204);
    let roles = async || {
        let me: Value = me_request(&server).header(COOKIE, &cookie).send().await.unwrap().json().await.unwrap();
        me["roles"].clone()
    };
    assert_eq!(roles().await, json!([]), "the directory gives no roles");
    let admin_path = format!("/api/admin{}", group_path.replace("/Groups", "/groups"));
    let give = admin_request(&server, &ada, Method::PATCH, &admin_path, json!({ "roles": ["admin"] })).await;
    assert_eq!(give.0, 200, "{}", give.1);
    assert_eq!(roles().await, json!(["admin"]));
    let (_, eve) = send(Method::GET, &path, Value::Null).await;
    assert_eq!(eve["groups"][0]["display"], "Support");
    let replace = patch(json!([{ "op": "replace", "value": { "id": group["id"], "displayName": "Support EU" } }]));
    assert_eq!(send(Method::PATCH, &group_path, replace).await.0, 204);
    let refused = admin_request(&server, &ada, Method::PATCH, &admin_path, json!({ "removeMembers": [id] })).await;
    assert_eq!(refused.0, 422, "the directory sets the members");
    let (_, members) = send(Method::GET, &group_path, Value::Null).await;
    assert_eq!((&members["displayName"], &members["members"][0]["value"]), (&json!("Support EU"), &json!(id)));
    let stranger = patch(json!([{ "op": "add", "path": "members", "value": [{ "value": "0199" }] }]));
    assert_eq!(send(Method::PATCH, &group_path, stranger).await.0, 400);

    let off = patch(json!([{ "op": "replace", "value": { "active": false } }]));
    let (patched, eve) = send(Method::PATCH, &path, off).await;
    assert_eq!((patched, &eve["active"]), (200, &json!(false)));
    assert_eq!(status(me_request(&server).header(COOKIE, &cookie)).await, 401);
    assert_eq!(sign_in(&server, "eve@example.com", "another long sentence").await.status().as_u16(), 401);
    assert_eq!(send(Method::DELETE, &group_path, Value::Null).await.0, 204);
    assert_eq!(send(Method::GET, &group_path, Value::Null).await.0, 404);
}

#[tokio::test]
async fn entra_finds_creates_patches_and_deletes_users_and_groups() {
    let (server, _folder) = serve();
    let ada = create_first_account(&server).await;
    let send = async |method, path: &str, body: Value| send(&server, method, path, body).await;
    // The test of the connection asks for a user that does not exist.
    let probe = filter("/Users", "userName eq \"7f7bf8fd-9b9e-4c0f-9a4e-8b4d8d5a0f1e\"");
    assert_eq!(
        send(Method::GET, &probe, Value::Null).await,
        (
            200,
            json!({
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
                "totalResults": 0, "startIndex": 1, "itemsPerPage": 0, "Resources": [],
            })
        )
    );
    let new = json!({
        "schemas": [USER, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"], "externalId": "0a21f0f2-8d2a",
        "userName": "bob_gmail.com#EXT#@example.com", "active": true, "displayName": "Bob", "meta": { "resourceType": "User" },
        "emails": [{ "primary": true, "type": "work", "value": "bob@example.com" }],
        "name": { "formatted": "Bob Q", "familyName": "Q", "givenName": "Bob" },
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { "department": "X" },
    });
    let (made, bob) = send(Method::POST, "/Users", new).await;
    assert_eq!((made, &bob["userName"]), (201, &json!("bob_gmail.com#EXT#@example.com")));
    let id = bob["id"].as_str().unwrap();
    let path = format!("/Users/{id}");
    let (_, found) =
        send(Method::GET, &filter("/Users", "externalId eq \"0a21f0f2-8d2a\" and active eq true"), Value::Null).await;
    assert_eq!((&found["totalResults"], &found["Resources"][0]["id"]), (&json!(1), &json!(id)));
    let operations = json!([
        { "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "robert@example.com" },
        { "op": "Replace", "path": "name.familyName", "value": "R" },
        { "op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "Y" },
        { "op": "Replace", "path": "userName", "value": "robert@example.com" },
    ]);
    let (_, bob) = send(Method::PATCH, &path, patch(operations)).await;
    assert_eq!((&bob["emails"][0]["value"], &bob["name"]["familyName"]), (&json!("robert@example.com"), &json!("R")));
    let (_, account) = admin_request(&server, &ada, Method::GET, &format!("/api/admin/users/{id}"), Value::Null).await;
    assert_eq!((&account["name"], &account["provisioned"]), (&json!("robert@example.com"), &json!(true)));
    let half = json!([{ "op": "Replace", "path": "displayName", "value": "Half" }, { "op": "Replace", "path": "userName", "value": "ada" }]);
    assert_eq!(send(Method::PATCH, &path, patch(half)).await.0, 409);
    assert_eq!(send(Method::GET, &path, Value::Null).await.1["displayName"], "Bob", "all or nothing");

    let group = json!({ "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
        "externalId": "8aa1a0c0", "displayName": "Sales, EMEA", "meta": { "resourceType": "Group" } });
    let (made, group) = send(Method::POST, "/Groups", group).await;
    assert_eq!(made, 201, "{group}");
    let group_path = format!("/Groups/{}", group["id"].as_str().unwrap());
    let (_, found) = send(
        Method::GET,
        &format!("{}&excludedAttributes=members", filter("/Groups", "displayName eq \"sales, emea\"")),
        Value::Null,
    )
    .await;
    assert_eq!((&found["Resources"][0]["id"], found["Resources"][0].get("members")), (&group["id"], None));
    let add = patch(json!([{ "op": "Add", "path": "members", "value": [{ "$ref": null, "value": id }] }]));
    assert_eq!(send(Method::PATCH, &group_path, add).await.0, 204);
    let member = format!("id eq \"{}\" and members eq \"{id}\"", group["id"].as_str().unwrap());
    assert_eq!(send(Method::GET, &filter("/Groups", &member), Value::Null).await.1["totalResults"], 1);
    let remove = patch(json!([{ "op": "Remove", "path": "members", "value": [{ "$ref": null, "value": id }] }]));
    assert_eq!(send(Method::PATCH, &group_path, remove).await.0, 204);
    assert_eq!(send(Method::GET, &group_path, Value::Null).await.1["members"], json!([]));

    let off = patch(json!([{ "op": "Replace", "path": "active", "value": "False" }]));
    assert_eq!(send(Method::PATCH, &path, off).await.1["active"], false);
    let on = patch(json!([{ "op": "Replace", "path": "active", "value": "True" }]));
    assert_eq!(send(Method::PATCH, &path, on).await.1["active"], true);
    assert_eq!(send(Method::DELETE, &path, Value::Null).await.0, 204);
    assert_eq!(send(Method::DELETE, &path, Value::Null).await.0, 404);
    assert_eq!(send(Method::GET, &path, Value::Null).await.0, 404);
    let (_, rows) =
        admin_request(&server, &ada, Method::GET, "/api/admin/audit?user=service%3Ascim", Value::Null).await;
    let items = rows["items"].as_array().unwrap().iter().rev();
    let actions: Vec<_> = items.map(|row| row["tool"].as_str().unwrap()).collect();
    let expected = [
        "admin:add_user",
        "admin:change_user",
        "admin:add_group",
        "admin:change_group",
        "admin:change_group",
        "admin:disable_user",
        "admin:enable_user",
        "admin:delete_user",
    ];
    assert_eq!(actions, expected);
    assert!(!rows.to_string().contains("bob@example.com"), "no e-mail addresses are in the log");
}

#[tokio::test]
async fn directory_manages_existing_users_and_groups_only_if_they_are_released_to_it() {
    let (server, _folder) = serve();
    let ada = create_first_account(&server).await;
    let send = async |method, path: &str, body: Value| send(&server, method, path, body).await;
    let admin = async |method, path: &str, body: Value| admin_request(&server, &ada, method, path, body).await;
    let (_, eve) = admin(Method::POST, "/api/admin/users", json!({ "name": "eve" })).await;
    let (_, group) = admin(Method::POST, "/api/admin/groups", json!({ "name": "Admins", "roles": ["admin"] })).await;
    let (id, group_id) = (eve["id"].as_str().unwrap(), group["id"].as_str().unwrap());
    let (path, group_path) = (format!("/Users/{id}"), format!("/Groups/{group_id}"));
    assert_eq!(send(Method::GET, &path, Value::Null).await.0, 404);
    assert_eq!(send(Method::DELETE, &path, Value::Null).await.0, 404);
    let join = || patch(json!([{ "op": "add", "path": "members", "value": [{ "value": id }] }]));
    assert_eq!(send(Method::PATCH, &group_path, join()).await.0, 404);
    let named = json!({ "schemas": [GROUP], "displayName": "admins" });
    assert_eq!(send(Method::POST, "/Groups", named).await.0, 409, "no group is taken over by its name");

    let release = json!({ "provisioned": true });
    assert_eq!(admin(Method::PATCH, &format!("/api/admin/users/{id}"), release.clone()).await.1["provisioned"], true);
    assert_eq!(admin(Method::PATCH, &format!("/api/admin/groups/{group_id}"), release).await.1["provisioned"], true);
    let (_, found) = send(Method::GET, &filter("/Users", "userName eq \"Eve\""), Value::Null).await;
    assert_eq!(found["Resources"][0]["id"], id);
    assert_eq!(send(Method::PATCH, &group_path, join()).await.0, 204);
    let back = json!({ "provisioned": false });
    assert_eq!(admin(Method::PATCH, &format!("/api/admin/users/{id}"), back).await.1["provisioned"], false);
    assert_eq!(send(Method::GET, &path, Value::Null).await.0, 404);
    let (_, users) = admin(Method::GET, "/api/admin/users?text=ada", Value::Null).await;
    let ada_path = format!("/api/admin/users/{}", users["items"][0]["id"].as_str().unwrap());
    assert_eq!(admin(Method::PATCH, &ada_path, json!({ "provisioned": true })).await.0, 422, "not oneself");
}

#[tokio::test]
async fn lists_are_paged_and_errors_have_the_form_of_scim() {
    let (server, _folder) = serve();
    create_first_account(&server).await;
    let send = async |method, path: &str, body: Value| send(&server, method, path, body).await;
    for i in 0..5 {
        let user = json!({ "schemas": [USER], "userName": format!("user{i}") });
        assert_eq!(send(Method::POST, "/Users", user).await.0, 201);
    }
    let check = async |query: &str, expected: Value| {
        let (_, page) = send(Method::GET, &format!("/Users{query}"), Value::Null).await;
        let names = page["Resources"].as_array().unwrap().iter().map(|user| user["userName"].clone());
        let found = json!([page["totalResults"], page["startIndex"], page["itemsPerPage"], names.collect::<Vec<_>>()]);
        assert_eq!(found, expected, "{query}");
    };
    check("?startIndex=2&count=2&attributes=userName", json!([5, 2, 2, ["user1", "user2"]])).await;
    check("?startIndex=-1&count=1", json!([5, 1, 1, ["user0"]])).await;
    check("?count=0", json!([5, 1, 0, []])).await;
    check("?startIndex=9", json!([5, 9, 0, []])).await;
    check(&filter("", "userName ew \"4\" or userName eq \"USER0\""), json!([2, 1, 2, ["user0", "user4"]])).await;
    let refused = async |method, path: &str, body: Value, status: u16, kind: Value| {
        let (found, error) = send(method, path, body).await;
        assert_eq!(
            (found, &error["scimType"], &error["status"]),
            (status, &kind, &json!(status.to_string())),
            "{path}"
        );
    };
    refused(Method::GET, &filter("/Users", "userName eq"), Value::Null, 400, json!("invalidFilter")).await;
    refused(Method::GET, "/Users?count=x", Value::Null, 400, json!("invalidValue")).await;
    refused(Method::POST, "/Users", json!({ "schemas": [USER] }), 400, json!("invalidValue")).await;
    refused(Method::POST, "/Users", json!([]), 400, json!("invalidSyntax")).await;
    refused(Method::POST, "/Users", json!({ "userName": "<>" }), 400, json!("invalidValue")).await;
    refused(Method::PATCH, "/Users/x", json!({}), 404, Value::Null).await;
    let wrong = server.request(Method::POST, "/scim/v2/Users").header(AUTHORIZATION, format!("Bearer {TOKEN}"));
    assert_eq!(status(wrong.header(CONTENT_TYPE, "text/plain").body("{}")).await, 415);
    let made = server.request(Method::POST, "/scim/v2/Users").header(AUTHORIZATION, format!("bearer {TOKEN}"));
    let made = made.json(&json!({ "userName": "last" })).send().await.unwrap();
    assert!(made.headers()[LOCATION].to_str().unwrap().starts_with(&format!("{}/scim/v2/Users/", server.origin)));
    // The last one: the server closes the connection on which the rest of the body comes.
    refused(Method::POST, "/Users", json!({ "userName": "x".repeat(1 << 20) }), 413, Value::Null).await;
}
