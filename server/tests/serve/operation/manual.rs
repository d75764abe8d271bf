//! Tests of the access to the documentation, and of its search.

use crate::process::Server;
use crate::sign_in::accounts::{PASSWORD, create_first_account, form_request, session_cookie};
use reqwest::Method;
use reqwest::header::{COOKIE, LOCATION};
use tempfile::TempDir;

/// Starts a server with password accounts, on which everybody may sign up.
fn serve(docs: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{docs}\npages: [{{ id: p }}]\nauth: {{ mode: password, openSignUp: true }}\n");
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

async fn get(server: &Server, path: &str, cookie: &str) -> (u16, String) {
    let answer = server.request(Method::GET, path).header(COOKIE, cookie).send().await.unwrap();
    let status = answer.status().as_u16();
    let location = answer.headers().get(LOCATION).map(|location| location.to_str().unwrap().to_owned());
    (status, location.unwrap_or(answer.text().await.unwrap()))
}

#[tokio::test]
async fn documentation_is_shown_to_those_whom_the_config_names() {
    let sign_in = 303;
    for (docs, visitor, user, admin) in [
        ("", sign_in, 404, 200),
        ("docs: { visibleTo: users }", sign_in, 200, 200),
        ("docs: { visibleTo: everyone }", 200, 200, 200),
        ("docs: { visibleTo: nobody }", 404, 404, 404),
    ] {
        let (server, _folder) = serve(docs);
        let ada = create_first_account(&server).await;
        let fields = [("name", "bob"), ("password", PASSWORD)];
        let bob = session_cookie(&form_request(&server, "/auth/sign-up", &fields).send().await.unwrap()).unwrap();
        for path in ["/docs", "/docs/tools", "/docs?q=approval"] {
            for (who, cookie, expected) in [("visitor", "", visitor), ("user", &*bob, user), ("admin", &*ada, admin)] {
                assert_eq!(get(&server, path, cookie).await.0, expected, "{docs}: {path} for {who}");
            }
        }
        let (_, console) = get(&server, "/admin/config", &ada).await;
        assert_eq!(console.contains(r#"<a href="/docs""#), admin == 200, "{docs}: the menu of the console");
    }
}

#[tokio::test]
async fn pages_are_linked_and_found() {
    let (server, _folder) = serve("docs: { visibleTo: everyone }");
    let (_, page) = get(&server, "/docs/tools", "").await;
    assert!(
        page.contains("<h1 id=") && page.contains("href=\"/docs/audit\"") && page.contains("aria-current=\"page\"")
    );
    let (_, found) = get(&server, "/docs?q=%3Cb%3Etelegram%3C%2Fb%3E", "").await;
    assert!(found.contains("Results for “&lt;b&gt;telegram&lt;/b&gt;”") && found.contains("/docs/channels"), "{found}");
    let (_, nothing) = get(&server, "/docs?q=qqqqxyz", "").await;
    assert!(nothing.contains("Nothing was found."));
    assert_eq!(get(&server, "/docs/nothing", "").await.0, 404);
    assert_eq!(get(&server, "/docs/..%2Ftools", "").await.0, 404);
}
