//! Experiments: an answer with feedback becomes a case, cases are evaluated by a job, and an administrator decides.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const CONFIG: &str = r#"
connections: [{ id: demo, type: Demo, properties: { delayMs: 20 } }]
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: searcher, type: Agent, connectionId: demo, properties: { model: demo }, tools: [search_articles] }
api:
  - id: search_articles
    description: Search the articles.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ":return": { articles: [{ title: Refunds, body: Within 30 days of paying. }] } }]
prices: { demo: { input: 1, output: 1 } }
pages: [{ id: desk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
"#;

/// A server with its config and its database.
struct Site {
    server: Server,
    folder: TempDir,
}

impl Site {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
        Self { server: Self::server(&folder), folder }
    }

    fn server(folder: &TempDir) -> Server {
        let config = folder.path().join("chatwright.yaml").display().to_string();
        let database = format!("sqlite://{}/chat.db", folder.path().display());
        Server::start_with(&["--config", &config, "--database", &database])
    }

    /// Kills the server, and starts it again on the same database.
    fn restart(&mut self) {
        self.server.kill();
        self.server = Self::server(&self.folder);
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
        let request = self.server.request(method, path).header("origin", &self.server.origin);
        let response = if body.is_null() { request } else { request.json(&body) }.send().await.unwrap();
        let status = response.status();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    async fn ok(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    /// Asks `helper`; returns the id of its answer.
    async fn ask(&self, conversation: &str, text: &str) -> String {
        chunks(self.server.message_to("desk/helper", conversation, text).send().await.unwrap()).await;
        let view = self.server.conversation(conversation).await;
        view["messages"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Makes a dataset with cases that count up to different numbers. Returns its id.
    async fn counting_dataset(&self, cases: usize) -> String {
        let made =
            self.ok(Method::POST, "/api/admin/datasets", json!({ "name": "Counting", "agentId": "helper" })).await;
        let id = made["id"].as_str().unwrap().to_owned();
        let cases: Vec<_> = (1..=cases)
            .map(|at| json!({ "id": format!("count-{at:03}"), "input": format!("count to {}", at % 7 + 3), "expected": { "says": "3" } }))
            .collect();
        self.ok(Method::POST, &format!("/api/admin/datasets/{id}/cases"), json!({ "cases": cases })).await;
        id
    }

    async fn start_experiment(&self, dataset: &str, agents: &[&str], max_cost_usd: f64) -> String {
        let body = json!({ "agents": agents, "maxCostUsd": max_cost_usd });
        let made = self.ok(Method::POST, &format!("/api/admin/datasets/{dataset}/experiments"), body).await;
        made["id"].as_str().unwrap().to_owned()
    }

    /// Waits until an experiment is as it should be.
    async fn until(&self, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let found = self.ok(Method::GET, &format!("/api/admin/experiments/{id}"), Value::Null).await;
            if is_so(&found["experiment"]) {
                return found;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{found}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn has_ended(experiment: &Value) -> bool {
    !matches!(experiment["state"].as_str(), Some("waiting" | "running"))
}

#[tokio::test]
async fn feedback_becomes_a_case_an_experiment_and_a_decision() {
    let site = Site::start();
    let answer = site.ask("c", "What do you know about refunds? Mail ada@example.com").await;
    let feedback = json!({ "rating": "down", "reason": "No number of days." });
    let change = json!({ "kind": "rate", "messageId": answer, "feedback": feedback });
    site.ok(Method::POST, "/api/conversations/c/change", change).await;
    let keep = format!("/admin/datasets/keep/c/{answer}");
    let request = site.server.request(Method::POST, &keep).header("origin", &site.server.origin);
    let kept = request.send().await.unwrap();
    let place = kept.headers()["location"].to_str().unwrap().to_owned();
    assert!(kept.status() == StatusCode::SEE_OTHER && place.ends_with("?kept=1"), "{place}");

    let datasets = site.ok(Method::GET, "/api/admin/datasets", Value::Null).await;
    let dataset = datasets["datasets"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/admin/datasets/{dataset}");
    let mut case = site.ok(Method::GET, &path, Value::Null).await["cases"][0]["content"].clone();
    // It is the administrator's own conversation, so nothing is masked.
    assert_eq!(case["input"], json!(["What do you know about refunds? Mail ada@example.com"]));
    assert!(case["expected"]["rubric"].as_str().unwrap().contains("No number of days."), "{case}");
    assert_eq!(case["rated"]["liked"], false, "judges can be compared with the user: {case}");
    case["expected"] = json!({ "says": "30 days" });
    site.ok(Method::POST, &format!("{path}/cases"), json!({ "cases": [case] })).await;
    let (status, refused) =
        site.call(Method::POST, &format!("{path}/cases"), json!({ "cases": [{ "id": "x" }] })).await;
    assert_eq!((status, &refused["error"]["path"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("/0")), "{refused}");

    let id = site.start_experiment(&dataset, &["helper", "searcher"], 1.0).await;
    let (status, _) =
        site.call(Method::POST, &format!("/api/admin/experiments/{id}/decision"), json!({ "isAdopted": true })).await;
    assert_eq!(status, StatusCode::CONFLICT, "there is nothing to decide yet");
    let done = site.until(&id, has_ended).await;
    let (experiment, report) = (&done["experiment"], &done["report"]);
    assert_eq!((&experiment["state"], &experiment["done"]), (&json!("done"), &json!(2)), "{experiment}");
    let passed: Vec<_> = (0..2).map(|at| report["configs"][at]["passed"]["mean"].clone()).collect();
    assert_eq!(passed, [json!(0.0), json!(1.0)], "the second agent looks it up: {report}");
    assert!(
        experiment["spentUsd"].as_f64().unwrap() > 0.0 && experiment["estimateUsd"].as_f64().unwrap() > 0.0,
        "{experiment}"
    );
    // An administrator reads the first answer, and says that it is not good.
    let verdict = async |more: Value| {
        let mut body = json!({ "config": "helper", "case": case["id"], "liked": false });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        site.call(Method::PUT, &format!("/api/admin/experiments/{id}/verdict"), body).await.0
    };
    assert_eq!(verdict(json!({})).await, StatusCode::NO_CONTENT);
    assert_eq!(verdict(json!({ "conversationId": "another" })).await, StatusCode::CONFLICT);
    assert_eq!(verdict(json!({ "config": "nobody" })).await, StatusCode::NOT_FOUND);
    let given = site.until(&id, has_ended).await["verdicts"].clone();
    assert_eq!((given.as_array().unwrap().len(), &given[0]["liked"]), (1, &json!(false)), "{given}");
    let audit = site.ok(Method::GET, "/api/admin/audit?tool=admin:give_verdict", Value::Null).await;
    assert_eq!(audit["items"].as_array().unwrap().len(), 1, "what was refused is not in the log: {audit}");
    let shown = site
        .server
        .request(Method::GET, &format!("/admin/experiments/{id}/case?case={}", case["id"].as_str().unwrap()));
    let shown = shown.send().await.unwrap().text().await.unwrap();
    assert!(shown.contains("First divergence") && shown.contains("search_articles"), "{shown}");
    assert!(shown.contains("Withdraw"), "the administrator can withdraw their verdict: {shown}");
    // The conversations of the experiment are gone.
    let conversations = site.ok(Method::GET, "/api/conversations", Value::Null).await;
    assert_eq!(conversations["items"].as_array().unwrap().len(), 1, "{conversations}");

    site.ok(
        Method::POST,
        &format!("/api/admin/experiments/{id}/decision"),
        json!({ "isAdopted": true, "note": "It searches." }),
    )
    .await;
    let decision = site.until(&id, has_ended).await["experiment"]["decision"].clone();
    assert_eq!((&decision["isAdopted"], &decision["note"]), (&json!(true), &json!("It searches.")));
    let anew = async |replaces: &Value| {
        let body = json!({ "isAdopted": false, "note": "It searches.", "replaces": replaces });
        site.call(Method::POST, &format!("/api/admin/experiments/{id}/decision"), body).await
    };
    assert_eq!(anew(&Value::Null).await.0, StatusCode::CONFLICT, "it is decided");
    assert_eq!(anew(&decision["decidedAt"]).await.0, StatusCode::NO_CONTENT);
    let audit = site.ok(Method::GET, "/api/admin/audit?action=admin:decide_experiment", Value::Null).await.to_string();
    assert!(audit.contains("It searches."), "{audit}");
}

#[tokio::test]
async fn killed_experiment_resumes_with_missing_results() {
    let mut site = Site::start();
    let dataset = site.counting_dataset(40).await;
    let id = site.start_experiment(&dataset, &["helper"], 10.0).await;
    let at_kill = site.until(&id, |experiment| experiment["done"].as_i64() >= Some(5)).await;
    let before = at_kill["experiment"]["done"].as_i64().unwrap();
    assert!(before < 40, "it was killed in the middle");
    site.restart();
    let done = site.until(&id, has_ended).await;
    let experiment = &done["experiment"];
    assert_eq!((&experiment["state"], &experiment["done"]), (&json!("done"), &json!(40)), "{experiment}");
    assert_eq!(done["report"]["configs"][0]["cases"], 40);
    // Each case was paid once, but for the two that were being answered.
    let (spent, cost) =
        (experiment["spentUsd"].as_f64().unwrap(), done["report"]["configs"][0]["costUsd"].as_f64().unwrap());
    assert!((spent - cost).abs() < 1e-9, "{spent} {cost}");
    let conversations = site.ok(Method::GET, "/api/conversations", Value::Null).await;
    let left = conversations["items"].as_array().unwrap();
    assert!(left.len() <= 2 && left.iter().all(|left| left["temporary"] == true), "{conversations}");
}

#[tokio::test]
async fn experiments_end_at_the_bound_of_their_cost_and_go_on_from_there() {
    let site = Site::start();
    let dataset = site.counting_dataset(12).await;
    let id = site.start_experiment(&dataset, &["helper"], 0.0).await;
    let ended = site.until(&id, has_ended).await["experiment"].clone();
    assert_eq!(
        (&ended["state"], &ended["done"]),
        (&json!("stopped"), &json!(1)),
        "the first case says what all will cost"
    );
    assert!(ended["cause"].as_str().unwrap().contains("the cost is bounded to $0.0000"), "{ended}");
    site.ok(Method::POST, &format!("/api/admin/experiments/{id}/continue"), json!({ "maxCostUsd": 5.0 })).await;
    let ended = site.until(&id, has_ended).await["experiment"].clone();
    assert_eq!((&ended["state"], &ended["done"]), (&json!("done"), &json!(12)), "{ended}");

    let id = site.start_experiment(&dataset, &["helper"], 5.0).await;
    site.ok(Method::POST, &format!("/api/admin/experiments/{id}/stop"), Value::Null).await;
    let ended = site.until(&id, has_ended).await["experiment"].clone();
    assert_eq!((&ended["state"], &ended["cause"]), (&json!("stopped"), &json!("It was stopped by an administrator.")));
}
