//! Rows F2 and F39 for accounts, stored definitions of workflows, datasets and experiments: the server dies
//! before and after each commit of their changes. Acknowledged changes are stored, and no change is stored partially.

mod experiments;

use crate::accounts::StoredAccounts;
use crate::authenticator::{Authenticator, step_token};
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::scenarios::sign_ins::session_cookie;
use crate::server::{Server, Setup};
use anyhow::{Context, Result, bail, ensure};
use faults::Point;
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// A bound above the number of commits.
const MAX_COMMITS: u64 = 110;

const FIRST_PASSWORD: &str = "several words together";
const SECOND_PASSWORD: &str = "quite another sentence";

const PASSWORD_AUTH: &str = "mode: password, publicUrls: ['https://torture.test'], openSignUp: true, \
                             secondFactorKeys: [thirty-two characters or some more]";

/// The writes in the order in which they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Write {
    FirstAccount,
    SignUp,
    SetRoles,
    AddKey,
    AddOtherKey,
    DeleteKey,
    ChangePassword,
    SignIn,
    EndSession,
    EndAllSessions,
    SetUpApp,
    EnterCode,
    AddWorkflow,
    ChangeWorkflow,
    DeleteWorkflow,
    AddDataset,
    AddCases,
    ReplaceCase,
    UploadResults,
    GiveVerdict,
    Decide,
    DeleteDataset,
}

/// The last of them.
const LAST: Write = Write::DeleteDataset;

/// The path of the stored definition.
const DEFINITION: &str = "/api/workflows/definitions/stored";

/// The progress of the writes, and data from their responses.
#[derive(Default)]
struct Progress {
    /// The last write that was sent, and whether it was acknowledged. All earlier ones were.
    sent: Option<Write>,
    is_last_acknowledged: bool,
    ada: String,
    /// The cookies of bob's sessions: from the sign-up, the changed password and the sign-in.
    cookies: Vec<String>,
    bob: String,
    /// The ids and texts of the key that is deleted and of the one that stays.
    keys: Vec<(String, String)>,
    /// The id of the session that is ended.
    ended: String,
    /// The code with which ada has signed in.
    code: String,
}

impl Progress {
    fn is_sent(&self, write: Write) -> bool {
        self.sent.is_some_and(|sent| sent >= write)
    }

    fn is_acknowledged(&self, write: Write) -> bool {
        self.sent.is_some_and(|sent| sent > write || sent == write && self.is_last_acknowledged)
    }
}

/// Kills the server at every commit.
pub(crate) async fn kill_at_every_commit(options: &RunOptions) -> Result<Outcome> {
    let (mut outcome, mut ways) = (Outcome::default(), Vec::new());
    for point in [Point::CommitBefore, Point::CommitAfter] {
        let mut at = 1;
        while kill_at(options, point, at, &mut outcome).await? {
            (outcome.injected, at) = (outcome.injected + 1, at + 1);
            ensure!(at <= MAX_COMMITS, "the writes have more commits than expected");
        }
        ways.push(at - 1);
    }
    outcome.worst = format!("{ways:?} commits, {} writes", LAST as u8 + 1);
    Ok(outcome)
}

/// Returns whether the server died at this commit. If not, all writes must have been acknowledged.
async fn kill_at(options: &RunOptions, point: Point, at: u64, outcome: &mut Outcome) -> Result<bool> {
    let mut testbed = Testbed::new(options, &format!("account-sweep-{}-{at}", point.name())).await?;
    testbed.setup.auth = PASSWORD_AUTH;
    let fault = testbed.setup.with_variable("CHATWRIGHT_FAULT", &format!("{}=kill@{at}", point.name()));
    let (progress, died) = write_all(&testbed, &fault).await?;
    let mut wrong = Vec::new();
    if !died && !progress.is_acknowledged(LAST) {
        wrong.push(format!("the server runs, but {:?} was not acknowledged", progress.sent));
    }
    let server = testbed.setup.start(&testbed.history).await?;
    check_acknowledged(&server, &progress, &mut wrong).await?;
    server.stop().await?;
    let stored = StoredAccounts::read(&testbed.setup.database_file()).await?;
    check_stored(&stored, &progress, &mut wrong);
    wrong.extend(stored.incomplete_changes());
    wrong.extend(verify_audit_chain(&testbed.setup)?);
    wrong.extend(testbed.check().await?);
    let position = format!("{} at {at}, at {:?}", point.name(), progress.sent);
    outcome.violations.extend(wrong.into_iter().map(|wrong| format!("{position}: {wrong}")));
    Ok(died)
}

/// Starts the server and sends all writes while it lives; returns whether it died.
async fn write_all(testbed: &Testbed, setup: &Setup) -> Result<(Progress, bool)> {
    let mut progress = Progress::default();
    let Ok(mut server) = setup.start(&testbed.history).await else { return Ok((progress, true)) };
    let failed = send_writes(&server, &mut progress).await.err();
    let patience = if failed.is_some() { 5_000 } else { 300 };
    let died = server.wait_for_exit(Duration::from_millis(patience)).await.is_some();
    server.kill(&testbed.history).await?;
    match failed {
        Some(error) if !died => Err(error.context(format!("{:?} failed on a running server", progress.sent))),
        _ => Ok((progress, died)),
    }
}

async fn send_writes(server: &Server, progress: &mut Progress) -> Result<()> {
    let browser = Browser::new(server)?;
    let token = server.first_account_token().await?;
    let first = [("token", token.as_str()), ("name", "ada"), ("password", FIRST_PASSWORD)];
    progress.ada = session_cookie(
        &send_write(progress, Write::FirstAccount, 303, browser.form("/auth/first-admin", &first)).await?,
    )?;
    let sign_up = browser.form("/auth/sign-up", &[("name", "bob"), ("password", FIRST_PASSWORD)]);
    let answer = send_write(progress, Write::SignUp, 303, sign_up).await?;
    progress.cookies.push(session_cookie(&answer)?);
    progress.bob = browser.user_id(&progress.ada, "bob").await?;

    let roles = json!({ "roles": ["editor"], "allowUnknownRoles": true });
    let change =
        browser.request(Method::PATCH, &format!("/api/admin/users/{}", progress.bob), &progress.ada).json(&roles);
    send_write(progress, Write::SetRoles, 200, change).await?;
    for write_of_key in [Write::AddKey, Write::AddOtherKey] {
        let key = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 30 });
        let add = browser.request(Method::POST, "/api/keys", &progress.cookies[0]).json(&key);
        let made: Value = send_write(progress, write_of_key, 201, add).await?.json().await?;
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        progress.keys.push((text("id"), text("key")));
    }
    let delete = browser.request(Method::DELETE, &format!("/api/keys/{}", progress.keys[0].0), &progress.cookies[0]);
    send_write(progress, Write::DeleteKey, 204, delete).await?;
    let change = [("current", FIRST_PASSWORD), ("password", SECOND_PASSWORD)];
    let change = browser.form("/auth/password", &change).header(COOKIE, &progress.cookies[0]);
    let answer = send_write(progress, Write::ChangePassword, 303, change).await?;
    progress.cookies.push(session_cookie(&answer)?);
    let sign_in = browser.form("/auth/sign-in", &[("name", "bob"), ("password", SECOND_PASSWORD)]);
    let answer = send_write(progress, Write::SignIn, 303, sign_in).await?;
    progress.cookies.push(session_cookie(&answer)?);
    progress.ended = browser.other_session(&progress.cookies[2]).await?;
    let end = browser.form(&format!("/auth/sessions/{}/end", progress.ended), &[]).header(COOKIE, &progress.cookies[2]);
    send_write(progress, Write::EndSession, 303, end).await?;
    let end = browser.request(Method::DELETE, &format!("/api/admin/users/{}/sessions", progress.bob), &progress.ada);
    send_write(progress, Write::EndAllSessions, 204, end).await?;
    let page = browser.request(Method::GET, "/auth/two-step", &progress.ada).send().await?.text().await?;
    let mut app = Authenticator::from_page(&page)?;
    let (step, code) = (step_token(&page)?, app.next());
    let fields = [("token", step.as_str()), ("password", FIRST_PASSWORD), ("code", code.as_str())];
    let set_up = browser.form("/auth/two-step", &fields).header(COOKIE, &progress.ada);
    send_write(progress, Write::SetUpApp, 200, set_up).await?;
    let step = browser.step_of_ada().await?.context("nobody asks ada for a code")?;
    progress.code = app.next();
    let enter = browser.form("/auth/second-step", &[("token", &step), ("code", &progress.code)]);
    send_write(progress, Write::EnterCode, 303, enter).await?;
    send_writes_of_workflows(&browser, progress).await?;
    experiments::send(&browser, progress).await
}

async fn send_writes_of_workflows(browser: &Browser, progress: &mut Progress) -> Result<()> {
    let ada = progress.ada.clone();
    let add = json!({ "definition": definition(1) });
    let add = browser.request(Method::POST, "/api/workflows/definitions", &ada).json(&add);
    send_write(progress, Write::AddWorkflow, 201, add).await?;
    let change = json!({ "version": 1, "definition": definition(2) });
    let change = browser.request(Method::PUT, DEFINITION, &ada).json(&change);
    send_write(progress, Write::ChangeWorkflow, 200, change).await?;
    let delete = browser.request(Method::DELETE, DEFINITION, &ada);
    send_write(progress, Write::DeleteWorkflow, 204, delete).await?;
    Ok(())
}

/// A definition whose output is its version.
fn definition(version: i64) -> Value {
    json!({ "id": "stored", "steps": [{ "id": "pause", "type": "wait", "seconds": 1 }], "output": version })
}

/// Sends a write and records whether it is acknowledged.
async fn send_write(progress: &mut Progress, write: Write, expected: u16, request: RequestBuilder) -> Result<Response> {
    (progress.sent, progress.is_last_acknowledged) = (Some(write), false);
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    ensure!(status == expected, "{write:?} was answered with {status}");
    progress.is_last_acknowledged = true;
    Ok(answer)
}

/// Checks over HTTP that acknowledged writes are effective after the restart.
async fn check_acknowledged(server: &Server, progress: &Progress, wrong: &mut Vec<String>) -> Result<()> {
    let browser = Browser::new(server)?;
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("I1 {what}"));
        }
    };
    if progress.is_acknowledged(Write::SignUp) {
        let old = browser.signs_in(FIRST_PASSWORD).await?;
        let new = browser.signs_in(SECOND_PASSWORD).await?;
        expect(old != new, "bob can sign in with neither password, or with both");
        if progress.is_acknowledged(Write::ChangePassword) {
            expect(new, "the new password was acknowledged but does not work");
        }
        if !progress.is_sent(Write::ChangePassword) {
            expect(old, "bob's old password does not work, and nobody changed it");
        }
    }
    for (write, (_, key)) in [Write::AddKey, Write::AddOtherKey].into_iter().zip(&progress.keys) {
        let works = browser.is_known("x-api-key", key).await?;
        if write == Write::AddOtherKey || !progress.is_sent(Write::DeleteKey) {
            expect(works, "an acknowledged key does not work");
        } else if progress.is_acknowledged(Write::DeleteKey) {
            expect(!works, "a deleted key still works");
        }
    }
    // The write that ends each session.
    let ends = [Write::ChangePassword, Write::EndSession, Write::EndAllSessions];
    for (end, cookie) in ends.into_iter().zip(&progress.cookies) {
        let counts = browser.is_known("cookie", cookie).await?;
        if !progress.is_sent(end) {
            expect(counts, "an acknowledged session does not work");
        } else if progress.is_acknowledged(end) {
            expect(!counts, "an ended session still works");
        }
    }
    if progress.is_acknowledged(Write::FirstAccount) {
        let step = browser.step_of_ada().await?;
        if progress.is_acknowledged(Write::SetUpApp) {
            expect(step.is_some(), "an app was set up, and nobody asks for a code");
        } else if !progress.is_sent(Write::SetUpApp) {
            expect(step.is_none(), "nobody has set up an app");
        }
        if let (Some(step), true) = (step, progress.is_acknowledged(Write::EnterCode)) {
            let again = browser.form("/auth/second-step", &[("token", &step), ("code", &progress.code)]);
            expect(again.send().await?.status().as_u16() == 401, "a code was accepted twice");
        }
    }
    if progress.is_acknowledged(Write::AddWorkflow) {
        let output = browser.stored_output(&progress.ada).await?;
        let changed = if progress.is_acknowledged(Write::ChangeWorkflow) { 2 } else { 1 };
        // A write that was sent and not acknowledged may be stored or not.
        let is_sent = |write| progress.is_sent(write) && !progress.is_acknowledged(write);
        let is_changed = output == Some(changed) || output == Some(2) && is_sent(Write::ChangeWorkflow);
        if progress.is_acknowledged(Write::DeleteWorkflow) {
            expect(output.is_none(), "a deleted workflow is still there");
        } else {
            let is_deleted = output.is_none() && is_sent(Write::DeleteWorkflow);
            expect(is_changed || is_deleted, "an acknowledged workflow is not the one that was sent");
        }
    }
    if progress.is_sent(Write::AddDataset) {
        wrong.extend(experiments::check(&browser, progress).await?);
    }
    Ok(())
}

/// Checks that acknowledged writes are stored.
fn check_stored(stored: &StoredAccounts, progress: &Progress, wrong: &mut Vec<String>) {
    let user = |name: &str| stored.users.iter().find(|user| user.name == name);
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("I1 {what}"));
        }
    };
    expect(!progress.is_acknowledged(Write::FirstAccount) || user("ada").is_some(), "the first account is not stored");
    expect(!progress.is_acknowledged(Write::SignUp) || user("bob").is_some(), "the new account is not stored");
    if progress.is_acknowledged(Write::SetRoles) {
        expect(user("bob").is_some_and(|bob| bob.roles == json!(["editor"])), "the new roles are not stored");
    }
    if progress.is_acknowledged(Write::AddOtherKey) {
        expect(stored.keys.contains(&progress.keys[1].0), "the key is not stored");
    }
    if progress.is_acknowledged(Write::DeleteKey) {
        expect(!stored.keys.contains(&progress.keys[0].0), "the deleted key is stored");
    }
    if progress.is_acknowledged(Write::EndSession) {
        expect(!stored.sessions.contains(&progress.ended), "the ended session is stored");
    }
}

/// Verifies the hash chain of the audit log with the server's own command.
fn verify_audit_chain(setup: &Setup) -> Result<Option<String>> {
    let database = format!("sqlite://{}", setup.database_file().display());
    let verify = Command::new(&setup.binary).args(["audit", "verify", "--database", &database]).output()?;
    let printed = String::from_utf8_lossy(&[verify.stdout, verify.stderr].concat()).trim().to_owned();
    Ok((!verify.status.success()).then(|| format!("the audit log is not valid: {printed}")))
}

/// A browser without a cookie store.
struct Browser {
    http: reqwest::Client,
    origin: String,
}

impl Browser {
    fn new(server: &Server) -> Result<Self> {
        let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
        let http = http.timeout(Duration::from_secs(30)).build()?;
        Ok(Self { http, origin: server.origin.clone() })
    }

    fn request(&self, method: Method, path: &str, cookie: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.origin)).header(COOKIE, cookie)
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
        let form = self.http.post(format!("{}{path}", self.origin)).header(ORIGIN, &self.origin);
        form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.join("&"))
    }

    /// Returns whether bob can sign in with this password.
    async fn signs_in(&self, password: &str) -> Result<bool> {
        let answer = self.form("/auth/sign-in", &[("name", "bob"), ("password", password)]).send().await?;
        let status = answer.status().as_u16();
        ensure!(matches!(status, 303 | 401), "a sign-in was answered with {status}");
        Ok(status == 303)
    }

    /// Enters the password of ada; returns the encrypted step if a code is asked for.
    async fn step_of_ada(&self) -> Result<Option<String>> {
        let fields = [("name", "ada"), ("password", FIRST_PASSWORD)];
        let answer = self.form("/auth/sign-in", &fields).send().await?;
        match answer.status().as_u16() {
            303 => Ok(None),
            200 => Ok(Some(step_token(&answer.text().await?)?)),
            status => bail!("a sign-in was answered with {status}"),
        }
    }

    /// Returns whether the server accepts these credentials.
    async fn is_known(&self, header: &'static str, value: &str) -> Result<bool> {
        let me = self.http.post(format!("{}/api/endpoints/page/me", self.origin)).header(header, value);
        let status = me.json(&json!({})).send().await?.status().as_u16();
        ensure!(matches!(status, 200 | 401), "`me` was answered with {status}");
        Ok(status == 200)
    }

    /// Returns the output of the stored workflow.
    async fn stored_output(&self, admin: &str) -> Result<Option<i64>> {
        let answer = self.request(Method::GET, DEFINITION, admin).send().await?;
        if answer.status().as_u16() == 404 {
            return Ok(None);
        }
        let stored: Value = answer.error_for_status()?.json().await?;
        Ok(stored["definition"]["output"].as_i64())
    }

    /// Returns the id of a user from the admin API.
    async fn user_id(&self, admin: &str, name: &str) -> Result<String> {
        let users = self.request(Method::GET, &format!("/api/admin/users?text={name}"), admin).send().await?;
        let users: Value = users.error_for_status()?.json().await?;
        Ok(users["items"][0]["id"].as_str().with_context(|| format!("no id in {users}"))?.to_owned())
    }

    /// Returns the id of the user's other session from the account page.
    async fn other_session(&self, cookie: &str) -> Result<String> {
        let page = self.request(Method::GET, "/auth/account", cookie).send().await?.error_for_status()?.text().await?;
        let ids = page.split("/auth/sessions/").skip(1).filter_map(|rest| rest.split('/').next());
        let ids: Vec<_> = ids.collect();
        // The most recently used session is listed first.
        Ok((*ids.last().context("no session on the account page")?).to_owned())
    }
}
