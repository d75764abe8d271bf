//! Runs that start again, what waits for people, and the lists of the console.

use super::workflows::{Site, ask_as};
use crate::access::{TestRequest, call_route, caller, get, post};
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
api:
  - id: search_articles
    type: Api
    description: Searches the articles.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': { articles: [{ title: Refunds, body: Within 30 days. }] } }]
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo }
    tools: [{ endpointId: search_articles, confirm: true }]
workflows:
  - id: order
    roles: [admin, clerk]
    input: { type: object, required: [number], properties: { number: { type: integer, maximum: 9 }, note: { type: string } } }
    steps: [{ id: pause, type: return, value: $.input.number }]
  - id: research
    steps: [{ id: ask, type: agent, agentId: helper, prompt: What do you know about refunds?, tools: [search_articles] }]
  - id: many
    steps:
      - id: each
        type: loop
        in: $.input.list
        max: 100
        concurrency: 16
        do: [{ id: ask, type: human, title: Fine?, roles: [admin] }]
pages: [{ id: home, blocks: [{ id: tasks, type: WorkflowTasks }] }]
";

/// Returns a run once it has ended or waits.
async fn rest(site: &Site, id: &str) -> Value {
    for _ in 0..500 {
        let run = site.ask(format!("/api/workflows/runs/{id}"), None).await;
        if run["state"] != "running" {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the run does not rest");
}

async fn start(site: &Site, workflow: &str, input: Value) -> String {
    let run = site.ask(format!("/api/workflows/{workflow}/runs"), Some(json!({ "input": input }))).await;
    run["id"].as_str().unwrap().to_owned()
}

/// Sends a form of the console, and returns the status with the place to which it leads, or the page.
async fn send_form(site: &Site, path: &str, form: &'static str) -> (u16, String) {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request.extension(site.boss.clone()).body(Body::from(form)).unwrap();
    let response = site.routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    match response.headers().get(header::LOCATION) {
        Some(place) => (status, place.to_str().unwrap().to_owned()),
        None => {
            let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_starts_again_over_the_api_the_page_and_the_console() {
    let site = Site::open_with(CONFIG).await;
    let id = start(&site, "order", json!({ "number": 3, "note": "Soon" })).await;
    rest(&site, &id).await;
    let again = site.ask(format!("/api/workflows/runs/{id}/rerun"), Some(json!({ "input": { "number": 4 } }))).await;
    assert_eq!((&again["rerunOf"], &again["input"]), (&json!(id), &json!({ "number": 4 })), "{again}");
    // The block shows the form, and which run is repeated.
    let show = |id: &str| post("/ui/workflow-run".to_owned(), json!({ "id": id }));
    let shown = ask_as(&site, &site.boss, show(again["id"].as_str().unwrap())).await.1;
    rest(&site, again["id"].as_str().unwrap()).await;
    assert_eq!(shown["rerunOf"], id, "{shown}");
    let shown = ask_as(&site, &site.boss, show(&id)).await.1;
    assert_eq!(
        (&shown["again"]["id"], &shown["again"]["input"]["type"]),
        (&json!("order"), &json!("object")),
        "{shown}"
    );
    let from_page = post("/ui/rerun-workflow".to_owned(), json!({ "id": id, "input": { "number": 5 } }));
    assert_eq!(ask_as(&site, &site.boss, from_page).await.0, 200);
    // The form of the console holds the input.
    let path = format!("/admin/workflows/{id}/rerun");
    let (_, run_page) = call_route(&site.routes, &site.boss, get(format!("/admin/workflows/{id}"))).await;
    assert!(run_page.contains(&path), "{run_page}");
    let (status, page) = call_route(&site.routes, &site.boss, get(path.clone())).await;
    assert!(status == 200 && page.contains(r#"value="3""#) && page.contains(r#"value="Soon""#), "{page}");
    let (status, page) = send_form(&site, &path, "field0=many&field1=Later").await;
    assert!(status == 422 && page.contains("Enter a whole number.") && page.contains(r#"value="Later""#), "{page}");
    let (status, page) = send_form(&site, &path, "field0=10&field1=").await;
    assert!(status == 422 && page.contains(r#"value="10""#), "{status} {page}");
    let (status, place) = send_form(&site, &path, "field0=6&field1=").await;
    assert_eq!(status, 303);
    let new = site.ask(format!("/api{place}"), None).await;
    assert_eq!((&new["input"], &new["rerunOf"]), (&json!({ "number": 6 }), &json!(id)), "{new}");
    let count = async |action: &str| {
        let filter = store::AuditFilter { tool: Some(action.to_owned()), ..store::AuditFilter::default() };
        site.store.audit_list(filter, 20, None).await.unwrap().len()
    };
    assert_eq!((count("workflow:rerun").await, count("admin:rerun_workflow_run").await), (2, 1));
    // A user who may not see the run, or not start the workflow, cannot start it again.
    let refused = async |name: &str, roles: &[&str]| {
        let request: TestRequest = post(format!("/api/workflows/runs/{id}/rerun"), json!({}));
        ask_as(&site, &caller((name, true, roles)), request).await.0
    };
    assert_eq!(refused("eve", &["clerk"]).await, 404);
    assert_eq!(refused("boss", &["reader"]).await, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_open_questions_are_found_page_by_page() {
    let site = Site::open_with(CONFIG).await;
    for _ in 0..4 {
        let id = start(&site, "many", json!({ "list": (0..16).collect::<Vec<_>>() })).await;
        rest(&site, &id).await;
    }
    let mut pages = Vec::new();
    let mut after = Value::Null;
    loop {
        let request = post("/ui/workflow-tasks".to_owned(), json!({ "after": after }));
        let (status, page) = ask_as(&site, &site.boss, request).await;
        assert_eq!(status, 200, "{page}");
        pages.push(page["items"].as_array().unwrap().len());
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(pages, [50, 14]);
    let (_, page) = call_route(&site.routes, &site.boss, get("/admin/workflow-tasks".to_owned())).await;
    let count = page.split(r#"<span class="cw-admin-count">"#).skip(1).filter_map(|part| part.split('<').next());
    assert_eq!(count.collect::<Vec<_>>(), ["64", "64", "64"], "the folded menu, the group, and the page");
}

#[tokio::test(flavor = "multi_thread")]
async fn call_of_an_agent_step_waits_for_a_person() {
    let site = Site::open_with(CONFIG).await;
    let check = async |approved: bool, outcome: &str| {
        let id = start(&site, "research", json!({})).await;
        let waits = rest(&site, &id).await;
        let task = &waits["tasks"][0];
        assert_eq!(
            (&waits["state"], &task["title"]),
            (&json!("waiting"), &json!("helper: search_articles")),
            "{waits}"
        );
        let answer =
            post(format!("/api/workflows/tasks/{}", task["id"].as_str().unwrap()), json!({ "approved": approved }));
        assert_eq!(
            ask_as(&site, &caller(("eve", true, &["admin"])), answer).await.0,
            404,
            "the user of the run decides"
        );
        site.ask(
            format!("/api/workflows/tasks/{}", task["id"].as_str().unwrap()),
            Some(json!({ "approved": approved })),
        )
        .await;
        let mut run = rest(&site, &id).await;
        while run["endedAt"].is_null() {
            run = rest(&site, &id).await;
        }
        assert_eq!((&run["state"], &run["stepRecords"][0]["attempt"]), (&json!("done"), &json!(1)), "{run}");
        let filter = store::AuditFilter { tool: Some("search_articles".to_owned()), ..store::AuditFilter::default() };
        assert_eq!(site.store.audit_list(filter, 1, None).await.unwrap()[0].outcome, outcome);
        run["output"].to_string()
    };
    assert!(check(true, "ok").await.contains("Within 30 days"));
    assert!(!check(false, "denied").await.contains("Within 30 days"));
    // Each part of the agent's turn is in the list of its runs.
    let listed = site.ask("/api/admin/agent-runs?agent=helper&user=boss&state=succeeded".to_owned(), None).await;
    let reasons: Vec<_> = listed["items"].as_array().unwrap().iter().map(|run| &run["reason"]).collect();
    assert_eq!(reasons, ["done", "waiting", "done", "waiting"], "{listed}");
    assert!(
        listed["items"][0]["requests"].as_i64().unwrap() > 0 && listed["items"][0]["tokens"].as_f64().unwrap() > 0.0
    );
    let none = site.ask("/api/admin/agent-runs?user=eve".to_owned(), None).await;
    assert_eq!(none["items"], json!([]));
    let (status, page) = call_route(&site.routes, &site.boss, get("/admin/agent-runs".to_owned())).await;
    assert!(status == 200 && page.contains("The model finished"), "{page}");
}
