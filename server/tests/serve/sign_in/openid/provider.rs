//! The package `oidc-provider` as a process.

use crate::process::client;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A running provider; it is killed when dropped.
pub(super) struct RealProvider {
    child: Child,
    pub(super) issuer: String,
    /// Kept open: a process that cannot write ends.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl RealProvider {
    /// Starts it for a client whose provider has the id, with keys for an algorithm.
    pub(super) fn start(id: &str, alg: &str, accounts: &Value) -> Self {
        Self::start_with(&json!({ "id": id, "alg": alg, "accounts": accounts }))
    }

    /// Starts it for the client `company`, which may refresh tokens, and exchange them for those of `/service/whoami`.
    pub(super) fn start_with_exchange(accounts: &Value) -> Self {
        Self::start_with(&json!({ "id": "company", "alg": "RS256", "accounts": accounts, "exchange": true }))
    }

    fn start_with(settings: &Value) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/openid/provider.mjs");
        let mut command = Command::new("node");
        let command = command
            .arg(script)
            .arg(settings.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("Node is needed, and its packages: run `npm ci` in `end2end`");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let issuer = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("http://"));
        Self { _stdout: lines, child, issuer: issuer.expect("the provider did not start: run `npm ci` in `end2end`") }
    }

    /// Ends tokens: `expire` those with which services are called, `revoke` all.
    pub(super) async fn end_tokens(&self, how: &str) {
        let answer = client().post(format!("{}/test/{how}", self.issuer)).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 204);
    }

    /// Replaces its accounts.
    pub(super) async fn set_accounts(&self, accounts: &Value) {
        let url = format!("{}/test/accounts", self.issuer);
        let answer = client().put(url).body(accounts.to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 204);
    }
}

impl Drop for RealProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
