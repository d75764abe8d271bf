//! Row L10: a hundred concurrent sign-ins and uploads do not slow down a hundred streams.

use crate::client::Client;
use crate::measure::{self, TimedDelta};
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use reqwest::header::{CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, SET_COOKIE};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The number of users, and of concurrent sign-ins, uploads and streams of each.
const USERS: usize = 25;
const PER_USER: usize = 4;

/// The size of a file in bytes, for a release build.
const FILE_BYTES: usize = 10 << 20;

/// In seconds: how long the streams run alone, and how long they run in total.
const ALONE_SECONDS: f64 = 10.0;
const STREAM_SECONDS: f64 = 40.0;

/// The maximum growth factor of p99, and the allowance in ms for noise of the machine in a release
/// build, since everything runs on it.
const MAX_GROWTH: f64 = 1.5;
const NOISE_MS: f64 = 50.0;

const PASSWORD: &str = "several words together";

/// Authentication by password instead of a proxy.
const PASSWORD_AUTH: &str = "mode: password, publicUrls: ['https://torture.test'], openSignUp: true";

/// Runs the scenario.
pub(crate) async fn sign_ins(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "sign-ins").await?;
    let mut setup = testbed.setup.clone();
    setup.auth = PASSWORD_AUTH;
    let server = setup.start(&testbed.history).await?;
    let mut users = Vec::new();
    for number in 0..USERS {
        users.push(sign_up(&testbed, &server, number).await?);
    }
    // The provider's clock, in which the times of deltas are given.
    let clock = testbed.provider.clock;
    let begun = clock.elapsed().as_secs_f64();
    let streams = streams(&users, clock, options.load_divisor());
    tokio::time::sleep(Duration::from_secs_f64(ALONE_SECONDS)).await;
    let crowd = clock.elapsed().as_secs_f64();
    let (signed_in, uploaded) =
        tokio::try_join!(sign_in_all(&server), upload_all(&users, FILE_BYTES / options.load_divisor() as usize))?;
    let over = clock.elapsed().as_secs_f64();
    let mut pieces = Vec::new();
    for stream in streams {
        pieces.extend(stream.await??);
    }
    // Excludes the first two seconds.
    let within = |from: f64, until: f64| {
        let within = pieces.iter().filter(|piece| piece.sent >= from && piece.sent < until);
        within.map(|piece| piece.delay_ms).collect::<Vec<_>>()
    };
    let (alone, beside) = (within(begun + 2.0, crowd), within(crowd, over));
    let counts = (alone.len(), beside.len());
    let (alone, beside) = (measure::p99(alone), measure::p99(beside));
    let (mut outcome, slack) =
        (Outcome { injected: 2 * (USERS * PER_USER) as u64, ..Outcome::default() }, options.time_factor());
    outcome.expect(counts.0 > 0 && counts.1 > 0, || format!("{counts:?} deltas were received alone and under load"));
    outcome.expect(beside <= alone.mul_add(MAX_GROWTH, NOISE_MS * slack), || {
        format!("p99 of the streams grows from {alone:.0} to {beside:.0} ms")
    });
    outcome.expect(signed_in.others.is_empty(), || format!("a sign-in was answered with {:?}", signed_in.others));
    outcome.expect(signed_in.done > 0, || "no sign-in succeeded".to_owned());
    outcome.expect(uploaded == USERS * PER_USER, || format!("{uploaded} files of {} were stored", USERS * PER_USER));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "p99 {alone:.0} ms alone, {beside:.0} ms under load; {} signed in, {} refused, {uploaded} files in {:.0} s",
        signed_in.done,
        signed_in.refused,
        over - crowd
    );
    Ok(outcome)
}

/// Sends a form as a browser does.
async fn send_form(server: &Server, http: &reqwest::Client, path: &str, fields: &[(&str, &str)]) -> Result<Response> {
    let body = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+")));
    let body = body.collect::<Vec<_>>().join("&");
    let form = http.post(format!("{}{path}", server.origin)).header(ORIGIN, &server.origin);
    Ok(form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body).send().await?)
}

/// Creates the HTTP client of a browser.
fn http_client() -> Result<reqwest::Client> {
    let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
    Ok(http.pool_max_idle_per_host(1).build()?)
}

/// Returns the session cookie that a response sets.
pub(super) fn session_cookie(answer: &Response) -> Result<String> {
    let set = answer.headers().get_all(SET_COOKIE).iter().filter_map(|set| set.to_str().ok());
    let session = set.filter_map(|set| set.split(';').next()).rfind(|set| set.contains("cw_session="));
    Ok(session.with_context(|| format!("no session cookie was set: {}", answer.status()))?.to_owned())
}

/// Creates an account; the client is identified by the id from the server.
async fn sign_up(testbed: &Testbed, server: &Server, number: usize) -> Result<Client> {
    let (http, name, token) = (http_client()?, format!("user{number}"), String::new());
    let token = if number == 0 { server.first_account_token().await? } else { token };
    let path = if number == 0 { "/auth/first-admin" } else { "/auth/sign-up" };
    let fields = [("token", token.as_str()), ("name", &name), ("password", PASSWORD)];
    let fields = if number == 0 { &fields[..] } else { &fields[1..] };
    let cookie = session_cookie(&send_form(server, &http, path, fields).await?)?;
    let nobody = Client::signed_in(&server.origin, &name, &cookie, &testbed.history)?;
    let me = nobody.request(Method::POST, "/api/endpoints/page/me").json(&json!({})).send().await?;
    let me: Value = me.error_for_status()?.json().await?;
    let id = me["id"].as_str().with_context(|| format!("no id in {me}"))?;
    Client::signed_in(&server.origin, id, &cookie, &testbed.history)
}

type Streams = Vec<tokio::task::JoinHandle<Result<Vec<TimedDelta>>>>;

fn streams(users: &[Client], clock: Instant, slow: u32) -> Streams {
    let each = users.iter().flat_map(|client| (0..PER_USER).map(move |number| (client.clone(), number)));
    let streams = each.map(|(client, number)| {
        let (tag, pause) = (format!("{}-{number}", client.user()), 20 * u64::from(slow));
        let deltas = (STREAM_SECONDS * 1e3) as usize / pause as usize;
        let script = Script { tag: tag.clone(), tools: 1, deltas, pause, timed: true, ..Script::default() };
        tokio::spawn(async move { measure::send_and_time(&client, &format!("c-{tag}"), &script, clock).await })
    });
    streams.collect()
}

/// The numbers of sign-ins by outcome.
#[derive(Default)]
struct SignInCounts {
    done: usize,
    /// Refused with `Retry-After`.
    refused: usize,
    others: Vec<u16>,
}

/// Signs in all users at once, with several sessions each.
async fn sign_in_all(server: &Server) -> Result<SignInCounts> {
    let mut found = SignInCounts::default();
    let http = http_client()?;
    let all = (0..USERS * PER_USER).map(|number| {
        let (name, http) = (format!("user{}", number % USERS), http.clone());
        async move { send_form(server, &http, "/auth/sign-in", &[("name", &name), ("password", PASSWORD)]).await }
    });
    for answer in futures::future::join_all(all).await {
        let answer = answer?;
        match answer.status().as_u16() {
            303 => found.done += 1,
            429 | 503 if answer.headers().get(RETRY_AFTER).is_some_and(is_number) => found.refused += 1,
            status => found.others.push(status),
        }
    }
    Ok(found)
}

fn is_number(value: &HeaderValue) -> bool {
    value.to_str().is_ok_and(|text| text.parse::<u64>().is_ok())
}

/// Uploads all files at once; returns the number of stored files.
async fn upload_all(users: &[Client], size: usize) -> Result<usize> {
    let (mut all, bytes) = (JoinSet::new(), bytes::Bytes::from(vec![b'x'; size]));
    for (client, number) in users.iter().flat_map(|client| (0..PER_USER).map(move |number| (client.clone(), number))) {
        let bytes = bytes.clone();
        all.spawn(async move {
            let path = format!("/api/files?name=file{number}.txt");
            anyhow::Ok(client.request(Method::POST, &path).body(bytes).send().await?.status().as_u16())
        });
    }
    let mut arrived = 0;
    while let Some(done) = all.join_next().await {
        let status = done??;
        ensure!(matches!(status, 201 | 429 | 503), "an upload was answered with {status}");
        arrived += usize::from(status == 201);
    }
    Ok(arrived)
}
