//! Stand-ins written by others: npm packages that run as Node processes.

use egress::{Egress, EgressRequest};
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use url::Url;

/// A running stand-in; it is killed when dropped.
pub(crate) struct Peer {
    child: Child,
    pub(crate) url: String,
    egress: Egress,
    /// Kept open, because a process that cannot write to it ends.
    _stdout: BufReader<ChildStdout>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Starts a script of the folder `end2end/channels`.
    pub(crate) fn start(script: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../end2end/channels");
        let mut command = Command::new("node");
        command.arg(format!("{folder}/{script}")).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Node is needed, and its packages: run `npm ci` in `end2end`");
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        stdout.read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "the stand-in did not start: run `npm ci` in `end2end`");
        let egress = Egress::new(true).unwrap();
        Self { child, url: url.trim().to_owned(), egress, _stdout: stdout }
    }

    /// Sends JSON, with a token if there is one, and returns the JSON of the response.
    pub(crate) async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Value {
        let url = format!("{}{path}", self.url);
        let body = self.send(Method::POST, &url, token, Some(body.to_string().into_bytes())).await;
        serde_json::from_slice(&body).unwrap()
    }

    /// Sends a request, and returns the body of the response.
    pub(crate) async fn send(&self, method: Method, url: &str, token: Option<&str>, body: Option<Vec<u8>>) -> Vec<u8> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = token {
            headers.insert(header::AUTHORIZATION, HeaderValue::try_from(format!("Bearer {token}")).unwrap());
        }
        let (url, timeout) = (Url::parse(url).unwrap(), Duration::from_secs(30));
        let request = EgressRequest { method, url, headers, body, timeout, max_bytes: 1 << 20 };
        let response = self.egress.send(request).await.unwrap();
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        response.body
    }
}

/// Repeats a search for at most a minute, until it finds something.
pub(crate) async fn until_found<T>(what: &str, find: impl AsyncFn() -> Option<T>) -> T {
    let wait = async {
        loop {
            if let Some(found) = find().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), wait).await;
    found.unwrap_or_else(|_| panic!("there is no {what}"))
}
