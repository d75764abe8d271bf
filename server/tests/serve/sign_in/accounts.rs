//! Password accounts over HTTP. The browser journeys test what users see of them.

use crate::process::Server;
use futures::future::join_all;
use reqwest::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use store::Store;
use tempfile::TempDir;

pub(crate) const PASSWORD: &str = "several words together";

/// Returns a config with password accounts; `more` is appended to the settings of `auth`.
pub(crate) fn config(more: &str) -> String {
    format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 50 }} }}]\n\
         agents: [{{ id: a, type: Agent, connectionId: demo, properties: {{ model: demo }} }}]\n\
         api:\n  - {{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}\n\
         \x20 - {{ id: admins, auth: {{ roles: [admin] }}, routine: [{{ ':return': 1 }}] }}\n\
         pages: [{{ id: p }}, {{ id: open, auth: public }}]\n\
         auth: {{ mode: password, publicUrls: ['https://chat.test'] {more} }}\n"
    )
}

pub(crate) fn serve(more: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config(more)).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns the request of an HTML form.
pub(crate) fn form_request(server: &Server, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let body: Vec<_> = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    let form = server.request(Method::POST, path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    form.header(ORIGIN, &server.origin).body(body.join("&"))
}

pub(crate) async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

/// Returns the session cookie that a response sets.
pub(crate) fn session_cookie(answer: &Response) -> Option<String> {
    let mut set = answer.headers().get_all(SET_COOKIE).iter().map(|set| set.to_str().unwrap());
    let set = set.rfind(|set| set.contains("cw_session=") && !set.contains("cw_session=;"))?;
    Some(set.split(';').next().unwrap().to_owned())
}

pub(crate) async fn sign_in(server: &Server, name: &str, password: &str) -> Response {
    form_request(server, "/auth/sign-in", &[("name", name), ("password", password)]).send().await.unwrap()
}

/// Creates the first account and returns its session cookie.
pub(crate) async fn create_first_account(server: &Server) -> String {
    let fields =
        [("token", server.first_account_token().await), ("name", "ada".to_owned()), ("password", PASSWORD.to_owned())];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    session_cookie(&form_request(server, "/auth/first-admin", &fields).send().await.unwrap()).unwrap()
}

/// Signs up a second account and returns its session cookie.
async fn sign_up_bob(server: &Server) -> String {
    let fields = [("name", "bob"), ("password", PASSWORD)];
    session_cookie(&form_request(server, "/auth/sign-up", &fields).send().await.unwrap()).unwrap()
}

pub(crate) fn me_request(server: &Server) -> RequestBuilder {
    server.request(Method::POST, "/api/endpoints/p/me").json(&json!({}))
}

#[tokio::test]
async fn first_account_is_created_once_and_needs_the_token() {
    let (server, _folder) = serve("");
    let token = server.first_account_token().await;
    let make = |name: &'static str, token: &str| {
        form_request(&server, "/auth/first-admin", &[("token", token), ("name", name), ("password", PASSWORD)])
    };
    assert_eq!(status(make("eve", "")).await, 403);
    assert_eq!(status(make("eve", &token[1..])).await, 403);
    assert_eq!(status(form_request(&server, "/auth/sign-up", &[("name", "eve"), ("password", PASSWORD)])).await, 404);
    let both = join_all(["ada", "bob"].map(|name| status(make(name, &token)))).await;
    let mut both = both;
    both.sort_unstable();
    assert_eq!(both, [303, 404]);
    assert_eq!(status(make("eve", &token)).await, 404);
    assert_eq!(status(server.request(Method::GET, "/auth/first-admin")).await, 404);
}

#[tokio::test]
async fn pages_redirect_to_sign_in_and_api_requests_get_401() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let page = server.request(Method::GET, "/p?conversation=a%26b").send().await.unwrap();
    assert_eq!(
        (page.status().as_u16(), page.headers()[LOCATION].to_str().unwrap()),
        (303, "/auth/sign-in?next=%2Fp%3Fconversation%3Da%2526b")
    );
    assert_eq!(status(server.request(Method::GET, "/open")).await, 200);
    assert_eq!(status(me_request(&server)).await, 401);
    let signed_in = server.request(Method::GET, "/p").header(COOKIE, &ada).send().await.unwrap();
    assert_eq!((signed_in.status().as_u16(), &signed_in.headers()[CACHE_CONTROL]), (200, &"no-store".parse().unwrap()));
    let user_info: Value = me_request(&server).header(COOKIE, &ada).send().await.unwrap().json().await.unwrap();
    assert_eq!((user_info["name"].as_str(), &user_info["roles"]), (Some("ada"), &json!(["admin"])));
    for elsewhere in ["//evil.test", "https://evil.test", "/\\evil.test"] {
        let fields = [("name", "ada"), ("password", PASSWORD), ("next", elsewhere)];
        let answer = form_request(&server, "/auth/sign-in", &fields).send().await.unwrap();
        assert_eq!(answer.headers()[LOCATION], "/", "{elsewhere}");
    }
}

#[tokio::test]
async fn sign_in_starts_a_new_session() {
    let (server, _folder) = serve(", openSignUp: true");
    let ada = create_first_account(&server).await;
    let is_ada = |cookie: &str| me_request(&server).header(COOKIE, cookie);
    let again = form_request(&server, "/auth/sign-in", &[("name", "Ada"), ("password", PASSWORD)]).header(COOKIE, &ada);
    let again = session_cookie(&again.send().await.unwrap()).unwrap();
    assert_ne!(ada, again);
    assert_eq!((status(is_ada(&ada)).await, status(is_ada(&again)).await), (401, 200));
    // A session cookie that was set by somebody else is not adopted (session fixation).
    let planted = form_request(&server, "/auth/sign-in", &[("name", "ada"), ("password", PASSWORD)])
        .header(COOKIE, "cw_session=planted");
    assert_ne!(session_cookie(&planted.send().await.unwrap()).unwrap(), "cw_session=planted");
    let out = form_request(&server, "/auth/sign-out", &[]).header(COOKIE, &again).send().await.unwrap();
    assert!(out.headers()[SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(status(is_ada(&again)).await, 401);
    let bob = sign_up_bob(&server).await;
    assert_eq!(status(me_request(&server).header(COOKIE, format!("{bob}; {again}"))).await, 400);
    assert_eq!(
        status(server.request(Method::POST, "/api/endpoints/p/admins").json(&json!({})).header(COOKIE, &bob)).await,
        404
    );
}

/// Login CSRF: forms of other sites can neither sign a user in nor out.
#[tokio::test]
async fn cross_site_forms_are_rejected() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    for path in ["/auth/sign-in", "/auth/sign-out", "/auth/password", "/auth/keys"] {
        for origin in ["https://evil.test", "null", "http://127.0.0.1:1"] {
            let sent = server.request(Method::POST, path).header(ORIGIN, origin).header(COOKIE, &ada);
            assert_eq!(status(sent).await, 403, "{path}, {origin}");
        }
    }
    assert_eq!(status(me_request(&server).header(COOKIE, &ada)).await, 200);
}

#[tokio::test]
async fn password_guessing_is_throttled() {
    let (server, _folder) = serve("");
    create_first_account(&server).await;
    let wrong = sign_in(&server, "ada", "wrong").await;
    let nobody = sign_in(&server, "nob", "wrong").await;
    assert_eq!((wrong.status(), nobody.status()), (401.try_into().unwrap(), 401.try_into().unwrap()));
    let (wrong, nobody) = (wrong.text().await.unwrap(), nobody.text().await.unwrap());
    assert_eq!(wrong.replace("ada", "nob"), nobody, "the responses differ for unknown users");
    for _ in 0..9 {
        assert_eq!(sign_in(&server, "ada", "wrong").await.status().as_u16(), 401);
    }
    let stopped = sign_in(&server, "ADA", PASSWORD).await;
    assert_eq!(stopped.status().as_u16(), 429);
    assert!(stopped.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 800);
}

/// An open stream of the user ends, too.
#[tokio::test]
async fn disabled_user_loses_sessions_and_streams() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let store = Store::open_existing(&server.database).await.unwrap();
    let (user, _) = store.user_by_name("ada").await.unwrap().unwrap();
    let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "count to 1500" }] });
    let body = json!({ "id": "c", "trigger": "submit-message", "messages": [message] });
    let stream = server.request(Method::POST, "/api/agent/p/a?conversationId=c").json(&body).header(COOKIE, &ada);
    let stream = stream.send().await.unwrap();
    assert_eq!(stream.status().as_u16(), 200);
    store.set_disabled(&user.id, Some(1)).await.unwrap();
    assert_eq!(status(me_request(&server).header(COOKIE, &ada)).await, 401);
    assert_eq!(sign_in(&server, "ada", PASSWORD).await.status().as_u16(), 401);
    let text = stream.text().await.unwrap();
    assert!(!text.contains("[DONE]"), "the stream was not cut off");
    store.set_disabled(&user.id, None).await.unwrap();
    assert_eq!(status(me_request(&server).header(COOKIE, &ada)).await, 200);
    let fields = [("current", PASSWORD), ("password", "quite another sentence")];
    let changed = form_request(&server, "/auth/password", &fields).header(COOKIE, &ada).send().await.unwrap();
    let new = session_cookie(&changed).unwrap();
    assert_eq!(
        (
            status(me_request(&server).header(COOKIE, &ada)).await,
            status(me_request(&server).header(COOKIE, &new)).await
        ),
        (401, 200)
    );
    assert_eq!(sign_in(&server, "ada", PASSWORD).await.status().as_u16(), 401);
}

#[tokio::test]
async fn api_keys_are_limited_to_their_scopes() {
    let (server, _folder) = serve(", openSignUp: true");
    let (ada, bob) = (create_first_account(&server).await, sign_up_bob(&server).await);
    let make = |cookie: &str, scopes: Value, days: u32| {
        let body = json!({ "name": "job", "scopes": scopes, "expiresInDays": days });
        server.request(Method::POST, "/api/keys").header(COOKIE, cookie).json(&body)
    };
    let made = make(&ada, json!(["endpoints"]), 30).send().await.unwrap();
    assert_eq!(made.status().as_u16(), 201);
    let made: Value = made.json().await.unwrap();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let bearer = |request: RequestBuilder, key: &str| request.header(AUTHORIZATION, format!("Bearer {key}"));
    assert_eq!(status(bearer(me_request(&server), key)).await, 200);
    assert_eq!(status(me_request(&server).header("x-api-key", key)).await, 200);
    assert_eq!(status(bearer(me_request(&server), key).header("x-api-key", "cw_other")).await, 400);
    assert_eq!(status(bearer(me_request(&server), key).header(COOKIE, &bob)).await, 400);
    for path in [
        "/api/conversations",
        "/api/runs",
        "/api/agent/p/a/c/stream",
        "/api/keys",
        "/p",
        "/auth/account",
        "/api/config/status",
    ] {
        assert_eq!(status(bearer(server.request(Method::GET, path), key)).await, 403, "{path}");
        // A session beside the key does not extend the key's scopes.
        assert_eq!(status(bearer(server.request(Method::GET, path), key).header(COOKIE, &ada)).await, 403, "{path}");
    }
    for wrong in ["cw_", "cw_AAAA", "x"] {
        assert_eq!(status(bearer(me_request(&server), wrong).header(COOKIE, &ada)).await, 401, "{wrong}");
    }
    for (scopes, days) in
        [(json!([]), 30), (json!(["endpoints"]), 0), (json!(["endpoints"]), 400), (json!(["all"]), 30)]
    {
        assert_eq!(status(make(&ada, scopes.clone(), days)).await, 422, "{scopes}, {days}");
    }
    let list: Value =
        server.request(Method::GET, "/api/keys").header(COOKIE, &ada).send().await.unwrap().json().await.unwrap();
    assert!(list.to_string().contains(id) && !list.to_string().contains(key));
    let delete = |cookie: &str| server.request(Method::DELETE, &format!("/api/keys/{id}")).header(COOKIE, cookie);
    assert_eq!((status(delete(&bob)).await, status(delete(&ada)).await), (404, 204));
    assert_eq!(status(bearer(me_request(&server), key)).await, 401);
}

/// The audit log contains sign-ins, failed sign-ins and changes, and its hash chain stays valid.
#[tokio::test]
async fn account_changes_are_audited() {
    let (server, _folder) = serve(", openSignUp: true, auditAddresses: full");
    create_first_account(&server).await;
    for _ in 0..4 {
        assert_eq!(sign_in(&server, "ADA", "wrong").await.status().as_u16(), 401);
    }
    for name in ["Hunter2 is my password", "somebody", "else"] {
        assert_eq!(sign_in(&server, name, "wrong").await.status().as_u16(), 401);
    }
    let ada = session_cookie(&sign_in(&server, "ada", PASSWORD).await).unwrap();
    sign_up_bob(&server).await;
    let key = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 30 });
    let made = server.request(Method::POST, "/api/keys").header(COOKIE, &ada).json(&key).send().await.unwrap();
    let made: Value = made.json().await.unwrap();
    let key = made["id"].as_str().unwrap();
    assert_eq!(status(server.request(Method::DELETE, &format!("/api/keys/{key}")).header(COOKIE, &ada)).await, 204);
    let change = async |current: &str| {
        let fields = [("current", current), ("password", "quite another sentence")];
        form_request(&server, "/auth/password", &fields).header(COOKIE, &ada).send().await.unwrap()
    };
    assert_eq!(change("wrong").await.status().as_u16(), 422);
    let ada = session_cookie(&change(PASSWORD).await).unwrap();
    let other = session_cookie(&sign_in(&server, "ada", "quite another sentence").await).unwrap();
    assert_eq!(status(form_request(&server, "/auth/sign-out", &[]).header(COOKIE, &other)).await, 303);

    let audit = async |query: &str| -> Vec<Value> {
        let rows = server.request(Method::GET, &format!("/api/admin/audit?{query}")).header(COOKIE, &ada);
        let rows: Value = rows.send().await.unwrap().json().await.unwrap();
        rows["items"].as_array().unwrap().clone()
    };
    let shown = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {}", text("tool").trim_start_matches("account:"), text("userName"), text("outcome"))
    };
    let expected = [
        "add_key ada ok",
        "change_password ada ok",
        "change_password ada refused",
        "delete_key ada ok",
        "first_account ada ok",
        "sign_in - refused",
        "sign_in ada ok",
        "sign_in ada ok",
        "sign_in ada refused",
        "sign_out ada ok",
        "sign_up bob ok",
    ];
    let mut seen = Vec::new();
    // Rows about failed sign-ins are written in the background. The loop ends at the expected
    // number; an extra row fails the comparison below.
    for _ in 0..1200 {
        let rows = audit("kind=accounts").await;
        seen = rows.iter().map(shown).collect();
        seen.sort_unstable();
        if seen.len() >= expected.len() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(seen, expected);
    let rows = audit("kind=accounts&outcome=refused").await;
    let all = format!("{rows:?}");
    assert!(all.contains("127.0.0.1") && !all.to_lowercase().contains("unter2"), "{all}");
    assert_eq!(audit("kind=accounts&user=BOB").await.len(), 1);
    assert_eq!(audit("tool=account:sign_out&user=ada").await.len(), 1);
    assert_eq!(audit("kind=tools").await, [] as [Value; 0]);
    let verified = server.request(Method::GET, "/api/admin/audit/verify").header(COOKIE, &ada);
    let verified: Value = verified.send().await.unwrap().json().await.unwrap();
    assert_eq!((&verified["holds"], &verified["rows"]), (&json!(true), &json!(expected.len())));
}

/// The pending count of failed sign-ins is written at shutdown.
#[tokio::test]
async fn counted_failed_sign_ins_are_audited_at_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config("")).unwrap();
    let database = format!("sqlite://{}/kept.db", folder.path().display());
    let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &database];
    let mut server = Server::start_with(&arguments);
    create_first_account(&server).await;
    for _ in 0..5 {
        assert_eq!(sign_in(&server, "ada", "wrong").await.status().as_u16(), 401);
    }
    server.terminate();
    assert!(server.wait().success());
    let store = Store::open(&database).await.unwrap();
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
    let refused = rows.iter().filter(|row| row.outcome == "refused");
    let attempts: Vec<_> = refused
        .map(|row| serde_json::from_str::<Value>(&row.arguments).unwrap()["attempts"].as_u64().unwrap())
        .collect();
    assert_eq!(attempts, [1, 4]);
    assert!(store.verify_audit(None).await.unwrap().is_ok());
}

#[tokio::test]
async fn confusable_user_names_are_rejected() {
    let (server, _folder) = serve(", openSignUp: true");
    create_first_account(&server).await;
    let sign_up = async |name: &str| sign_up(&server, name).await;
    assert_eq!(sign_up("cape").await, 303);
    for (name, expected) in [
        ("CAPE", 409),
        // Full width; with one Cyrillic letter; entirely Cyrillic.
        ("ｃape", 422),
        ("cаpe", 422),
        ("саре", 409),
        ("cafe", 303),
        ("иван", 303),
        ("Иван", 409),
    ] {
        assert_eq!(sign_up(name).await, expected, "{name}");
    }
    assert_eq!(sign_in(&server, "Cape", PASSWORD).await.status().as_u16(), 303);
    assert_eq!(sign_in(&server, "ｃape", PASSWORD).await.status().as_u16(), 401);
}

/// Between the check of a name and its account is the hash of the password, which takes long.
#[tokio::test]
async fn confusable_user_names_are_rejected_at_the_same_time() {
    let (server, _folder) = serve(", openSignUp: true");
    let admin = create_first_account(&server).await;
    // Latin and Cyrillic letters.
    for (latin, cyrillic) in [("cape", "саре"), ("pax", "рах"), ("soap", "ѕоар")] {
        let mut statuses = join_all([latin, cyrillic].map(|name| sign_up(&server, name))).await;
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 409], "{latin}");
    }
    let add = server.request(Method::POST, "/api/admin/users").header(COOKIE, admin).header(ORIGIN, &server.origin);
    let (added, signed_up) = futures::join!(status(add.json(&json!({ "name": "pace" }))), sign_up(&server, "расе"));
    assert!([(201, 409), (422, 303)].contains(&(added, signed_up)), "{added} {signed_up}");
}

async fn sign_up(server: &Server, name: &str) -> u16 {
    status(form_request(server, "/auth/sign-up", &[("name", name), ("password", PASSWORD)])).await
}

#[tokio::test]
async fn account_pages_are_not_found_without_accounts() {
    let server = Server::start();
    for path in ["/auth/sign-in", "/auth/sign-up", "/auth/first-admin"] {
        assert_eq!(status(server.request(Method::GET, path)).await, 404, "{path}");
    }
}
