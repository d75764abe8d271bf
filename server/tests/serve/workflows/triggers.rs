//! Workflows that start by themselves: by a signed webhook, at a time, and after an event.

use crate::operation::clock::Clock;
use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use webhooks::{Scheme, sign};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEXT_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// Each run stores its input in a table; `broken` fails.
const CONFIG: &str = r#"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: log, type: Sql, properties: { url: "sqlite://LOG", init: "create table if not exists runs (input text)" } }
  - { id: shop, type: Webhook, properties: { scheme: Standard, secrets: [{ _secret: SHOP }, { _secret: NEXT_SHOP }] } }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo } }
api:
  - { id: store, type: InternalApi, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into runs values (:all)", parameters: { all: { _payload: true } } } }] }
  - { id: fail, type: InternalApi, routine: [{ ":throw": "The service is down." }] }
  - { id: stored, routine: [{ id: rows, type: SqlQuery, connectionId: log, properties: { query: "select input from runs order by rowid" } }, { ":return": { _step: rows } }] }
workflows:
  - id: orders
    runAs: { roles: [clerk] }
    input: { type: object, properties: { order: { type: integer } }, required: [order] }
    triggers:
      - { id: ordered, type: webhook, connectionId: shop, if: { _eq: [{ _event: body.type }, order] }, input: { order: { _event: body.number } } }
      - { id: hourly, type: cron, cron: "0 * * * *", missed: all, input: { order: 0 } }
      - { id: shipped, type: event, event: order.shipped, input: { order: { _event: data.order } } }
      - { id: answered, type: event, event: run.ended, if: { _eq: [{ _event: agentId }, helper] }, input: { order: -1 } }
    steps:
      - { id: store, type: endpoint, endpointId: store, payload: $.input, idempotent: true }
  - id: broken
    runAs: { roles: [clerk] }
    triggers: [{ id: minutely, type: cron, cron: "* * * * *" }]
    steps: [{ id: fail, type: endpoint, endpointId: fail }]
pages:
  - { id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
"#;

/// A folder with the config and the database of the runs' inputs.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log.db").display().to_string();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG.replace("LOG", &log)).unwrap();
    folder
}

fn start(folder: &TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> Server {
    let secrets = [("SHOP", SECRET), ("NEXT_SHOP", NEXT_SECRET)];
    let variables: Vec<_> = secrets.iter().chain(variables).copied().collect();
    let config = folder.path().display().to_string();
    Server::start_with_env(&variables, &[&["--config", &config], arguments].concat())
}

fn now() -> i64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs().try_into().unwrap()
}

async fn deliver(server: &Server, secret: &str, id: &str, number: u32, age: i64) -> u16 {
    let body = json!({ "type": "order", "number": number }).to_string();
    let request = server.request(Method::POST, "/api/hooks/orders/ordered");
    let headers = sign(Scheme::Standard, secret, id, body.as_bytes(), now() - age).unwrap();
    let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    request.body(body).send().await.unwrap().status().as_u16()
}

async fn post(server: &Server, path: &str, body: Value) -> u16 {
    server.request(Method::POST, path).json(&body).send().await.unwrap().status().as_u16()
}

/// Returns the orders of the runs that have ended, sorted.
async fn orders(server: &Server) -> Vec<i64> {
    let request = server.request(Method::POST, "/api/endpoints/demo/stored").json(&json!({}));
    let rows: Value = request.send().await.unwrap().json().await.unwrap();
    let order = |row: &Value| serde_json::from_str::<Value>(row["input"].as_str().unwrap()).unwrap()["order"].as_i64();
    let mut orders: Vec<_> = rows.as_array().unwrap_or_else(|| panic!("{rows}")).iter().filter_map(order).collect();
    orders.sort_unstable();
    orders
}

/// Returns the orders that webhooks and events have brought, sorted: without those of the schedule, which are due
/// at a full hour, also while a test runs.
async fn delivered(server: &Server) -> Vec<i64> {
    let mut orders = orders(server).await;
    orders.retain(|order| *order != 0);
    orders
}

/// Waits until something is so.
async fn until<T: PartialEq + std::fmt::Debug>(expected: T, look: impl AsyncFn() -> T) {
    let begin = Instant::now();
    loop {
        let seen = look().await;
        if seen == expected {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{seen:?} instead of {expected:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn outcomes(server: &Server, trigger: &str) -> Vec<String> {
    let detail = server.get(&format!("/api/admin/triggers/{trigger}")).await;
    let deliveries = detail["deliveries"].as_array().unwrap_or_else(|| panic!("{detail}"));
    deliveries.iter().rev().map(|delivery| delivery["outcome"].as_str().unwrap().to_owned()).collect()
}

/// A folder of documents, and a trigger for those that are ready.
const DOCUMENTS: &str = r#"
libraries:
  - { id: notes, folder: notes }
workflows:
  - id: orders
    runAs: { roles: [clerk] }
    input: { type: object, properties: { order: { type: integer } }, required: [order] }
    triggers:
      - { id: read, type: event, event: document.ready, if: { _eq: [{ _event: libraryId }, notes] }, input: { order: { _event: chunks } } }
"#;

#[tokio::test]
async fn documents_that_are_ready_start_runs() {
    let folder = folder();
    let notes = folder.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("pumps.md"), "# Pumps\n\nThe pumps run at night.\n").unwrap();
    let config = folder.path().join("chatwright.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let (before, rest) = text.split_once("workflows:\n").unwrap();
    let (_, after) = rest.split_once("    steps:\n").unwrap();
    std::fs::write(&config, format!("{before}{}    steps:\n{after}", DOCUMENTS.trim_start())).unwrap();
    let server = start(&folder, &[], &[]);
    until(vec![1], async || delivered(&server).await).await;
    // A new version is an event of its own; it has three chunks.
    std::fs::write(notes.join("pumps.md"), format!("# Pumps\n\n{}", "The pumps run at noon. ".repeat(90))).unwrap();
    until(vec![1, 3], async || delivered(&server).await).await;
}

#[tokio::test]
async fn signed_webhooks_start_one_run_each() {
    let folder = folder();
    let server = start(&folder, &[], &[]);
    assert_eq!(deliver(&server, SECRET, "msg_1", 1, 0).await, 202);
    assert_eq!(deliver(&server, SECRET, "msg_1", 1, 0).await, 202, "it is sent again");
    assert_eq!(deliver(&server, NEXT_SECRET, "msg_2", 2, 0).await, 202, "the secrets are being changed");
    assert_eq!(deliver(&server, SECRET, "msg_3", 3, 400).await, 401, "it is old");
    assert_eq!(deliver(&server, "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", "msg_4", 4, 0).await, 401);
    until(vec![1, 2], async || delivered(&server).await).await;
    until(vec!["done", "done", "refused"], async || {
        outcomes(&server, "orders/ordered")
            .await
            .iter()
            .map(|one| match one.as_str() {
                "done" => "done",
                "refused" => "refused",
                _ => "other",
            })
            .collect()
    })
    .await;
    // An operator pauses it; the sender tries again later.
    assert_eq!(post(&server, "/api/admin/triggers/orders/ordered/pause", Value::Null).await, 204);
    assert_eq!(deliver(&server, SECRET, "msg_5", 5, 0).await, 503);
    assert_eq!(post(&server, "/api/admin/triggers/orders/ordered/resume", Value::Null).await, 204);
    assert_eq!(deliver(&server, SECRET, "msg_5", 5, 0).await, 202);
    until(vec![1, 2, 5], async || delivered(&server).await).await;
    let document = server.get("/api/openapi.json").await;
    assert_eq!(document["paths"]["/api/hooks/{workflow}/{trigger}"]["post"]["summary"], "Deliver a webhook");
}

#[tokio::test]
async fn acknowledged_webhooks_survive_a_kill() {
    let folder = folder();
    let database = format!("sqlite://{}", folder.path().join("chat.db").display());
    let arguments = ["--database", database.as_str()];
    let mut sent = 0;
    for _ in 0..4 {
        let mut server = start(&folder, &[], &arguments);
        for _ in 0..5 {
            sent += 1;
            assert_eq!(deliver(&server, SECRET, &format!("msg_{sent}"), sent, 0).await, 202);
        }
        server.kill();
    }
    let server = start(&folder, &[], &arguments);
    // A step that was cut off is repeated, because it says that it may be.
    let different = async || {
        let mut orders = delivered(&server).await;
        orders.dedup();
        orders
    };
    until((1..=sent.into()).collect::<Vec<i64>>(), different).await;
    until(vec!["done".to_owned(); sent as usize], async || outcomes(&server, "orders/ordered").await).await;
    // One run for each, whichever server has stored it.
    let runs = server.get("/api/admin/workflows").await;
    let count = runs["items"].as_array().unwrap().iter().filter(|run| run["input"]["order"].as_i64() > Some(0)).count();
    assert_eq!(count, sent as usize, "{runs}");
}

#[tokio::test]
async fn schedules_follow_the_clock_and_failing_ones_are_paused() {
    let folder = folder();
    let clock = Clock::new(folder.path());
    let server = start(&folder, &clock.variables(), &[]);
    let item = async || server.get("/api/admin/triggers/broken/minutely").await;
    let paused = async || {
        let listed = server.get("/api/admin/triggers?state=paused").await;
        listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // It begins when the server first looks.
    until(true, async || item().await["checkedAt"].is_i64()).await;
    let mut offset = 0;
    for failed in 1..=5 {
        offset += 60;
        clock.set_offset(offset);
        until(true, async || item().await["failures"].as_i64() >= Some(failed)).await;
    }
    until(vec!["minutely".to_owned()], paused).await;
    clock.set_offset(offset + 3 * 3_600);
    until(vec![0; 3], async || {
        let mut all = orders(&server).await;
        all.truncate(3);
        all
    })
    .await;
    let audit = server.get("/api/admin/audit?tool=admin:trigger_paused_itself").await;
    assert_eq!(audit["items"].as_array().unwrap().len(), 1, "{audit}");
    let item = server.get("/api/admin/triggers/orders/hourly").await;
    assert_eq!(item["nextTimes"].as_array().unwrap().len(), 5, "{item}");
}

/// The definition of a workflow with every kind of trigger; its runs store `base` and what was reported.
fn reported(base: i64) -> Value {
    let kept = |number: Value| json!({ "order": number });
    json!({
        "id": "reports",
        "runAs": { "roles": ["clerk"] },
        "triggers": [
            { "id": "minutely", "type": "cron", "cron": "* * * * *", "input": kept(base.into()) },
            { "id": "sent", "type": "webhook", "connectionId": "shop", "input": kept(json!({ "_sum": [base, { "_event": "body.number" }] })) },
            { "id": "seen", "type": "event", "event": "report.seen", "input": kept(json!({ "_sum": [base, { "_event": "data.number" }] })) },
        ],
        "steps": [{ "id": "store", "type": "endpoint", "endpointId": "store", "payload": "$.input", "idempotent": true }],
    })
}

#[tokio::test]
async fn triggers_of_a_stored_definition_follow_it() {
    let folder = folder();
    let clock = Clock::new(folder.path());
    let server = start(&folder, &clock.variables(), &[]);
    const PATH: &str = "/api/workflows/definitions";
    let webhook = async |id: &str, number: u32, offset: i64| {
        let body = json!({ "number": number }).to_string();
        let request = server.request(Method::POST, "/api/hooks/reports/sent");
        let headers = sign(Scheme::Standard, SECRET, id, body.as_bytes(), now() + offset).unwrap();
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        request.body(body).send().await.unwrap().status().as_u16()
    };
    let event =
        async |number: u32| post(&server, "/api/events/report.seen", json!({ "data": { "number": number } })).await;
    let has_ticked = async || server.get("/api/admin/triggers/reports/minutely").await["checkedAt"].is_i64();
    // The orders without those of the config's own workflows.
    let kept = async || {
        let mut orders = orders(&server).await;
        orders.retain(|order| *order >= 100);
        orders.dedup();
        orders
    };
    assert_eq!(webhook("none", 1, 0).await, 404);
    assert_eq!(post(&server, PATH, json!({ "definition": reported(100) })).await, 201);
    until(true, has_ticked).await;
    assert_eq!((webhook("first", 1, 0).await, event(2).await), (202, 202));
    clock.set_offset(60);
    until(vec![100, 101, 102], kept).await;
    // A new version.
    let change = |version: i64, enabled: bool| {
        let body = json!({ "version": version, "definition": reported(200), "enabled": enabled });
        server.request(Method::PUT, &format!("{PATH}/reports")).json(&body).send()
    };
    assert_eq!(change(1, true).await.unwrap().status(), 200);
    assert_eq!((webhook("second", 1, 60).await, event(2).await), (202, 202));
    clock.set_offset(120);
    until(vec![100, 101, 102, 200, 201, 202], kept).await;
    // Neither one that is not published nor a deleted one starts anything.
    assert_eq!(change(2, false).await.unwrap().status(), 200);
    assert_eq!((webhook("third", 3, 120).await, event(3).await), (404, 404));
    assert_eq!(change(3, true).await.unwrap().status(), 200);
    until(true, has_ticked).await;
    assert_eq!(server.request(Method::DELETE, &format!("{PATH}/reports")).send().await.unwrap().status(), 204);
    assert_eq!((webhook("fourth", 4, 120).await, event(4).await), (404, 404));
    assert_eq!(server.get("/api/admin/triggers").await["items"].as_array().unwrap().len(), 5);
    let runs = async || server.get("/api/admin/workflows?workflow=reports").await["items"].as_array().unwrap().len();
    let before = runs().await;
    clock.set_offset(600);
    // A trigger of the config shows that the times were looked at.
    let broken =
        async || server.get("/api/admin/triggers/broken/minutely").await["checkedAt"].as_i64().unwrap_or_default();
    let at = (now() + 590) * 1_000;
    until(true, async || broken().await >= at).await;
    assert_eq!(runs().await, before);
}

#[tokio::test]
async fn events_start_runs() {
    let folder = folder();
    let server = start(&folder, &[], &[]);
    assert_eq!(post(&server, "/api/events/order.shipped", json!({ "id": "a", "data": { "order": 7 } })).await, 202);
    assert_eq!(post(&server, "/api/events/order.shipped", json!({ "id": "a", "data": { "order": 7 } })).await, 202);
    assert_eq!(post(&server, "/api/events/order.lost", json!({})).await, 404);
    until(vec![7], async || delivered(&server).await).await;
    // An input that the workflow does not accept is a failure, which the operator sees.
    assert_eq!(post(&server, "/api/events/order.shipped", json!({ "data": { "order": "x" } })).await, 202);
    until(vec!["done".to_owned(), "failed".to_owned()], async || outcomes(&server, "orders/shipped").await).await;
    // The trigger begins when the server first looks for events.
    until(true, async || server.get("/api/admin/triggers/orders/answered").await["checkedAt"].is_i64()).await;
    server.message_to("demo/helper", "c1", "Hello").send().await.unwrap().bytes().await.unwrap();
    until(vec![-1, 7], async || delivered(&server).await).await;
}

/// The command of the example's README, as a newcomer copies it.
#[tokio::test]
async fn webhook_of_the_example_posts_an_invoice() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/invoices");
    let readme = std::fs::read_to_string(format!("{example}/README.md")).unwrap();
    let is_it = |block: &&str| block.contains("webhook-signature");
    let command = readme.split("```sh\n").filter_map(|rest| rest.split("```").next()).find(is_it).unwrap();
    let server = Server::start_with(&["--config", example]);
    let send = |command: String| -> String {
        let command = command.replace("http://127.0.0.1:3000", &server.origin);
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-e", "-c", &command.replace("curl ", "curl -s -o /dev/null -w '%{http_code}' ")]);
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    };
    assert_eq!(send(command.to_owned()), "202");
    assert_eq!(send(command.to_owned()), "202", "it is sent again");
    assert_eq!(send(command.replace("v1,$signature", "v1,AAAA$signature")), "401");
    let posted = async || -> Vec<String> {
        let asked = server.request(Method::POST, "/api/endpoints/home/invoices").json(&json!({}));
        let rows: Vec<Value> = asked.send().await.unwrap().json().await.unwrap();
        rows.iter().map(|row| format!("{} {} {}", row["number"], row["supplier"], row["approved_by"])).collect()
    };
    until(vec![r#""2026-118" "Bolt Ltd" "the limit""#.to_owned()], posted).await;
    until(vec!["done".to_owned(), "refused".to_owned()], async || outcomes(&server, "invoice/scanned").await).await;
}
