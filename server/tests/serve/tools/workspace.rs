//! The files of conversations and the shell, from the config to the database.

use crate::http::chunks;
use crate::process::Server;
use insta::assert_snapshot;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use std::io::{Cursor, Read};
use std::process::Command;
use tempfile::TempDir;
use zip::ZipArchive;

pub(super) const ANALYST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/analyst");
pub(super) const FILES: &str = "/api/conversations/c/files";

/// Returns the results of tools in a stream, as the model reads them.
pub(super) fn results(chunks: &[Value]) -> Vec<String> {
    let of_tools =
        chunks.iter().filter(|chunk| chunk["type"].as_str().is_some_and(|kind| kind.starts_with("tool-output")));
    of_tools
        .map(|chunk| chunk["output"].as_str().or(chunk["errorText"].as_str()).unwrap_or_default().to_owned())
        .collect()
}

/// Lets the demo model call a tool with a text.
pub(super) async fn start(server: &Server, tool: &str, text: &str) -> String {
    let message = server.message_to("home/analyst", "c", &format!("start {tool}: {text}"));
    results(&chunks(message.send().await.unwrap()).await).join("\n")
}

pub(super) async fn get(server: &Server, path: &str) -> (u16, HeaderMap, Vec<u8>) {
    let response = server.request(Method::GET, path).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.bytes().await.unwrap().to_vec())
}

/// Uploads files, and returns the status and what was stored, or the message of the error.
async fn upload(server: &Server, files: &[(&str, &str)]) -> (u16, String) {
    let part = |(name, text): &(&str, &str)| {
        format!("--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let body = files.iter().map(part).collect::<String>() + "--part--\r\n";
    let request = server.request(Method::POST, FILES).header("content-type", "multipart/form-data; boundary=part");
    let response = request.body(body).send().await.unwrap();
    let status = response.status().as_u16();
    let answer: Value = response.json().await.unwrap();
    let paths = answer["items"].as_array().into_iter().flatten().map(|item| item["path"].as_str().unwrap());
    let error = answer["error"]["message"].as_str();
    (status, error.map_or_else(|| paths.collect::<Vec<_>>().join(" "), str::to_owned))
}

#[tokio::test]
async fn the_example_analyses_an_attached_file() {
    let server = Server::start_with(&["--config", ANALYST]);
    let sales = std::fs::read(format!("{ANALYST}/sales.csv")).unwrap();
    let stored = server.request(Method::POST, "/api/files?name=sales.csv").body(sales).send().await.unwrap();
    let file: Value = stored.json().await.unwrap();
    let part = json!({ "type": "file", "url": file["url"], "mediaType": file["mediaType"], "filename": "sales.csv" });
    let parts = json!([{ "type": "text", "text": "Analyse sales.csv" }, part]);
    let message = json!({ "id": "m", "role": "user", "parts": parts });
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
    let request = server.request(Method::POST, "/api/agent/home/analyst?conversationId=c");
    let chunks = chunks(request.json(&body).send().await.unwrap()).await;
    assert_snapshot!(results(&chunks).join("\n"), @"
    Jan,2000
    Feb,2300
    Mar,2500
    Apr,2850
    [Written: /outputs/chart.svg, /outputs/report.md, /outputs/totals.html, /workspace/sums.csv]
    [Exit code 0]
    Presented to the user: /outputs/chart.svg, /outputs/report.md, /outputs/totals.html.
    ");
    let shown = chunks.iter().find(|chunk| chunk["type"] == "data-presented-files").unwrap();
    let [chart, report, page] = &shown["data"]["files"].as_array().unwrap()[..] else { panic!("{shown}") };
    let (status, headers, content) = get(&server, report["url"].as_str().unwrap()).await;
    assert_eq!(status, 200);
    // Tools that send the file elsewhere read the same content by its id.
    let (status, _, by_id) = get(&server, &format!("/api/files/{}", report["fileId"].as_str().unwrap())).await;
    assert_eq!((status, &by_id), (200, &content));
    assert_snapshot!(String::from_utf8(content).unwrap(), @"
    # Report

    | | Total |
    |---|---:|
    | Jan | 2000 |
    | Feb | 2300 |
    | Mar | 2500 |
    | Apr | 2850 |

    All together: 9650
    ");
    assert_eq!(headers["content-type"], "text/markdown; charset=utf-8");
    let (_, headers, content) = get(&server, &format!("{}?download=true", chart["url"].as_str().unwrap())).await;
    assert!(content.starts_with(b"<svg xmlns=") && content.ends_with(b"</svg>\n"));
    assert_eq!(headers["content-type"], "image/svg+xml; charset=utf-8");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"chart.svg\""));
    let (_, headers, content) = get(&server, page["url"].as_str().unwrap()).await;
    assert!(String::from_utf8(content).unwrap().contains("<output>2000</output>"));
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    // The attached file is read-only.
    assert_snapshot!(start(&server, "bash", "echo x >> /uploads/sales.csv").await.lines().last().unwrap(), @"[Exit code 1]");
    let (_, _, listed) = get(&server, FILES).await;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let paths: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| item["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "/outputs/chart.svg",
            "/outputs/report.md",
            "/outputs/totals.html",
            "/uploads/sales.csv",
            "/workspace/sums.csv"
        ]
    );
}

#[tokio::test]
async fn programs_read_upload_and_delete_files() {
    let server = Server::start_with(&["--config", ANALYST]);
    assert_eq!(get(&server, FILES).await.0, 404);
    start(&server, "bash", "echo one > /outputs/a.txt").await;
    start(&server, "bash", "echo two > /outputs/a.txt; mkdir b; echo three > b/c.txt").await;
    let read = async |version: u32| {
        let (status, _, content) = get(&server, &format!("{FILES}/{version}")).await;
        (status, String::from_utf8_lossy(&content).into_owned())
    };
    assert_eq!(read(1).await, (200, "one\n".to_owned()));
    assert_eq!(read(2).await, (200, "two\n".to_owned()));
    let (_, _, versions) = get(&server, &format!("{FILES}/versions?path=/outputs/a.txt")).await;
    let versions: Value = serde_json::from_slice(&versions).unwrap();
    assert_eq!(versions["items"].as_array().unwrap().iter().map(|item| &item["version"]).collect::<Vec<_>>(), [2, 1]);

    // Several files at once, all or none.
    assert_eq!(
        upload(&server, &[("x.csv", "1"), ("y.csv", "2")]).await,
        (201, "/uploads/x.csv /uploads/y.csv".to_owned())
    );
    let (status, refused) = upload(&server, &[("z.csv", "1"), ("X.csv", "2")]).await;
    assert_eq!(status, 422);
    assert_snapshot!(refused, @"This is refused: `/uploads/X.csv`: `/uploads/x.csv` exists, and the names differ only in upper and lower case or in like characters.");
    let (status, refused) = upload(&server, &[("../z.csv", "1")]).await;
    assert_eq!(status, 422);
    assert_snapshot!(refused, @r#"The name "../z.csv" is refused: a name has at least one character, and no `/`."#);
    let (status, refused) = upload(&server, &[("z.csv", &"x".repeat(5 << 20))]).await;
    assert_eq!(status, 413);
    assert_snapshot!(refused, @"This is refused: a file may have 4194304 bytes.");
    assert_snapshot!(start(&server, "bash", "ls /uploads").await, @"
    x.csv
    y.csv
    [Exit code 0]
    ");

    let (status, _, archive) = get(&server, &format!("{FILES}/archive")).await;
    assert_eq!(status, 200);
    let mut archive = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut packed = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let (name, mut text) = (file.name().unwrap().into_owned(), String::new());
        file.read_to_string(&mut text).unwrap();
        packed.push(format!("{name} {}", text.trim()));
    }
    assert_eq!(packed, ["outputs/a.txt two", "uploads/x.csv 1", "uploads/y.csv 2", "workspace/b/c.txt three"]);

    let delete = async |path: &str| {
        let request = server.request(Method::DELETE, &format!("{FILES}?path={path}"));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(delete("/outputs/a.txt").await, 204);
    assert_eq!(delete("/outputs/a.txt").await, 404);
    assert_eq!(read(2).await.0, 404);
    // The address of a deleted version is not given to another one.
    start(&server, "bash", "echo four > /outputs/a.txt").await;
    assert_eq!(read(2).await.0, 404);

    let delete = server.request(Method::DELETE, "/api/conversations/c");
    assert!(delete.send().await.unwrap().status().is_success());
    assert_eq!(get(&server, FILES).await.0, 404);
}

#[tokio::test]
async fn an_old_version_is_restored_as_the_newest_one() {
    let server = Server::start_with(&["--config", ANALYST]);
    start(&server, "bash", "echo one > /outputs/a.txt").await;
    start(&server, "bash", "echo two > /outputs/a.txt").await;
    let restore = async |version: &str| {
        let response = server.request(Method::POST, &format!("{FILES}/{version}/restore")).send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    let (status, file) = restore("1").await;
    assert_eq!((status, &file["path"], &file["version"]), (201, &json!("/outputs/a.txt"), &json!(3)));
    assert_eq!(get(&server, file["url"].as_str().unwrap()).await.2, b"one\n");
    // The versions before stay.
    assert_eq!(get(&server, &format!("{FILES}/2")).await.2, b"two\n");
    assert_snapshot!(start(&server, "read_file", "/outputs/a.txt").await, @"one");
    let (status, error) = restore("3").await;
    assert_eq!(status, 409);
    assert_snapshot!(error["error"]["message"].as_str().unwrap(), @"This is the newest version of the file.");
    for unknown in ["9", "0", "-1", "x"] {
        assert_eq!(restore(unknown).await.0, 404, "{unknown}");
    }
    let (_, _, log) = get(&server, "/api/admin/audit?tool=workspace:restore").await;
    let log: Value = serde_json::from_slice(&log).unwrap();
    let rows: Vec<_> =
        log["items"].as_array().unwrap().iter().filter(|row| row["tool"] == "workspace:restore").collect();
    assert_eq!(rows.len(), 1, "{log}");
    assert_eq!(rows[0]["conversationId"], "c");
}

#[tokio::test]
async fn the_frame_of_artifacts_allows_nothing() {
    let server = Server::start_with(&["--config", ANALYST]);
    let (status, headers, document) = get(&server, "/api/artifacts/frame").await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (200, "text/html; charset=utf-8"));
    assert_snapshot!(headers["content-security-policy"].to_str().unwrap().replace("; ", "\n"), @"
    sandbox allow-scripts
    default-src 'none'
    script-src 'unsafe-inline'
    style-src 'unsafe-inline'
    img-src data: blob:
    font-src data:
    media-src data: blob:
    connect-src 'none'
    frame-src 'none'
    child-src 'none'
    worker-src 'none'
    object-src 'none'
    form-action 'none'
    base-uri 'none'
    require-trusted-types-for 'script'
    trusted-types default
    frame-ancestors 'self'
    ");
    assert_eq!(headers["connection-allowlist"], "()");
    assert_eq!(headers["x-dns-prefetch-control"], "off");
    assert!(String::from_utf8(document).unwrap().starts_with("<!doctype html>"));
}

/// The files of an answered call are kept when the server is killed; those of a running script are not.
#[tokio::test]
async fn a_killed_server_keeps_whole_calls_only() {
    let folder = TempDir::new().unwrap();
    let database = format!("sqlite://{}/chat.db", folder.path().display());
    let arguments = ["--database", database.as_str(), "--config", ANALYST];
    let mut server = Server::start_with(&arguments);
    start(&server, "bash", "for i in 1 2 3; do echo $i > /outputs/$i; done").await;
    let running = server.message_to("home/analyst", "c", "start bash: echo x > /outputs/x; sleep 20").send();
    // It has begun when the stream has.
    let running = running.await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    server.kill();
    drop(running);
    let server = Server::start_with(&arguments);
    let (_, _, listed) = get(&server, FILES).await;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let paths: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| item["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/outputs/1", "/outputs/2", "/outputs/3"]);
    let (_, _, content) = get(&server, &format!("{FILES}/3")).await;
    assert_eq!(content, b"3\n");
}

/// Returns the ids of the processes for scripts that a server has started.
fn script_processes(server: u32) -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{server}/task")) else { return Vec::new() };
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let all = lists.collect::<Vec<_>>().join(" ");
    all.split_whitespace().filter(|id| is_script_process(id)).map(str::to_owned).collect()
}

fn is_script_process(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains("run-script"))
}

/// The process that waits for the next script ends with the server, also if the server is killed.
#[tokio::test]
async fn the_process_that_waits_ends_with_a_killed_server() {
    let mut server = Server::start_with(&["--config", ANALYST]);
    assert_eq!(script_processes(server.id()), Vec::<String>::new());
    start(&server, "bash", "echo one").await;
    let began = std::time::Instant::now();
    let pause = async || {
        assert!(began.elapsed() < std::time::Duration::from_secs(60));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let waiting = loop {
        if let Some(id) = script_processes(server.id()).pop() {
            break id;
        }
        pause().await;
    };
    server.kill();
    while is_script_process(&waiting) {
        pause().await;
    }
}

#[tokio::test]
async fn the_level_of_the_shell_is_shown() {
    let server = Server::start_with(&["--config", ANALYST]);
    let (_, _, ready) = get(&server, "/readyz").await;
    assert_eq!(String::from_utf8(ready).unwrap(), "ready\nshell: virtual\n");
    let doctor = ["doctor", "--offline", "--config", ANALYST, "--addr", "127.0.0.1:0"];
    let output = Command::new(env!("CARGO_BIN_EXE_chatwright")).args(doctor).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("analyst: virtual"), "{report}");
}
