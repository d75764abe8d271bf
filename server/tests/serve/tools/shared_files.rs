//! Links to versions of files: what their readers see, and until when.

use super::workspace::{ANALYST, FILES, get, start};
use crate::operation::backup::run_command;
use crate::process::Server;
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;
use wire::file::{FileLink, FileLinks, FileVersions};

/// Makes a link to a version, and returns its id and the path of its page.
async fn share(server: &Server, version: u32) -> (String, String) {
    let response = server.request(Method::POST, &format!("{FILES}/{version}/shares")).send().await.unwrap();
    assert_eq!(response.status(), 201);
    let link: Value = response.json().await.unwrap();
    (link["id"].as_str().unwrap().to_owned(), link["url"].as_str().unwrap().to_owned())
}

/// Returns the status and the text of a page.
async fn read(server: &Server, path: &str) -> (u16, String) {
    let (status, _, body) = get(server, path).await;
    (status, String::from_utf8(body).unwrap())
}

/// Returns the links as the page reads them.
async fn links(server: &Server) -> Vec<FileLink> {
    let (_, list) = read(server, &format!("{FILES}/shares")).await;
    serde_json::from_str::<FileLinks>(&list).unwrap().items
}

#[tokio::test]
async fn a_shared_version_stays_as_it_was_until_its_link_is_revoked() {
    let server = Server::start_with(&["--config", ANALYST]);
    start(&server, "bash", "printf '# Sales\n\n<b>one</b> `x`\n' > /outputs/a.md").await;
    let (id, url) = share(&server, 1).await;
    assert_eq!((id.len(), url.as_str()), (32, &*format!("/shared/files/{id}")));
    start(&server, "bash", "echo two > /outputs/a.md").await;
    let (_, versions) = read(&server, &format!("{FILES}/versions?path=/outputs/a.md")).await;
    let versions = serde_json::from_str::<FileVersions>(&versions).unwrap().items;
    assert_eq!(versions.iter().map(|version| version.version).collect::<Vec<_>>(), [2, 1]);
    assert_eq!((versions[0].path.as_str(), versions[0].size), ("/outputs/a.md", 4));
    assert_eq!((versions[1].url.as_str(), versions[1].media_type.as_str()), (&*format!("{FILES}/1"), "text/markdown"));
    let (status, headers, page) = get(&server, &url).await;
    let page = String::from_utf8(page).unwrap();
    assert_eq!(status, 200);
    assert!(page.contains("<h1 dir=\"auto\">a.md</h1>") && page.contains("&lt;b&gt;one"), "{page}");
    assert!(page.contains("A copy of a file from a conversation with an agent, as it was on "), "{page}");
    assert!(page.contains(&format!("href=\"{url}/content?download=true\"")) && !page.contains("two"), "{page}");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-robots-tag"], "noindex, nofollow");
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let (_, headers, content) = get(&server, &format!("{url}/content?download=true")).await;
    assert_eq!(content, b"# Sales\n\n<b>one</b> `x`\n");
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"a.md\""));
    assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    // The file and its versions are deleted, and the copy is not.
    let delete = async |path: &str| server.request(Method::DELETE, path).send().await.unwrap().status().as_u16();
    assert_eq!(delete(&format!("{FILES}?path=/outputs/a.md")).await, 204);
    assert_eq!(read(&server, &url).await.0, 200);
    let listed = links(&server).await;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].path.as_str(), listed[0].version), ("/outputs/a.md", 1));
    assert_eq!((&listed[0].id, &listed[0].url), (&id, &url));
    assert_eq!(delete(&format!("/api/artifact-shares/{id}")).await, 204);
    assert_eq!(delete(&format!("/api/artifact-shares/{id}")).await, 404);
    let (status, page) = read(&server, &url).await;
    assert_eq!((status, page.contains("Nothing is shared here")), (404, true));
    assert_eq!(read(&server, &format!("{url}/content")).await.0, 404);
    assert_eq!(links(&server).await.len(), 0);
    let (_, log) = read(&server, "/api/admin/audit").await;
    assert!(!log.contains(&id), "the log has the secret of a link: {log}");
    for action in ["workspace:share", "workspace:unshare"] {
        assert_eq!(log.matches(&format!("\"{action}\"")).count(), 1, "{log}");
    }
}

#[tokio::test]
async fn pages_of_agents_are_shown_in_the_frame_of_artifacts() {
    let server = Server::start_with(&["--config", ANALYST]);
    start(&server, "bash", "echo '<!doctype html><script>alert(1)</script>' > /outputs/a.html").await;
    let (_, url) = share(&server, 1).await;
    let (_, page) = read(&server, &url).await;
    // The page has nothing of it: the script loads it, for the frame.
    assert!(page.contains(&format!("data-content=\"{url}/content\"")) && !page.contains("alert"), "{page}");
    assert!(page.contains("src=\"/assets/lazy/shared-file.js\""), "{page}");
    let (_, headers, frame) = get(&server, "/shared/frame").await;
    let (_, of_panel, known) = get(&server, "/api/artifacts/frame").await;
    assert_eq!(frame, known);
    for header in ["content-security-policy", "connection-allowlist", "permissions-policy"] {
        assert_eq!(headers[header], of_panel[header], "{header}");
    }
    // Opened by itself, the file runs nothing.
    let (_, headers, _) = get(&server, &format!("{url}/content")).await;
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
}

#[tokio::test]
async fn links_are_in_backups_and_go_with_the_conversation() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (database, restored) = (format!("sqlite://{}", path("a.db")), format!("sqlite://{}", path("b.db")));
    let server = Server::start_with(&["--database", &database, "--config", ANALYST]);
    start(&server, "bash", "echo one > /outputs/a.txt").await;
    let (_, url) = share(&server, 1).await;
    let (backup, url) = (path("backup.tar"), url.as_str());
    let (done, text) = run_command(&["backup", "--to", &backup, "--database", &database]);
    assert!(done, "{text}");
    let (done, text) = run_command(&["restore", "--from", &backup, "--database", &restored]);
    assert!(done, "{text}");
    let other = Server::start_with(&["--database", &restored, "--config", ANALYST]);
    assert!(read(&other, url).await.1.contains("one"));
    let delete = server.request(Method::DELETE, "/api/conversations/c");
    assert!(delete.send().await.unwrap().status().is_success());
    assert_eq!(read(&server, url).await.0, 404);
    assert_eq!(read(&other, url).await.0, 200);
}
