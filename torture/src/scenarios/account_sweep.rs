//! F2, F39 for accounts: the server dies before and after each commit of what users and
//! administrators do with accounts. What was acknowledged is there, and nothing is there by half.

use crate::accounts::StoredAccounts;
use crate::scenario::{Given, Outcome, World};
use crate::server::{Server, Setup};
use anyhow::{Context, Result, ensure};
use faults::Point;
use reqwest::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// More commits than there are on the way.
const MOST: u64 = 80;

const FIRST: &str = "several words together";
const SECOND: &str = "quite another sentence";

const BY_PASSWORD: &str = "mode: password, publicUrls: ['https://torture.test'], openSignUp: true";

/// A write, in the order in which they follow each other.
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
}

/// What became of the writes, and what their answers said.
#[derive(Default)]
struct Told {
    /// The last one that was sent, and whether it was acknowledged. All before it were.
    sent: Option<Write>,
    is_last_acknowledged: bool,
    ada: String,
    /// The cookies of bob's sessions: of his sign-up, of his new password, of his sign-in.
    cookies: Vec<String>,
    bob: String,
    /// The key that is deleted, and the one that stays, with their ids.
    keys: Vec<(String, String)>,
    /// The id of the session that ends.
    ended: String,
}

impl Told {
    fn is_sent(&self, write: Write) -> bool {
        self.sent.is_some_and(|sent| sent >= write)
    }

    fn is_acknowledged(&self, write: Write) -> bool {
        self.sent.is_some_and(|sent| sent > write || sent == write && self.is_last_acknowledged)
    }
}

/// Dies at every commit.
pub(crate) async fn kills(given: &Given) -> Result<Outcome> {
    let (mut outcome, mut ways) = (Outcome::default(), Vec::new());
    for point in [Point::CommitBefore, Point::CommitAfter] {
        let mut at = 1;
        while kill_at(given, point, at, &mut outcome).await? {
            (outcome.injected, at) = (outcome.injected + 1, at + 1);
            ensure!(at <= MOST, "there is no end of commits");
        }
        ways.push(at - 1);
    }
    outcome.worst = format!("{ways:?} commits, {} writes", Write::EndAllSessions as u8 + 1);
    Ok(outcome)
}

/// Whether the server died there. Otherwise all writes must have been acknowledged.
async fn kill_at(given: &Given, point: Point, at: u64, outcome: &mut Outcome) -> Result<bool> {
    let mut world = World::new(given, &format!("account-sweep-{}-{at}", point.name())).await?;
    world.setup.auth = BY_PASSWORD;
    let fault = world.setup.with("CHATWRIGHT_FAULT", &format!("{}=kill@{at}", point.name()));
    let (told, died) = write_all(&world, &fault).await?;
    let mut wrong = Vec::new();
    if !died && !told.is_acknowledged(Write::EndAllSessions) {
        wrong.push(format!("the server lives, and {:?} was not acknowledged", told.sent));
    }
    let server = world.setup.start(&world.history).await?;
    acknowledged(&server, &told, &mut wrong).await?;
    server.stop().await?;
    let stored = StoredAccounts::read(&world.setup.file()).await?;
    kept(&stored, &told, &mut wrong);
    wrong.extend(stored.halves());
    wrong.extend(chain(&world.setup)?);
    wrong.extend(world.check().await?);
    let place = format!("{} at {at}, at {:?}", point.name(), told.sent);
    outcome.violations.extend(wrong.into_iter().map(|wrong| format!("{place}: {wrong}")));
    Ok(died)
}

/// Starts the server and makes all writes, as far as it lives; whether it died.
async fn write_all(world: &World, setup: &Setup) -> Result<(Told, bool)> {
    let mut told = Told::default();
    let Ok(mut server) = setup.start(&world.history).await else { return Ok((told, true)) };
    let failed = writes(&server, &mut told).await.err();
    let patience = if failed.is_some() { 5_000 } else { 300 };
    let died = server.ended(Duration::from_millis(patience)).await.is_some();
    server.kill(&world.history).await?;
    match failed {
        Some(error) if !died => Err(error.context(format!("{:?} failed at a server that lives", told.sent))),
        _ => Ok((told, died)),
    }
}

async fn writes(server: &Server, told: &mut Told) -> Result<()> {
    let browser = Browser::at(server)?;
    let token = server.token().await?;
    let first = [("token", token.as_str()), ("name", "ada"), ("password", FIRST)];
    told.ada = cookie(&write(told, Write::FirstAccount, 303, browser.form("/auth/first-admin", &first)).await?)?;
    let sign_up = browser.form("/auth/sign-up", &[("name", "bob"), ("password", FIRST)]);
    let answer = write(told, Write::SignUp, 303, sign_up).await?;
    told.cookies.push(cookie(&answer)?);
    told.bob = browser.id_of(&told.ada, "bob").await?;

    let roles = json!({ "roles": ["editor"], "allowUnknownRoles": true });
    let change = browser.ask(Method::PATCH, &format!("/api/admin/users/{}", told.bob), &told.ada).json(&roles);
    write(told, Write::SetRoles, 200, change).await?;
    for write_of_key in [Write::AddKey, Write::AddOtherKey] {
        let key = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 30 });
        let add = browser.ask(Method::POST, "/api/keys", &told.cookies[0]).json(&key);
        let made: Value = write(told, write_of_key, 201, add).await?.json().await?;
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        told.keys.push((text("id"), text("key")));
    }
    let delete = browser.ask(Method::DELETE, &format!("/api/keys/{}", told.keys[0].0), &told.cookies[0]);
    write(told, Write::DeleteKey, 204, delete).await?;
    let change = [("current", FIRST), ("password", SECOND)];
    let change = browser.form("/auth/password", &change).header(COOKIE, &told.cookies[0]);
    let answer = write(told, Write::ChangePassword, 303, change).await?;
    told.cookies.push(cookie(&answer)?);
    let sign_in = browser.form("/auth/sign-in", &[("name", "bob"), ("password", SECOND)]);
    let answer = write(told, Write::SignIn, 303, sign_in).await?;
    told.cookies.push(cookie(&answer)?);
    told.ended = browser.other_session(&told.cookies[2]).await?;
    let end = browser.form(&format!("/auth/sessions/{}/end", told.ended), &[]).header(COOKIE, &told.cookies[2]);
    write(told, Write::EndSession, 303, end).await?;
    let end = browser.ask(Method::DELETE, &format!("/api/admin/users/{}/sessions", told.bob), &told.ada);
    write(told, Write::EndAllSessions, 204, end).await?;
    Ok(())
}

/// Sends a write and notes whether it is acknowledged.
async fn write(told: &mut Told, write: Write, expected: u16, request: RequestBuilder) -> Result<Response> {
    (told.sent, told.is_last_acknowledged) = (Some(write), false);
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    ensure!(status == expected, "{write:?} was answered with {status}");
    told.is_last_acknowledged = true;
    Ok(answer)
}

/// What was acknowledged holds at the server that started again.
async fn acknowledged(server: &Server, told: &Told, wrong: &mut Vec<String>) -> Result<()> {
    let browser = Browser::at(server)?;
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("I1 {what}"));
        }
    };
    if told.is_acknowledged(Write::SignUp) {
        let old = browser.signs_in(FIRST).await?;
        let new = browser.signs_in(SECOND).await?;
        expect(old != new, "bob signs in with neither password, or with both");
        if told.is_acknowledged(Write::ChangePassword) {
            expect(new, "the new password was acknowledged and is not bob's");
        }
        if !told.is_sent(Write::ChangePassword) {
            expect(old, "nobody changed bob's password");
        }
    }
    for (write, (_, key)) in [Write::AddKey, Write::AddOtherKey].into_iter().zip(&told.keys) {
        let works = browser.is_known("x-api-key", key).await?;
        if write == Write::AddOtherKey || !told.is_sent(Write::DeleteKey) {
            expect(works, "a key was acknowledged and does not open anything");
        } else if told.is_acknowledged(Write::DeleteKey) {
            expect(!works, "a key was deleted and opens");
        }
    }
    // Each session until the write that ends it.
    let ends = [Write::ChangePassword, Write::EndSession, Write::EndAllSessions];
    for (end, cookie) in ends.into_iter().zip(&told.cookies) {
        let counts = browser.is_known("cookie", cookie).await?;
        if !told.is_sent(end) {
            expect(counts, "a session was acknowledged and is not there");
        } else if told.is_acknowledged(end) {
            expect(!counts, "a session was ended and counts");
        }
    }
    Ok(())
}

/// What was acknowledged is stored.
fn kept(stored: &StoredAccounts, told: &Told, wrong: &mut Vec<String>) {
    let user = |name: &str| stored.users.iter().find(|user| user.name == name);
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("I1 {what}"));
        }
    };
    expect(!told.is_acknowledged(Write::FirstAccount) || user("ada").is_some(), "the first account is not stored");
    expect(!told.is_acknowledged(Write::SignUp) || user("bob").is_some(), "the new account is not stored");
    if told.is_acknowledged(Write::SetRoles) {
        expect(user("bob").is_some_and(|bob| bob.roles == json!(["editor"])), "the new roles are not stored");
    }
    if told.is_acknowledged(Write::AddOtherKey) {
        expect(stored.keys.contains(&told.keys[1].0), "the key is not stored");
    }
    if told.is_acknowledged(Write::DeleteKey) {
        expect(!stored.keys.contains(&told.keys[0].0), "the deleted key is stored");
    }
    if told.is_acknowledged(Write::EndSession) {
        expect(!stored.sessions.contains(&told.ended), "the ended session is stored");
    }
}

/// The chain of the audit log is whole, as the server's own command says.
fn chain(setup: &Setup) -> Result<Option<String>> {
    let database = format!("sqlite://{}", setup.file().display());
    let verify = Command::new(&setup.binary).args(["audit", "verify", "--database", &database]).output()?;
    let said = String::from_utf8_lossy(&[verify.stdout, verify.stderr].concat()).trim().to_owned();
    Ok((!verify.status.success()).then(|| format!("the audit log does not fit: {said}")))
}

/// A browser that keeps no cookies by itself.
struct Browser {
    http: reqwest::Client,
    origin: String,
}

impl Browser {
    fn at(server: &Server) -> Result<Self> {
        let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
        let http = http.timeout(Duration::from_secs(30)).build()?;
        Ok(Self { http, origin: server.origin.clone() })
    }

    fn ask(&self, method: Method, path: &str, cookie: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.origin)).header(COOKIE, cookie)
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
        let form = self.http.post(format!("{}{path}", self.origin)).header(ORIGIN, &self.origin);
        form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body.join("&"))
    }

    /// Whether bob signs in with this password.
    async fn signs_in(&self, password: &str) -> Result<bool> {
        let answer = self.form("/auth/sign-in", &[("name", "bob"), ("password", password)]).send().await?;
        let status = answer.status().as_u16();
        ensure!(matches!(status, 303 | 401), "a sign-in was answered with {status}");
        Ok(status == 303)
    }

    /// Whether the server knows who brings this.
    async fn is_known(&self, header: &'static str, value: &str) -> Result<bool> {
        let me = self.http.post(format!("{}/api/endpoints/page/me", self.origin)).header(header, value);
        let status = me.json(&json!({})).send().await?.status().as_u16();
        ensure!(matches!(status, 200 | 401), "who asks was answered with {status}");
        Ok(status == 200)
    }

    /// The id of a user, as an administrator finds it.
    async fn id_of(&self, admin: &str, name: &str) -> Result<String> {
        let users = self.ask(Method::GET, &format!("/api/admin/users?text={name}"), admin).send().await?;
        let users: Value = users.error_for_status()?.json().await?;
        Ok(users["items"][0]["id"].as_str().with_context(|| format!("no id in {users}"))?.to_owned())
    }

    /// The session that is not this one, by the page of the account.
    async fn other_session(&self, cookie: &str) -> Result<String> {
        let page = self.ask(Method::GET, "/auth/account", cookie).send().await?.error_for_status()?.text().await?;
        let ids = page.split("/auth/sessions/").skip(1).filter_map(|rest| rest.split('/').next());
        let ids: Vec<_> = ids.collect();
        // The one that was used last stands first.
        Ok((*ids.last().context("no session on the account page")?).to_owned())
    }
}

fn cookie(answer: &Response) -> Result<String> {
    let set = answer.headers().get_all(SET_COOKIE).iter().filter_map(|set| set.to_str().ok());
    let session = set.filter_map(|set| set.split(';').next()).rfind(|set| set.contains("cw_session="));
    Ok(session.with_context(|| format!("no session begins: {}", answer.status()))?.to_owned())
}
