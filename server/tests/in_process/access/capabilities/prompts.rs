//! The first config of `docs/prompts.md`, with prompts of users and of administrators.

use crate::access::*;

/// Returns the config, with prompts for some.
fn config() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/prompts.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let more =
        "prompts:\n  perUser: 3\n  textBytes: 200\n  shared:\n    - { name: staff, text: For staff., roles: [hr] }\n";
    config.replacen("prompts:\n  shared:\n", more, 1)
}

/// Returns the names of the prompts that a caller sees, with their origins.
async fn seen(routes: &Router, who: &Caller) -> Vec<String> {
    let (status, list) = ask(routes, who, Method::GET, "/api/prompts", None).await;
    assert_eq!(status, 200, "{list}");
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| format!("{} {}", item["name"].as_str().unwrap(), item["origin"].as_str().unwrap())).collect()
}

const ALL: &str = "/api/prompts";
const SHARED: &str = "/api/admin/prompts";

fn prompt(name: &str, text: &str) -> Option<Value> {
    Some(json!({ "name": name, "text": text }))
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_seen_by_their_user_and_shared_ones_by_roles() {
    let routes = serve(&config()).await;
    let (ada, bob) = (caller(("ada", true, &["hr"])), caller(("bob", true, &[])));
    let (boss, visitor) = (caller(("boss", true, &["admin"])), caller(("visitor", false, &["hr"])));

    let (status, made) = ask(&routes, &ada, Method::POST, ALL, prompt("sum", "Sum up {{text}}.")).await;
    assert_eq!((status, &made["version"], &made["origin"]), (201, &json!(1), &json!("own")), "{made}");
    assert_eq!(made["variables"], json!([{ "name": "text", "values": [] }]));
    assert_eq!(made["parts"], json!([{ "text": "Sum up " }, { "variable": 0 }, { "text": "." }]));
    let own = format!("{ALL}/{}", made["id"].as_str().unwrap());
    for (who, expected) in [(&bob, 201), (&visitor, 401)] {
        assert_eq!(ask(&routes, who, Method::POST, ALL, prompt("Sum", "Of mine.")).await.0, expected);
    }
    let shared = json!({ "name": "Sum", "text": "For all.", "description": "Sums up" });
    assert_eq!(ask(&routes, &boss, Method::POST, SHARED, Some(shared)).await.0, 201);
    let for_some = json!({ "name": "leave", "text": "Ask for leave.", "roles": ["hr", "hr"] });
    let (status, made) = ask(&routes, &boss, Method::POST, SHARED, Some(for_some)).await;
    assert_eq!((status, &made["roles"]), (201, &json!(["hr"])), "{made}");
    let leave = format!("{ALL}/{}", made["id"].as_str().unwrap());

    let of_ada = ["sum own", "leave shared", "staff config", "Sum shared", "translate config"];
    assert_eq!(seen(&routes, &ada).await, of_ada);
    assert_eq!(seen(&routes, &bob).await, ["Sum own", "Sum shared", "translate config"]);
    assert_eq!(seen(&routes, &boss).await, ["Sum shared", "translate config"]);
    assert_eq!(seen(&routes, &visitor).await, ["Sum shared", "translate config"], "his roles do not count");

    let check = async |who: &Caller, path: &str, expected: u16| {
        let (status, found) = ask(&routes, who, Method::GET, path, None).await;
        assert_eq!(status, expected, "{} {path}: {found}", who.user_id);
    };
    for (who, expected) in [(&ada, 200), (&bob, 404), (&boss, 404), (&visitor, 404)] {
        check(who, &own, expected).await;
        check(who, &leave, expected).await;
        check(who, &format!("{ALL}/config-staff"), expected).await;
    }
    check(&visitor, &format!("{ALL}/config-translate"), 200).await;
    check(&bob, &own.replace("/api/prompts", SHARED), 404).await;
    check(&boss, &own.replace("/api/prompts", SHARED), 404).await;

    // Users can only change their own prompts.
    let change = Some(json!({ "name": "mine", "text": "Mine.", "version": 1 }));
    for (who, path, expected) in
        [(&bob, &own, 404), (&boss, &own, 404), (&ada, &leave, 404), (&boss, &leave, 404), (&visitor, &own, 401)]
    {
        assert_eq!(ask(&routes, who, Method::PUT, path, change.clone()).await.0, expected, "{} {path}", who.user_id);
        assert_eq!(ask(&routes, who, Method::DELETE, path, None).await.0, expected, "{} {path}", who.user_id);
    }
    assert_eq!(ask(&routes, &ada, Method::POST, SHARED, prompt("a", "b")).await.0, 404, "she is no administrator");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_name_their_version_and_names_are_unique() {
    let routes = serve(&config()).await;
    let (ada, boss) = (caller(("ada", true, &[])), caller(("boss", true, &["admin"])));
    let add = async |name: &str, text: &str, expected: (u16, Value)| {
        let (status, made) = ask(&routes, &ada, Method::POST, ALL, prompt(name, text)).await;
        assert_eq!((status, made["error"]["path"].clone()), expected, "{name} {text}: {made}");
        made["id"].as_str().unwrap_or_default().to_owned()
    };
    let id = add("sum", "Sum up.", (201, Value::Null)).await;
    add("SUM", "Again.", (422, json!("/name"))).await;
    add("a b", "Again.", (422, json!("/name"))).await;
    add("empty", " ", (422, json!("/text"))).await;
    add("long", &"a".repeat(201), (422, json!("/text"))).await;
    add("two", "Two.", (201, Value::Null)).await;
    add("three", "Three.", (201, Value::Null)).await;
    add("four", "Too many.", (422, json!("/name"))).await;

    let path = format!("{ALL}/{id}");
    let change = async |body: Value, expected: u16| {
        let (status, changed) = ask(&routes, &ada, Method::PUT, &path, Some(body)).await;
        assert_eq!(status, expected, "{changed}");
    };
    change(json!({ "name": "sum", "text": "Briefly." }), 422).await;
    change(json!({ "name": "sum", "text": "Briefly.", "version": 1 }), 200).await;
    change(json!({ "name": "sum", "text": "From another tab.", "version": 1 }), 409).await;
    change(json!({ "name": "two", "text": "Briefly.", "version": 2 }), 422).await;
    let (_, file) = ask(&routes, &ada, Method::GET, "/api/prompts/export", None).await;
    assert_eq!(file["prompts"][0], json!({ "name": "sum", "description": "", "text": "Briefly." }));
    assert_eq!(ask(&routes, &ada, Method::DELETE, &path, None).await.0, 204);
    assert_eq!(ask(&routes, &ada, Method::DELETE, &path, None).await.0, 404);

    let (status, refused) = ask(&routes, &boss, Method::POST, SHARED, prompt("Translate", "Mine.")).await;
    assert_eq!((status, &refused["error"]["path"]), (422, &json!("/name")), "the config has this name");
    let (_, made) = ask(&routes, &boss, Method::POST, SHARED, prompt("sum", "For all.")).await;
    let path = format!("{SHARED}/{}", made["id"].as_str().unwrap());
    for (version, expected) in [(1, 200), (1, 409), (2, 200)] {
        let body =
            json!({ "name": "sum", "text": format!("{version} {expected}"), "roles": ["hr"], "version": version });
        assert_eq!(ask(&routes, &boss, Method::PUT, &path, Some(body)).await.0, expected);
    }
    let (_, list) = ask(&routes, &boss, Method::GET, SHARED, None).await;
    let origins: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["origin"]).collect();
    assert_eq!(origins, ["config", "shared", "config"]);
    assert_eq!(ask(&routes, &boss, Method::DELETE, &path, None).await.0, 204);
    let (_, log) = ask(&routes, &boss, Method::GET, "/api/admin/audit?user=boss", None).await;
    for action in ["admin:add_prompt", "admin:change_prompt", "admin:delete_prompt"] {
        assert!(log.to_string().contains(action), "{action}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_section_there_are_no_prompts() {
    let config = config();
    let (begin, end) = (config.find("prompts:").unwrap(), config.find("pages:").unwrap());
    let routes = serve(&[&config[..begin], &config[end..]].concat()).await;
    let ada = caller(("ada", true, &[]));
    for (method, body) in [(Method::GET, None), (Method::POST, prompt("sum", "Sum up."))] {
        assert_eq!(ask(&routes, &ada, method, ALL, body).await.0, 404);
    }
}
