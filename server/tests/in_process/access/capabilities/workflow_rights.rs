//! Users who may write definitions or start runs get no further rights by them.

use super::workflows::{Site, ask_as, has_ended, send_form};
use crate::access::{call_route, caller, get, post};
use serde_json::{Value, json};

const CONFIG: &str = "
workflowEditors: { roles: [designer] }
connections: [{ id: demo, type: Demo }]
api:
  - { id: post, type: Api, description: Posts., auth: { roles: [finance] }, routine: [{ ':return': { posted: true } }] }
  - { id: pay, type: Api, description: Pays., payloadSchema: { type: object }, routine: [{ ':return': { paid: true } }] }
agents:
  - { id: controlled, type: Agent, connectionId: demo, properties: { model: demo, approvers: [boss] }, tools: [{ endpointId: pay, confirm: true }] }
workflows:
  - { id: secret, roles: [finance], runAs: { roles: [finance] }, steps: [{ id: post, type: endpoint, endpointId: post }] }
  - { id: payment, runAs: { roles: [finance] }, steps: [{ id: post, type: endpoint, endpointId: post }] }
pages: [{ id: home }]
";
const DEFINITIONS: &str = "/api/workflows/definitions";

/// Returns the positions of the problems of a definition that a user checks, and the status of storing it.
async fn checked(site: &Site, roles: &[&str], definition: &Value) -> (Vec<String>, u16) {
    let author = caller(("des", true, roles));
    let body = json!({ "definition": definition });
    let (_, found) = ask_as(site, &author, post(format!("{DEFINITIONS}/check"), body.clone())).await;
    let places = found["problems"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap().to_owned());
    let places = places.collect();
    (places, ask_as(site, &author, post(DEFINITIONS.to_owned(), body)).await.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn definition_starts_only_workflows_that_its_rights_allow() {
    let site = Site::open_with(CONFIG).await;
    let definition = |id: &str, role: &str| {
        let child = json!({ "id": "c", "type": "workflow", "workflowId": "secret" });
        let body = json!({ "id": "if", "type": "if", "test": true, "then": [child] });
        json!({ "id": id, "runAs": { "roles": [role] }, "steps": [body] })
    };
    let place = vec!["/steps/0/then/0/workflowId".to_owned()];
    assert_eq!(checked(&site, &["designer"], &definition("spy", "designer")).await, (place, 422));
    assert_eq!(checked(&site, &["designer", "finance"], &definition("fine", "finance")).await, (vec![], 201));
    let run = site.ask("/api/workflows/fine/runs".to_owned(), Some(json!({}))).await;
    let run = site.run(run["id"].as_str().unwrap(), has_ended).await;
    assert_eq!(run["output"], json!({ "posted": true }), "{run}");
}

#[tokio::test(flavor = "multi_thread")]
async fn definition_approves_only_what_its_author_may_approve() {
    let site = Site::open_with(CONFIG).await;
    let tool = json!({ "id": "t", "type": "tool", "agentId": "controlled", "toolName": "pay", "approved": true });
    let agent = json!({ "id": "a", "type": "agent", "agentId": "controlled", "prompt": "Hi", "tools": ["pay"],
        "approvedTools": ["pay"] });
    let definition =
        |id: &str, roles: &[&str], step: &Value| json!({ "id": id, "runAs": { "roles": roles }, "steps": [step] });
    for (step, key) in [(&tool, "approved"), (&agent, "approvedTools")] {
        let (places, status) = checked(&site, &["designer"], &definition("sly", &["designer"], step)).await;
        assert_eq!((places, status), (vec![format!("/steps/0/{key}")], 422));
    }
    let (places, status) =
        checked(&site, &["designer", "boss"], &definition("fine", &["designer", "boss"], &tool)).await;
    assert_eq!((places.len(), status), (0, 201));
    let run = site.ask("/api/workflows/fine/runs".to_owned(), Some(json!({}))).await;
    let run = site.run(run["id"].as_str().unwrap(), has_ended).await;
    assert_eq!(run["output"], json!({ "paid": true }), "{run}");
}

/// The audit log contains the users' actions on their runs; a payment is repeated only if an administrator confirms it.
#[tokio::test(flavor = "multi_thread")]
async fn finished_effect_is_repeated_only_by_an_administrator_who_confirms() {
    let site = Site::open_with(CONFIG).await;
    let eve = caller(("eve", true, &["reader"]));
    let (status, run) = ask_as(&site, &eve, post("/api/workflows/payment/runs".to_owned(), json!({}))).await;
    assert_eq!(status, 201, "{run}");
    let id = run["id"].as_str().unwrap();
    let path = format!("/api/workflows/runs/{id}");
    let done = async |steps: u64| {
        for _ in 0..500 {
            let run = ask_as(&site, &eve, get(path.clone())).await.1;
            if has_ended(&run) && run["steps"] == steps {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("the run does not end with {steps} steps");
    };
    done(1).await;
    for (body, expected) in [(json!({ "path": "post" }), 422), (json!({ "path": "post", "repeatEffects": true }), 403)]
    {
        let (status, refused) = ask_as(&site, &eve, post(format!("{path}/retry"), body)).await;
        assert_eq!((status, &refused["error"]["path"]), (expected, &json!("/repeatEffects")), "{refused}");
    }
    // The console names the steps and asks.
    let retry = format!("/admin/workflows/{id}/retry");
    let (status, page) = send_form(&site, &site.boss, &retry, &[("path", "post")]).await;
    assert_eq!(status, 422, "{page}");
    for expected in ["would have their effect once more: ", "<code>post</code>", "Repeat these steps"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert_eq!(send_form(&site, &eve, &retry, &[("path", "post"), ("repeat", "1")]).await.0, 404);
    assert_eq!(send_form(&site, &site.boss, &retry, &[("path", "post"), ("repeat", "1")]).await.0, 303);
    done(2).await;
    assert_eq!(call_route(&site.routes, &eve, post(format!("{path}/stop"), json!({}))).await.0, 204);
    let audit = site.store.audit_list(store::AuditFilter::default(), 20, None).await.unwrap();
    let seen: Vec<_> = audit.iter().rev().filter(|row| row.tool.contains("workflow")).collect();
    let names: Vec<_> = seen.iter().map(|row| (row.user_id.as_str(), row.tool.as_str())).collect();
    assert_eq!(names, [("eve", "workflow:start"), ("boss", "admin:retry_workflow_run"), ("eve", "workflow:stop")]);
    let arguments: Value = serde_json::from_str(&seen[1].arguments).unwrap();
    assert_eq!(arguments["repeatedEffects"], json!(["post"]));
}

/// The people to whom a question is addressed may be gone.
#[tokio::test(flavor = "multi_thread")]
async fn administrator_lets_others_answer() {
    let asks =
        "workflows: [{ id: ask, steps: [{ id: q, type: human, title: OK?, users: [gone] }] }]\npages: [{ id: home }]\n";
    let site = Site::open_with(asks).await;
    let run = site.ask("/api/workflows/ask/runs".to_owned(), Some(json!({}))).await;
    let id = run["id"].as_str().unwrap();
    let run = site.run(id, |run| run["tasks"][0].is_object()).await;
    let task = run["tasks"][0]["id"].as_str().unwrap();
    let eve = caller(("eve", true, &["reader"]));
    let answer = || post(format!("/api/workflows/tasks/{task}"), json!({ "approved": true }));
    assert_eq!(ask_as(&site, &eve, answer()).await.0, 404);
    let page = format!("/admin/workflow-tasks/{task}");
    let (_, shown) = call_route(&site.routes, &site.boss, get(page.clone())).await;
    assert!(shown.contains("Let others answer") && shown.contains("the user gone"), "{shown}");
    let assign = format!("{page}/assign");
    let role = [("kind", "role"), ("name", "reader")];
    assert_eq!(send_form(&site, &eve, &assign, &role).await.0, 404);
    assert_eq!(send_form(&site, &site.boss, &assign, &[("kind", "role"), ("name", " ")]).await.0, 422);
    assert_eq!(send_form(&site, &site.boss, &assign, &role).await.0, 303);
    assert_eq!(send_form(&site, &site.boss, &assign, &role).await.0, 409, "they may already");
    assert_eq!(ask_as(&site, &eve, answer()).await.0, 200);
    let run = site.run(id, has_ended).await;
    assert_eq!(run["output"]["by"], "eve", "{run}");
    let filter =
        store::AuditFilter { tool: Some("admin:assign_workflow_task".to_owned()), ..store::AuditFilter::default() };
    let audit = site.store.audit_list(filter, 20, None).await.unwrap();
    let arguments: Value = serde_json::from_str(&audit[0].arguments).unwrap();
    assert_eq!(arguments, json!({ "taskId": task, "runId": id, "role": "reader" }));
    assert_eq!(
        send_form(&site, &site.boss, &assign, &[("kind", "role"), ("name", "x")]).await.0,
        409,
        "it is answered"
    );
}
