//! Tests of the lists of the home page and the command palette.

use crate::access::*;
use chat::SiteClaims;
use serde_json::Map;
use std::sync::Arc;

/// Returns the addresses to which the document links.
fn links(document: &str) -> Vec<&str> {
    let mut before: Vec<_> = document.split("\" class=\"cw-home-link\">").collect();
    before.pop();
    before.into_iter().filter_map(|before| Some(before.rsplit_once("href=\"/")?.1)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_see_only_what_they_may_use() {
    let config = format!("{}home: {{ agents: [a_editors, a_members, a_open] }}\n", config());
    let routes = serve(&config).await;
    for (name, is_authenticated, roles, statuses) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let of = |prefix: &str| {
            let allowed = RULES.iter().zip(statuses).filter(|(_, status)| *status == 200);
            allowed.map(|((kind, _), _)| format!("{prefix}_{kind}")).collect::<Vec<_>>()
        };
        // The pages of the config, and then those of the agents without one.
        let expected = [of("p"), of("a")].concat();
        let listed = call_route(&routes, &caller, post("/ui/pages".to_owned(), json!({}))).await;
        let listed: Vec<Value> = serde_json::from_str(&listed.1).unwrap();
        let ids: Vec<_> = listed.iter().map(|page| page["id"].as_str().unwrap_or_default()).collect();
        assert_eq!(ids, expected, "{name}");
        let (status, document) = call_route(&routes, &caller, get("/".to_owned())).await;
        assert_eq!(status, 200, "{name}");
        // Pages with a chat come first.
        assert_eq!(links(&document), [of("a"), of("p")].concat(), "{name}");
        for ((kind, _), status) in RULES.iter().zip(statuses) {
            assert_eq!(call_route(&routes, &caller, get(format!("/a_{kind}"))).await.0, status, "{name} {kind}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn token_of_one_page_lists_that_page() {
    let routes = serve(&format!("{}home: true\n", config())).await;
    let claims = SiteClaims { inputs: Map::new(), page_id: Some("p_open".to_owned()), agent_id: None };
    let mut caller = caller(("member", true, &[]));
    caller.site_claims = Some(Arc::new(claims));
    let (_, document) = call_route(&routes, &caller, get("/".to_owned())).await;
    assert_eq!(links(&document), ["p_open"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_page_the_app_says_what_to_do() {
    let closed = "pages: [{ id: p_editors, auth: { roles: [editor] } }]\nhome: true\n";
    let routes = serve(closed).await;
    for (name, is_authenticated, roles, expected) in
        [("nobody", false, &[][..], 401), ("member", true, &[][..], 404), ("editor", true, &["editor"][..], 200)]
    {
        let caller = caller((name, is_authenticated, roles));
        assert_eq!(call_route(&routes, &caller, get("/".to_owned())).await.0, expected, "{name}");
    }
}
