//! Lists of runs, and what becomes of definitions without authors.

use super::workflows::{Site, ask_as};
use crate::access::{call_route, caller, get, post};
use serde_json::{Value, json};
use std::time::Duration;

/// The definition of an editor who is deleted would go on with their roles, so the sweep disables it.
#[tokio::test(flavor = "multi_thread")]
async fn definition_of_a_deleted_editor_is_disabled() {
    let site = Site::open_with("workflowEditors: { roles: [designer] }\npages: [{ id: home }]\n").await;
    let change = async |statement: &'static str| {
        let write = site.store.write(move |db| {
            Box::pin(async move { Ok(store::sql::query(statement).execute(db).await?.rows_affected()) })
        });
        assert_eq!(write.await.unwrap(), 1);
    };
    let insert = "INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at)
        VALUES ('dora', 'Dora', 'dora', '', '[]', 1, 1)";
    change(insert).await;
    let designer = caller(("dora", true, &["designer"]));
    let definition = json!({ "id": "pause", "runAs": { "roles": ["designer"] }, "steps": [{ "id": "wait", "type": "wait", "seconds": 1 }] });
    let new = post("/api/workflows/definitions".to_owned(), json!({ "definition": definition }));
    assert_eq!(ask_as(&site, &designer, new).await.0, 201);
    change("DELETE FROM users WHERE id = 'dora'").await;
    let mut shown = Value::Null;
    for _ in 0..500 {
        let jobs = site.ask("/api/admin/jobs?kind=workflows.sweep&state=waiting".to_owned(), None).await;
        if let Some(id) = jobs["items"][0]["id"].as_str() {
            // It may have begun by itself.
            call_route(&site.routes, &site.boss, post(format!("/api/admin/jobs/{id}/retry"), json!({}))).await;
        }
        shown = site.ask("/api/workflows/definitions/pause".to_owned(), None).await;
        if shown["isEnabled"] == false {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let cause = "its author, who was no administrator, was deleted";
    assert_eq!((&shown["isEnabled"], &shown["disabledBecause"]), (&json!(false), &json!(cause)), "{shown}");
    // The config in use follows a moment later.
    let mut status = 0;
    for _ in 0..500 {
        let start = post("/api/workflows/pause/runs".to_owned(), json!({}));
        status = ask_as(&site, &site.boss, start).await.0;
        if status == 404 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(status, 404);
    let page = call_route(&site.routes, &site.boss, get("/admin/workflow-definitions/pause".to_owned())).await.1;
    assert!(page.contains(cause), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_of_one_workflow_or_of_all() {
    let pause = |id: &str| format!("  - {{ id: {id}, steps: [{{ id: pause, type: wait, seconds: 1 }}] }}\n");
    let site = Site::open_with(&format!("workflows:\n{}{}pages: [{{ id: home }}]\n", pause("one"), pause("two"))).await;
    for workflow in ["one", "two", "one"] {
        site.ask(format!("/api/workflows/{workflow}/runs"), Some(json!({}))).await;
    }
    let check = async |workflow: Value, expected: usize| {
        let body = json!({ "after": null, "workflow": workflow });
        let (status, shown) = ask_as(&site, &site.boss, post("/ui/workflow-runs".to_owned(), body)).await;
        assert_eq!((status, shown["items"].as_array().unwrap().len()), (200, expected), "{shown}");
        let query = workflow.as_str().map_or_else(String::new, |workflow| format!("?workflowId={workflow}"));
        let listed = site.ask(format!("/api/workflows/runs{query}"), None).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), expected, "{listed}");
    };
    check(Value::Null, 3).await;
    check(json!("one"), 2).await;
    check(json!("other"), 0).await;
    // The list of the console.
    let check = async |query: &str, expected: usize| {
        let listed = site.ask(format!("/api/admin/workflows?{query}"), None).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), expected, "{query}: {listed}");
    };
    check("workflow=one&user=boss", 2).await;
    check("user=eve", 0).await;
    check("state=undecided", 0).await;
    check("from=2020-01-01", 3).await;
    check("to=2020-01-01", 0).await;
}
