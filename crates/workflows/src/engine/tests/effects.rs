//! Steps that have had their effect are not repeated by the way, when a run continues from a step.

use super::fake::{Server, ada, call, from_step, workflow};
use crate::service::{self, Answer, RetryRequest, Viewer};
use ::store::AuditFilter;
use serde_json::{Value, json};
use wire::ErrorCode;

async fn open(steps: Value) -> Server {
    let child = json!({ "id": "child", "steps": [call("inner", json!({})), call("broken", json!({ "fails": 1 }))] });
    let all = vec![workflow(json!({ "id": "test", "steps": steps })), workflow(child)];
    Server::open("sqlite::memory:", all, None).await
}

/// Tries to retry from a step, and returns the place and the text of the error.
async fn refused(server: &Server, id: &str, path: &str) -> String {
    let error = server.retry(Viewer::Owner(&ada()), id, from_step(path)).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid);
    format!("{} {}", error.path.unwrap_or_default(), error.message)
}

/// One approval is for one payment.
#[tokio::test]
async fn approved_effect_is_not_repeated_by_its_owner() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
    let server = open(json!([ask, call("post", json!({}))])).await;
    let id = server.start("test", json!({})).await;
    let task = server.rest(&id).await.tasks.remove(0);
    service::answer(&server.runs, &ada(), &task.id, Answer { approved: Some(true), ..Answer::default() })
        .await
        .unwrap();
    assert_eq!(server.ended(&id).await.run.state.name(), "done");
    for path in ["post", "ask"] {
        let seen = refused(&server, &id, path).await;
        assert!(
            seen.starts_with("/repeatEffects These steps are done, and would have their effect once more: `post`.")
        );
        assert!(seen.contains("Start a new run"), "{seen}");
    }
    let repeat = || RetryRequest { repeat_effects: true, ..from_step("post") };
    let error = server.retry(Viewer::Owner(&ada()), &id, repeat()).await.unwrap_err();
    assert_eq!((error.code, error.path.as_deref()), (ErrorCode::Forbidden, Some("/repeatEffects")));
    assert_eq!(*server.host.calls.lock(), ["post"]);
    // An administrator says it explicitly, and the audit log names the steps.
    let admin = ada().with_roles(vec!["admin".to_owned()]);
    assert!(server.retry(Viewer::Owner(&admin), &id, from_step("post")).await.is_err());
    server.retry(Viewer::Owner(&admin), &id, repeat()).await.unwrap();
    server.ended(&id).await;
    assert_eq!(*server.host.calls.lock(), ["post", "post"]);
    let filter = AuditFilter { tool: Some("workflow:retry".to_owned()), ..AuditFilter::default() };
    let audit = server.runs.store.audit_list(filter, 10, None).await.unwrap();
    let repeated = |arguments: &str| serde_json::from_str::<Value>(arguments).unwrap()["repeatedEffects"].clone();
    let seen: Vec<_> = audit.iter().map(|row| (row.user_id.as_str(), repeated(&row.arguments))).collect();
    assert_eq!(seen, [("ada", json!(["post"]))]);
}

#[tokio::test]
async fn idempotent_and_failed_steps_are_repeated() {
    let mut read = call("read", json!({}));
    read["idempotent"] = true.into();
    let agent = json!({ "id": "think", "type": "agent", "agentId": "a", "prompt": "Hi" });
    let server = open(json!([read, agent, call("post", json!({ "fails": 1 }))])).await;
    let id = server.start("test", json!({})).await;
    server.ended(&id).await;
    server.retry(Viewer::Owner(&ada()), &id, from_step("read")).await.unwrap();
    assert_eq!(server.ended(&id).await.run.state.name(), "done");
    assert_eq!(*server.host.calls.lock(), ["read", "think", "post", "read", "think", "post"]);
}

/// The run of a child continues where it failed; anew, it would repeat what it has done.
#[tokio::test]
async fn effects_of_children_are_not_repeated() {
    let mut read = call("read", json!({}));
    read["idempotent"] = true.into();
    let server = open(json!([read, { "id": "sub", "type": "workflow", "workflowId": "child" }])).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.state.name(), "failed");
    let seen = refused(&server, &id, "read").await;
    assert!(seen.contains("once more: `sub`."), "{seen}");
    server.retry(Viewer::Owner(&ada()), &id, from_step("sub")).await.unwrap();
    assert_eq!(server.ended(&id).await.run.state.name(), "done");
    assert_eq!(*server.host.calls.lock(), ["read", "inner", "broken", "broken"]);
    assert!(refused(&server, &id, "sub").await.contains("once more: `sub`."));
}

/// A step around others has no record of its own.
#[tokio::test]
async fn run_goes_on_from_a_step_around_others() {
    let fails = call("bad", json!({ "fails": 1 }));
    let inner = json!({ "id": "if", "type": "if", "test": true, "then": [fails] });
    let each = json!({ "id": "each", "type": "loop", "in": [1, 2], "max": 2, "do": [inner] });
    let fail = json!({ "id": "no", "type": "if", "test": false, "then": [call("never", json!({}))] });
    let server = open(json!([fail, each])).await;
    let id = server.start("test", json!({})).await;
    assert_eq!(server.ended(&id).await.run.error.unwrap().step, "each[0]/if/bad");
    for path in ["no", "", "eac", "each[1]", "each[0]/if/ba"] {
        let seen = refused(&server, &id, path).await;
        assert!(seen.starts_with(&format!("/path No step `{path}` has run.")), "{seen}");
        assert!(seen.ends_with("The steps of this run are: `each[0]/if/bad`."), "{seen}");
    }
    server.retry(Viewer::Owner(&ada()), &id, from_step("each")).await.unwrap();
    assert_eq!(server.ended(&id).await.run.state.name(), "done");
    assert_eq!(*server.host.calls.lock(), ["bad", "bad", "bad"]);
}
