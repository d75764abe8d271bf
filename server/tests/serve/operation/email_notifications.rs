//! Notifications by e-mail: an address is confirmed, one e-mail tells of everything that is unread, the next one waits,
//! and the link in it ends them.

use super::mail_server::start_mail_server;
use crate::http::chunks;
use crate::process::{Server, client};
use crate::sign_in::accounts::{create_first_account, form_request};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

const CONFIG: &str = r#"
auth: { mode: password, publicUrls: ["http://chat.test"] }
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: mail, type: Smtp, properties: { host: 127.0.0.1, port: SMTP, security: none, from: "Chat <chat@example.com>" } }
agents: [{ id: demo, type: Agent, title: Helper, connectionId: demo, properties: { model: demo } }]
notifications:
  contact: mailto:ops@example.com
  email: { connectionId: mail, afterMinutes: 0, everyMinutes: 30 }
workflows:
  - { id: leave, title: Leave, steps: [{ id: ask, type: human, title: Is this fine?, roles: [admin] }] }
pages:
  - { id: demo, blocks: [{ id: demo, type: AgentChat, properties: { agentId: demo } }] }
  - { id: inbox, blocks: [{ id: tasks, type: WorkflowTasks }] }
"#;

const PAGE: &str = "/account/notifications";

/// Returns the next e-mail, with its long lines joined again (quoted-printable).
async fn next(mails: &mut UnboundedReceiver<String>) -> String {
    let mail = timeout(Duration::from_secs(60), mails.recv()).await.unwrap().unwrap();
    mail.replace("=\n", "").replace("=3D", "=")
}

/// The browser of a user who is signed in.
struct Browser {
    server: Server,
    cookie: String,
}

impl Browser {
    /// Posts a form; returns the status and where it leads.
    async fn post(&self, path: &str, form: &[(&str, &str)]) -> (u16, String) {
        let request = form_request(&self.server, path, form).header(COOKIE, &self.cookie);
        let response = request.send().await.unwrap();
        let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        (response.status().as_u16(), location.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> String {
        let request = self.server.request(Method::GET, path).header(COOKIE, &self.cookie);
        request.send().await.unwrap().text().await.unwrap()
    }

    async fn ask(&self, conversation: &str, text: &str) {
        let request = self.server.message(conversation, text).header(COOKIE, &self.cookie);
        chunks(request.send().await.unwrap()).await;
    }

    async fn email(&self) -> Value {
        serde_json::from_str::<Value>(&self.get("/api/notifications").await).unwrap()["email"].clone()
    }
}

/// Returns the path of the link in an e-mail that begins with this one.
fn link(mail: &str, begin: &str) -> String {
    let at = mail.find(&format!("http://chat.test{begin}")).unwrap_or_else(|| panic!("{begin}: {mail}"));
    mail[at..].trim_start_matches("http://chat.test").split(['\n', '>']).next().unwrap().to_owned()
}

fn done(what: &str) -> (u16, String) {
    (303, format!("{PAGE}?done={what}"))
}

#[tokio::test]
async fn unread_answers_are_sent_to_a_confirmed_address_until_its_link_ends_that() {
    let folder = TempDir::new().unwrap();
    let (port, mut mails) = start_mail_server().await;
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG.replace("SMTP", &port.to_string())).unwrap();
    let server = Server::start_with(&["--config", &folder.path().display().to_string()]);
    let cookie = create_first_account(&server).await;
    let ada = Browser { server, cookie };

    // No notification is sent to an address before it is confirmed.
    assert_eq!(ada.post("/account/notifications/email", &[("address", "not an address")]).await.0, 422);
    assert_eq!(ada.post("/account/notifications/email", &[("address", " ada@example.com ")]).await, done("asked"));
    let asked = next(&mut mails).await;
    assert!(asked.contains("RCPT TO:<ada@example.com>"), "{asked}");
    ada.ask("c0", "What is the weather like?").await;
    assert_eq!(ada.email().await, json!({ "address": "ada@example.com", "isConfirmed": false }));
    let confirm = link(&asked, "/account/notifications/confirm/");
    assert!(ada.get(&confirm).await.contains("Confirm the address"));
    assert!(ada.get(PAGE).await.contains("A link was sent to ada@example.com"));
    assert_eq!(ada.post("/account/notifications/confirm/guessed", &[]).await, done("expired"));
    assert_eq!(ada.post(&confirm, &[]).await, done("confirmed"));
    assert_eq!(ada.post(&confirm, &[]).await, done("expired"));
    assert_eq!(ada.email().await, json!({ "address": "ada@example.com", "isConfirmed": true }));

    // Answers from before the confirmation are not in the e-mail.
    ada.ask("c1", "What is the weather like in Oslo?").await;
    let told = next(&mut mails).await;
    for expected in [
        "Subject: Helper: ",
        ": an answer is there",
        "http://chat.test/demo?conversation=c1",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(!told.contains("conversation=c0"), "{told}");

    // The next one waits.
    ada.ask("c2", "And in Rome?").await;
    assert!(timeout(Duration::from_secs(3), mails.recv()).await.is_err());
    let jobs: Value = serde_json::from_str(&ada.get("/api/admin/jobs?kind=notifications.digest").await).unwrap();
    let waiting = |job: &&Value| job["kind"] == "notifications.digest" && job["state"] == "waiting";
    assert_eq!(jobs["items"].as_array().unwrap().iter().filter(waiting).count(), 1, "{jobs}");

    // A mail program ends it without a session, and nobody learns which links there are.
    let stop = link(&told, "/account/notifications/stop/");
    assert!(ada.get(&stop).await.contains("Turn off e-mail"));
    for path in [stop.as_str(), "/account/notifications/stop/guessed"] {
        let request = client().post(format!("{}{path}", ada.server.origin));
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let response = request.body("List-Unsubscribe=One-Click").send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
    assert_eq!(ada.email().await, json!({ "isConfirmed": false }));

    // The number of confirmation requests is limited.
    for _ in 1..5 {
        assert_eq!(ada.post("/account/notifications/email", &[("address", "eve@example.com")]).await, done("asked"));
    }
    assert_eq!(ada.post("/account/notifications/email", &[("address", "eve@example.com")]).await.0, 429);
    assert_eq!(ada.post("/account/notifications/email/off", &[]).await, done("off"));
}

#[tokio::test]
async fn waiting_questions_are_sent_to_those_who_may_answer_them() {
    let folder = TempDir::new().unwrap();
    let (port, mut mails) = start_mail_server().await;
    let config = CONFIG.replace("SMTP", &port.to_string()).replace("contact:", "afterSeconds: 1\n  contact:");
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let server = Server::start_with(&["--config", &folder.path().display().to_string()]);
    let cookie = create_first_account(&server).await;
    let ada = Browser { server, cookie };
    assert_eq!(ada.post("/account/notifications/email", &[("address", "ada@example.com")]).await, done("asked"));
    let confirm = link(&next(&mut mails).await, "/account/notifications/confirm/");
    assert_eq!(ada.post(&confirm, &[]).await, done("confirmed"));

    let start = ada.server.request(Method::POST, "/api/workflows/leave/runs").header(COOKIE, &ada.cookie);
    let started = start.json(&json!({})).send().await.unwrap();
    assert!(started.status().is_success(), "{}", started.status());
    let told = next(&mut mails).await;
    for expected in ["Leave: Is this fine?", "A question waits for your answer.", "http://chat.test/inbox"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}
