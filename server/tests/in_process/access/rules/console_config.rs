//! Changes of the config in the console: who may make them, and what they do.

use crate::access::*;
use url::form_urlencoded::Serializer;

const FILES: &str = "
configEditor: { roles: [config-editor] }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: home, auth: public }]
";

const CHANGES: &str = "agents:
  - { id: writer, type: Agent, connectionId: demo, properties: { model: demo } }
pages:
  - { id: desk, auth: public }
";

/// Sends a form; returns the status and the page, or where it leads.
async fn send_form(routes: &Router, caller: &Caller, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
    let body = Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::builder().method(Method::POST).uri(path);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request.extension(caller.clone()).body(Body::from(body)).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let leads_to = response.headers().get(header::LOCATION).map(|path| path.to_str().unwrap().to_owned());
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, leads_to.unwrap_or_else(|| String::from_utf8(body.to_vec()).unwrap()))
}

/// Returns the text of a page, without its markup.
async fn text_of(routes: &Router, caller: &Caller, path: &str) -> (u16, String) {
    let (status, html) = call_route(routes, caller, get(path.to_owned())).await;
    (status, plain(&html))
}

fn plain(html: &str) -> String {
    let texts = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    texts.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Whether a caller can use the agent and the page that the changes add.
async fn has_changes(routes: &Router, caller: &Caller, conversation: &str) -> bool {
    call_route(routes, caller, send("desk", "writer", conversation, "Hello")).await.0 == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_checked_tried_published_and_taken_back() {
    let routes = serve(FILES).await;
    let [ada, cleo] = ["ada", "cleo"].map(|name| caller((name, true, &["admin", "config-editor"])));
    let draft = "/admin/config/draft";
    let save = async |who: &Caller, text: &str, based_on: &str, revision: &str| {
        let fields = [("text", text), ("based_on", based_on), ("revision", revision)];
        send_form(&routes, who, draft, &fields).await
    };
    let act = async |who: &Caller, act: &str, revision: &str| {
        send_form(&routes, who, &format!("{draft}/{act}"), &[("revision", revision)]).await
    };

    // A mistake is shown at its line, and cannot be tried or published.
    let wrong = CHANGES.replace("connectionId: demo", "connectionId: dmeo");
    assert_eq!(save(&ada, &wrong.replace('\n', "\r\n"), "0", "0").await, (303, format!("{draft}?done=saved")));
    let (status, page) = text_of(&routes, &ada, draft).await;
    assert_eq!(status, 200);
    assert!(page.contains("Line 2, column "), "{page}");
    assert!(page.contains("error: there is no connection `dmeo`"), "{page}");
    assert!(page.contains("= help: did you mean `demo`?"), "{page}");
    for name in ["publish", "preview"] {
        let (status, page) = act(&ada, name, "1").await;
        assert_eq!(status, 422, "{name}");
        assert!(plain(&page).contains("The changes have 1 error(s)."), "{page}");
    }

    // The draft of another tab is not overwritten.
    let (status, page) = save(&ada, CHANGES, "0", "0").await;
    assert_eq!(status, 409);
    assert!(plain(&page).contains("You have saved or published this draft elsewhere"), "{page}");
    assert_eq!(save(&ada, CHANGES, "0", "1").await.0, 303);
    let (_, page) = text_of(&routes, &ada, draft).await;
    for expected in ["The checker finds nothing wrong.", "+ agents:", "agents/writer added", "pages/desk added"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }

    // Only the administrator who tries a draft uses it.
    assert!(!has_changes(&routes, &ada, "a1").await);
    assert_eq!(act(&ada, "preview", "2").await, (303, format!("{draft}?done=trying")));
    assert_eq!((has_changes(&routes, &ada, "a2").await, has_changes(&routes, &cleo, "c1").await), (true, false));
    assert_eq!(act(&ada, "preview/end", "2").await.0, 303);
    assert!(!has_changes(&routes, &ada, "a3").await);

    // Cleo has begun before Ada has published.
    assert_eq!(save(&cleo, "prices: { demo: { input: 1, output: 2 } }", "0", "0").await.0, 303);
    assert_eq!(act(&ada, "publish", "2").await, (303, format!("{draft}?done=published")));
    assert_eq!((has_changes(&routes, &ada, "a4").await, has_changes(&routes, &cleo, "c2").await), (true, true));
    let (status, page) = act(&cleo, "publish", "1").await;
    assert_eq!(status, 409);
    assert!(plain(&page).contains("has published version 1 since you began this draft with version 0"), "{page}");
    assert!(plain(&page).contains("- agents:"), "{page}");
    assert_eq!(act(&cleo, "rebase", "1").await.0, 303);
    assert_eq!(act(&cleo, "publish", "2").await.0, 303);
    assert!(!has_changes(&routes, &ada, "a5").await);

    // Every version can be published again, by who has seen the newest one.
    assert_eq!(send_form(&routes, &ada, "/admin/config/versions/1", &[("newest", "1")]).await.0, 409);
    assert_eq!(send_form(&routes, &ada, "/admin/config/versions/9", &[("newest", "2")]).await.0, 404);
    assert_eq!(send_form(&routes, &ada, "/admin/config/versions/1", &[("newest", "2")]).await.0, 303);
    assert!(has_changes(&routes, &cleo, "c3").await);
    let (_, page) = text_of(&routes, &ada, "/admin/config/versions").await;
    assert!(page.contains("version 1 again"), "{page}");
    assert_eq!(send_form(&routes, &ada, "/admin/config/versions/0", &[("newest", "3")]).await.0, 303);
    assert!(!has_changes(&routes, &cleo, "c4").await);

    let rows = call_route(&routes, &ada, get("/api/admin/audit?kind=administration".to_owned())).await.1;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let rows = rows["items"].as_array().unwrap().iter().rev();
    let seen: Vec<_> = rows
        .map(|row| (row["userId"].as_str().unwrap(), row["tool"].as_str().unwrap(), &row["arguments"]["version"]))
        .collect();
    let (published, tried) = ("admin:publish_config", "admin:try_config");
    let (one, two, three, four, null) = (json!(1), json!(2), json!(3), json!(4), Value::Null);
    assert_eq!(
        seen,
        [
            ("ada", tried, &null),
            ("ada", published, &one),
            ("cleo", published, &two),
            ("ada", published, &three),
            ("ada", published, &four)
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_named_roles_change_the_config() {
    let named = serve(FILES).await;
    let unnamed = serve(&FILES.replace("roles: [config-editor]", "")).await;
    let without = serve(&FILES.replace("configEditor:", "# configEditor:")).await;
    let check = async |routes: &Router, roles: &[&str], files: (u16, &str), draft: u16| {
        let caller = caller(("ada", true, roles));
        let (status, page) = text_of(routes, &caller, "/admin/config/files").await;
        assert_eq!(status, files.0, "{roles:?}");
        assert!(page.contains(files.1), "{roles:?}: {page}");
        assert_eq!(text_of(routes, &caller, "/admin/config/draft").await.0, draft, "{roles:?}");
    };
    check(&named, &["admin", "config-editor"], (200, "chatwright.yaml"), 200).await;
    check(&named, &["admin"], (200, "The config is read-only for you."), 403).await;
    check(&named, &["config-editor"], (404, ""), 404).await;
    check(&unnamed, &["admin", "config-editor"], (200, "names no role"), 403).await;
    check(&without, &["admin", "config-editor"], (200, "The files of the config are not shown"), 403).await;
}
