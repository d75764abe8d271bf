//! The config of `docs/notifications.md`: users manage their own browsers, and nobody else's.

use crate::access::*;

/// A public key on the curve P-256: its generator.
const KEY: &str = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
const ALL: &str = "/api/notifications";
const BROWSERS: &str = "/api/notifications/browsers";

/// The subscription that a browser sends.
fn subscription(endpoint: &str) -> Option<Value> {
    let keys = json!({ "p256dh": KEY, "auth": "AAAAAAAAAAAAAAAAAAAAAA" });
    Some(json!({ "endpoint": endpoint, "expirationTime": null, "keys": keys }))
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_managed_by_their_user_alone() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/notifications.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let routes = serve(config).await;
    let (ada, bob) = (caller(("ada", true, &[])), caller(("bob", true, &["admin"])));
    let visitor = caller(("visitor", false, &[]));

    let (status, added) = ask(&routes, &ada, Method::POST, BROWSERS, subscription("https://push.test/1")).await;
    assert_eq!(status, 201, "{added}");
    let own = format!("{BROWSERS}/{}", added["id"].as_str().unwrap());
    let check = async |who: &Caller, method: Method, path: &str, body: Option<Value>, expected: u16| {
        let (status, answer) = ask(&routes, who, method.clone(), path, body).await;
        assert_eq!(status, expected, "{method} {path} by {}: {answer}", who.user_id);
        answer
    };
    let seen = check(&ada, Method::GET, ALL, None, 200).await;
    assert_eq!((seen["browsers"].as_array().unwrap().len(), &seen["most"]), (1, &json!(10)), "{seen}");
    assert_eq!(check(&bob, Method::GET, ALL, None, 200).await["browsers"], json!([]));
    check(&visitor, Method::GET, ALL, None, 401).await;
    check(&visitor, Method::POST, BROWSERS, subscription("https://push.test/2"), 401).await;
    check(&visitor, Method::POST, "/api/notifications/test", None, 401).await;
    for who in [&bob, &visitor] {
        check(who, Method::DELETE, &own, None, if who.is_authenticated { 404 } else { 401 }).await;
    }
    let refused = check(&ada, Method::POST, BROWSERS, subscription("http://10.0.0.1/"), 422).await;
    assert_eq!(refused["error"]["path"], "endpoint", "{refused}");
    assert_eq!(check(&bob, Method::POST, "/api/notifications/test", None, 200).await, json!({ "browsers": 0 }));
    check(&ada, Method::DELETE, &own, None, 204).await;
    check(&ada, Method::DELETE, &own, None, 404).await;

    let section = "notifications:\n  contact: mailto:ops@example.com    # push services of browsers require it\n";
    let routes = serve(&config.replace(section, "")).await;
    for (method, path) in [(Method::GET, ALL), (Method::POST, "/api/notifications/test")] {
        assert_eq!(ask(&routes, &ada, method, path, None).await.0, 404, "{path}");
    }
}
