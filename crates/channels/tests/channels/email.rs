//! A mail server: pymap and aiosmtpd, packages of Python.

use crate::pictures::{self, Picture};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The address of the bot.
pub(crate) const BOT: &str = "bot@corp.test";

/// The server.
pub(crate) struct MailServer {
    child: Child,
    orders: Mutex<ChildStdin>,
    /// The messages that it has sent.
    written: Arc<Mutex<Vec<Value>>>,
    picture: Arc<Mutex<Picture>>,
    ports: (u64, u64),
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // Its end ends the IMAP server, too, which a kill would leave.
        let _ = self.orders.lock().unwrap().write_all(b"{\"end\": true}\n");
        let _ = self.child.wait();
    }
}

impl MailServer {
    /// Starts it. `None` if the packages of Python are not installed.
    pub(crate) async fn start() -> Option<Self> {
        let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/python/bin/python");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/channels/mail_server.py");
        let child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            eprintln!(
                "SKIPPED, NOT TESTED: there is no Python with pymap; `cargo xtask test` installs it where Python is"
            );
            return None;
        };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if first["missing"].is_string() {
            eprintln!("SKIPPED, NOT TESTED: {}; `cargo xtask test` installs it", first["missing"]);
            child.wait().unwrap();
            return None;
        }
        let written: Arc<Mutex<Vec<Value>>> = Arc::default();
        let picture = Arc::new(Mutex::new(Picture::new("email")));
        let (all, shown) = (written.clone(), picture.clone());
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap();
                if message["to"].is_array() {
                    let (id, to) = (&message["head"]["message-id"], &message["to"]);
                    shown.lock().unwrap().show((id, to), &message, pictures::email);
                }
                all.lock().unwrap().push(message);
            }
        });
        let orders = Mutex::new(child.stdin.take().unwrap());
        let ports = (first["imap"].as_u64().unwrap(), first["smtp"].as_u64().unwrap());
        Some(Self { child, orders, written, picture, ports })
    }

    /// Returns the connections to the mailbox and to the server that sends, as entries of the config.
    pub(crate) fn connection(&self) -> String {
        let (imap, smtp) = self.ports;
        format!(
            "type: Mailbox, properties: {{ host: 127.0.0.1, port: {imap}, security: none, username: demouser, password: demopass, \
             smtpConnectionId: smtp, authenticationServer: mx.corp.test, pollSeconds: 1, maxPerHour: 6 }} }}\n\
             - {{ id: smtp, type: Smtp, properties: {{ host: 127.0.0.1, port: {smtp}, security: none, from: \"Helper <{BOT}>\" }}"
        )
    }

    fn order(&self, order: Value) {
        let mut orders = self.orders.lock().unwrap();
        writeln!(orders, "{order}").unwrap();
        orders.flush().unwrap();
    }

    /// A person writes a mail that their server has signed. Returns its id.
    pub(crate) fn write(&self, person: &str, number: u32, text: &str, more: &str) -> String {
        let id = format!("{number}.{person}");
        let verified = "Authentication-Results: mx.corp.test; dkim=pass header.d=corp.test\r\n";
        self.deliver(&format!("{verified}From: {person}\r\nTo: {BOT}\r\nMessage-ID: <{id}>\r\nSubject: Question {number}\r\n{more}\r\n{text}\r\n"));
        id
    }

    /// Puts a mail into the mailbox.
    pub(crate) fn deliver(&self, mail: &str) {
        self.picture.lock().unwrap().write("A person", BOT, mail);
        self.order(json!({ "deliver": mail }));
    }

    /// A person replies to a mail of the bot, which is quoted.
    pub(crate) fn reply(&self, person: &str, number: u32, text: &str, to: &Value) -> String {
        let (id, references) = (to["head"]["message-id"].as_str().unwrap(), to["head"]["references"].as_str().unwrap());
        let head = format!("In-Reply-To: {id}\r\nReferences: {references} {id}\r\n");
        let quoted: String = to["text"].as_str().unwrap().lines().map(|line| format!("> {line}\r\n")).collect();
        self.write(
            person,
            number,
            &format!("{text}\r\n\r\nOn Mon, 1 Jan 2026, Helper <{BOT}> wrote:\r\n{quoted}"),
            &head,
        )
    }

    /// Takes further mails without saying so.
    pub(crate) fn be_silent(&self, is_silent: bool) {
        self.order(json!({ "silent": is_silent }));
    }

    /// A person sends a code, and confirms the account that is named.
    pub(crate) async fn link(&self, person: &str, code: &str) {
        self.write(person, 1, &format!("link {code}"), "");
        let asked = self.until_mail(person, "Link this address to the account").await;
        self.reply(person, 2, &format!("confirm {code}"), &asked);
        self.until_mail(person, "You are linked to the account").await;
    }

    /// Returns the mails to a person.
    pub(crate) fn mails(&self, person: &str) -> Vec<Value> {
        let written = self.written.lock().unwrap();
        written.iter().filter(|mail| mail["to"] == json!([person])).cloned().collect()
    }

    /// Waits for a mail to a person with a text.
    pub(crate) async fn until_mail(&self, person: &str, text: &str) -> Value {
        let find = || self.mails(person).into_iter().rfind(|mail| mail["text"].as_str().unwrap().contains(text));
        let wait = async {
            loop {
                if let Some(mail) = find() {
                    return mail;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(60), wait).await;
        found.unwrap_or_else(|_| panic!("{text}: {:?}", self.written.lock().unwrap()))
    }

    /// Waits until all mails in the mailbox were seen.
    pub(crate) async fn until_seen(&self) {
        let wait = async {
            loop {
                let known = self.written.lock().unwrap().len();
                self.order(json!({ "unseen": true }));
                while self.written.lock().unwrap().iter().skip(known).all(|written| written.get("unseen").is_none()) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                let written = self.written.lock().unwrap().clone();
                if written.iter().rev().find_map(|written| written["unseen"].as_u64()) == Some(0) {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.expect("all mails are seen");
    }
}
