//! The administration (A41): for whoever does not answer for the system there is nothing behind any of its doors.

use super::*;

/// A door; it is given a conversation. Beside it stands what it answers an administrator in the mode `local`, where no users are kept.
type Door = fn(&str) -> Knock;

const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

fn with(method: Method, path: String) -> Knock {
    Knock { method, path, body: None }
}

fn form(path: String) -> Knock {
    Knock { method: Method::POST, path, body: None }
}

const DOORS: [(&str, Door, u16); 30] = [
    ("overview", |_| get("/admin".to_owned()), 200),
    ("users", |_| get("/admin/users".to_owned()), 200),
    ("users, with a filter that is none", |_| get("/admin/users?sort=name;drop".to_owned()), 400),
    ("a user", |_| get(format!("/admin/users/{NO_ID}")), 404),
    ("a new user", |_| form("/admin/users".to_owned()), 415),
    ("a user's roles", |_| form(format!("/admin/users/{NO_ID}/roles")), 415),
    ("a user's end", |_| form(format!("/admin/users/{NO_ID}/delete")), 415),
    ("conversations", |_| get("/admin/conversations?text=hello&sort=cost".to_owned()), 200),
    ("another's conversation", |id| get(format!("/admin/conversations/{id}")), 200),
    ("another's conversation as a file", |id| get(format!("/admin/conversations/{id}/export")), 200),
    ("no conversation", |_| get("/admin/conversations/nothing".to_owned()), 404),
    ("feedback", |_| get("/admin/feedback".to_owned()), 200),
    ("audit log", |_| get("/admin/audit?verify=1".to_owned()), 200),
    ("audit log as a table", |_| get("/admin/audit.csv".to_owned()), 200),
    ("overview for programs", |_| get("/api/admin/overview?days=30".to_owned()), 200),
    ("users for programs", |_| get("/api/admin/users".to_owned()), 404),
    ("a user for programs", |_| get(format!("/api/admin/users/{NO_ID}")), 404),
    ("a new user for programs", |_| post("/api/admin/users".to_owned(), json!({ "name": "eve" })), 404),
    (
        "a user's change",
        |_| Knock { method: Method::PATCH, ..post(format!("/api/admin/users/{NO_ID}"), json!({ "disabled": true })) },
        404,
    ),
    ("a user's password", |_| post(format!("/api/admin/users/{NO_ID}/password"), json!({})), 404),
    ("a user's sessions", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}/sessions")), 404),
    ("a user's end for programs", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}?name=eve")), 404),
    ("conversations for programs", |_| get("/api/admin/conversations?judged=up&errors=1".to_owned()), 200),
    ("conversations, with a place that is none", |_| get("/api/admin/conversations?after=x~y".to_owned()), 400),
    ("another's conversation for programs", |id| get(format!("/api/admin/conversations/{id}")), 200),
    ("feedback for programs", |_| get("/api/admin/feedback".to_owned()), 200),
    ("audit log for programs", |_| get("/api/admin/audit?outcome=ok".to_owned()), 200),
    ("the chain for programs", |_| get("/api/admin/audit/verify".to_owned()), 200),
    ("the end of no conversation", |_| with(Method::DELETE, "/api/admin/conversations/nothing".to_owned()), 404),
    ("the end of another's conversation", |id| with(Method::DELETE, format!("/api/admin/conversations/{id}")), 204),
];

#[tokio::test(flavor = "multi_thread")]
async fn only_administrators_find_anything() {
    let routes = serve(&config()).await;
    let ada = caller(("ada", true, &[]));
    assert_eq!(knock(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        for (door, at, of_admin) in DOORS {
            let (status, body) = knock(&routes, &caller, at("c")).await;
            let expected = if name == "admin" { of_admin } else { 404 };
            assert_eq!(status, expected, "{door}, {name}: {body}");
        }
    }
    assert_eq!(knock(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_anothers_conversation_leaves_a_row() {
    let routes = serve(&config()).await;
    let (ada, admin) = (caller(("ada", true, &[])), caller(("boss", true, &["admin"])));
    assert_eq!(knock(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    assert_eq!(knock(&routes, &admin, send("p_open", "a_open", "own", "Hello")).await.0, 200);
    for path in ["/admin/conversations/c", "/admin/conversations/c/export", "/api/admin/conversations/own"] {
        assert_eq!(knock(&routes, &admin, get(path.to_owned())).await.0, 200, "{path}");
    }
    let rows = knock(&routes, &admin, get("/api/admin/audit?user=boss".to_owned())).await.1;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let seen = rows["items"].as_array().unwrap().iter().map(|row| {
        (
            row["tool"].as_str().unwrap(),
            row["conversationId"].as_str().unwrap(),
            row["arguments"]["userId"].as_str().unwrap(),
        )
    });
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen, [("admin:export_conversation", "c", "ada"), ("admin:read_conversation", "c", "ada")]);
    let chain = knock(&routes, &admin, get("/api/admin/audit/verify".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&chain).unwrap()["holds"], true);
}
