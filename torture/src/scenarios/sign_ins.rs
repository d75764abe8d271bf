//! L10: a hundred sign-ins and a hundred uploads at once beside a hundred streams, which take no notice.

use crate::client::Client;
use crate::measure::{self, Piece};
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use reqwest::header::{CONTENT_TYPE, HeaderValue, ORIGIN, RETRY_AFTER, SET_COOKIE};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Users, of whom each signs in, uploads and is answered so many times at once.
const USERS: usize = 25;
const EACH: usize = 4;

/// Bytes of a file, for a release build.
const FILE: usize = 10 << 20;

/// In seconds: how long the streams are alone, and how long they go on.
const ALONE: f64 = 10.0;
const IN_ALL: f64 = 40.0;

/// By how much the 99th percentile may grow, and what the machine itself may add in a release build, in ms: all of this stands on it.
const GROWTH: f64 = 1.5;
const NOISE: f64 = 50.0;

const PASSWORD: &str = "several words together";

/// Another password than a proxy's word.
const BY_PASSWORD: &str = "mode: password, publicUrls: ['https://torture.test'], openSignUp: true";

/// All of it at once.
pub(crate) async fn sign_ins(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "sign-ins").await?;
    let mut setup = world.setup.clone();
    setup.auth = BY_PASSWORD;
    let server = setup.start(&world.history).await?;
    let mut users = Vec::new();
    for number in 0..USERS {
        users.push(sign_up(&world, &server, number).await?);
    }
    // The provider's clock, by which pieces are told apart.
    let clock = world.provider.began;
    let begun = clock.elapsed().as_secs_f64();
    let streams = streams(&users, clock, given.slowness());
    tokio::time::sleep(Duration::from_secs_f64(ALONE)).await;
    let crowd = clock.elapsed().as_secs_f64();
    let (signed_in, uploaded) = tokio::try_join!(crowd_in(&server), upload(&users, FILE / given.slowness() as usize))?;
    let over = clock.elapsed().as_secs_f64();
    let mut pieces = Vec::new();
    for stream in streams {
        pieces.extend(stream.await??);
    }
    // The first moments are those of the beginning.
    let within = |from: f64, until: f64| {
        let within = pieces.iter().filter(|piece| piece.sent >= from && piece.sent < until);
        within.map(|piece| piece.late).collect::<Vec<_>>()
    };
    let (alone, beside) = (within(begun + 2.0, crowd), within(crowd, over));
    let counts = (alone.len(), beside.len());
    let (alone, beside) = (measure::p99(alone), measure::p99(beside));
    let (mut outcome, slack) = (Outcome { injected: 2 * (USERS * EACH) as u64, ..Outcome::default() }, given.slack());
    outcome.expect(counts.0 > 0 && counts.1 > 0, || format!("{counts:?} pieces came alone and beside"));
    outcome.expect(beside <= alone.mul_add(GROWTH, NOISE * slack), || {
        format!("p99 of the streams grows from {alone:.0} to {beside:.0} ms")
    });
    outcome.expect(signed_in.others.is_empty(), || format!("a sign-in was answered with {:?}", signed_in.others));
    outcome.expect(signed_in.done > 0, || "nobody was signed in".to_owned());
    outcome.expect(uploaded == USERS * EACH, || format!("{uploaded} files of {} arrived", USERS * EACH));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "p99 {alone:.0} ms alone, {beside:.0} ms beside; {} signed in, {} told to come again, {uploaded} files in {:.0} s",
        signed_in.done,
        signed_in.later,
        over - crowd
    );
    Ok(outcome)
}

/// A form as a browser sends it.
async fn form(server: &Server, http: &reqwest::Client, path: &str, fields: &[(&str, &str)]) -> Result<Response> {
    let body = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+")));
    let body = body.collect::<Vec<_>>().join("&");
    let form = http.post(format!("{}{path}", server.origin)).header(ORIGIN, &server.origin);
    Ok(form.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body).send().await?)
}

/// What browsers have.
fn http() -> Result<reqwest::Client> {
    let http = reqwest::Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
    Ok(http.pool_max_idle_per_host(1).build()?)
}

fn cookie(answer: &Response) -> Result<String> {
    let set = answer.headers().get_all(SET_COOKIE).iter().filter_map(|set| set.to_str().ok());
    let session = set.filter_map(|set| set.split(';').next()).rfind(|set| set.contains("cw_session="));
    Ok(session.with_context(|| format!("no session begins: {}", answer.status()))?.to_owned())
}

/// Makes an account; its user is known by the id that the server gave him.
async fn sign_up(world: &World, server: &Server, number: usize) -> Result<Client> {
    let (http, name, token) = (http()?, format!("user{number}"), String::new());
    let token = if number == 0 { server.token().await? } else { token };
    let path = if number == 0 { "/auth/first-admin" } else { "/auth/sign-up" };
    let fields = [("token", token.as_str()), ("name", &name), ("password", PASSWORD)];
    let fields = if number == 0 { &fields[..] } else { &fields[1..] };
    let cookie = cookie(&form(server, &http, path, fields).await?)?;
    let nobody = Client::signed_in(&server.origin, &name, &cookie, &world.history)?;
    let me = nobody.ask(Method::POST, "/api/endpoints/page/me").json(&json!({})).send().await?;
    let me: Value = me.error_for_status()?.json().await?;
    let id = me["id"].as_str().with_context(|| format!("no id in {me}"))?;
    Client::signed_in(&server.origin, id, &cookie, &world.history)
}

type Streams = Vec<tokio::task::JoinHandle<Result<Vec<Piece>>>>;

fn streams(users: &[Client], clock: Instant, slow: u32) -> Streams {
    let each = users.iter().flat_map(|client| (0..EACH).map(move |number| (client.clone(), number)));
    let streams = each.map(|(client, number)| {
        let (tag, pause) = (format!("{}-{number}", client.user()), 20 * u64::from(slow));
        let deltas = (IN_ALL * 1e3) as usize / pause as usize;
        let script = Script { tag: tag.clone(), tools: 1, deltas, pause, timed: true, ..Script::default() };
        tokio::spawn(async move { measure::pieces(&client, &format!("c-{tag}"), &script, clock).await })
    });
    streams.collect()
}

/// How sign-ins ended.
#[derive(Default)]
struct SignIns {
    done: usize,
    /// Told to come again.
    later: usize,
    others: Vec<u16>,
}

/// Everybody signs in at once, from several browsers.
async fn crowd_in(server: &Server) -> Result<SignIns> {
    let mut found = SignIns::default();
    let http = http()?;
    let all = (0..USERS * EACH).map(|number| {
        let (name, http) = (format!("user{}", number % USERS), http.clone());
        async move { form(server, &http, "/auth/sign-in", &[("name", &name), ("password", PASSWORD)]).await }
    });
    for answer in futures::future::join_all(all).await {
        let answer = answer?;
        match answer.status().as_u16() {
            303 => found.done += 1,
            429 | 503 if answer.headers().get(RETRY_AFTER).is_some_and(is_number) => found.later += 1,
            status => found.others.push(status),
        }
    }
    Ok(found)
}

fn is_number(value: &HeaderValue) -> bool {
    value.to_str().is_ok_and(|text| text.parse::<u64>().is_ok())
}

/// Everybody uploads at once; how many files arrived.
async fn upload(users: &[Client], size: usize) -> Result<usize> {
    let (mut all, bytes) = (JoinSet::new(), bytes::Bytes::from(vec![b'x'; size]));
    for (client, number) in users.iter().flat_map(|client| (0..EACH).map(move |number| (client.clone(), number))) {
        let bytes = bytes.clone();
        all.spawn(async move {
            let path = format!("/api/files?name=file{number}.txt");
            anyhow::Ok(client.ask(Method::POST, &path).body(bytes).send().await?.status().as_u16())
        });
    }
    let mut arrived = 0;
    while let Some(done) = all.join_next().await {
        let status = done??;
        ensure!(matches!(status, 201 | 429 | 503), "a file was answered with {status}");
        arrived += usize::from(status == 201);
    }
    Ok(arrived)
}
