//! With which rights steps run: those of the run, of a child, and of a run that continues.

use super::fake::{Server, ada, call, from_step, of_config, shown, workflow};
use crate::service::{self, RetryRequest, Viewer};
use chat::Caller;
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;
use wire::ErrorCode;

/// Ada with these roles.
fn ada_as(roles: &[&str]) -> Caller {
    ada().with_roles(roles.iter().map(|role| (*role).to_owned()).collect())
}

#[tokio::test]
async fn child_is_started_by_its_roles_only() {
    let check = async |roles: Value, run_as: Value, expected: &str| {
        let step = json!({ "id": "sub", "type": "workflow", "workflowId": "secret" });
        let mut parent = json!({ "id": "test", "steps": [step] });
        if !run_as.is_null() {
            parent["runAs"] = json!({ "roles": run_as });
        }
        let child = json!({ "id": "secret", "roles": roles, "runAs": { "roles": ["finance"] },
            "steps": [call("pay", json!({}))], "output": "paid" });
        let server = Server::open("sqlite::memory:", vec![workflow(parent), workflow(child)], None).await;
        let id = server.start("test", json!({})).await;
        let detail = server.ended(&id).await;
        assert_eq!(shown(&detail).lines().next().unwrap(), expected);
        let has_paid = !server.host.calls.lock().is_empty();
        assert_eq!(has_paid, detail.run.error.is_none());
    };
    let refused =
        "failed null invalid: only users with one of these roles may start the workflow `secret`: finance, boss (sub)";
    check(json!(["finance", "boss"]), json!(["designer"]), refused).await;
    check(json!(["finance", "boss"]), Value::Null, refused).await;
    check(json!(["finance", "boss"]), json!(["boss"]), "done \"paid\"").await;
    check(json!(["manager"]), Value::Null, "done \"paid\"").await;
    check(json!([]), json!(["designer"]), "done \"paid\"").await;
}

/// When an owner loses a right, runs that they started earlier lose it as well.
#[tokio::test(flavor = "multi_thread")]
async fn run_goes_on_with_the_rights_that_its_owner_has_then() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
        let parent = workflow(json!({ "id": "test", "roles": ["manager", "clerk"], "steps": [sub] }));
        let child = json!({ "id": "child", "steps": [call("pay", json!({ "fails": 1 }))], "output": "paid" });
        let server = Server::open(&url, vec![parent, workflow(child)], None).await;
        let id = server.start("test", json!({})).await;
        assert_eq!(server.ended(&id).await.run.state.name(), "failed");
        let lost = ada_as(&[]);
        for request in [RetryRequest::default(), from_step("sub")] {
            let refused = server.retry(Viewer::Owner(&lost), &id, request).await.unwrap_err();
            assert_eq!(refused.code, ErrorCode::Forbidden, "{url}");
        }
        let owner = ada();
        let gone = service::retry(
            &server.runs,
            Viewer::Owner(&owner),
            &id,
            RetryRequest::default(),
            of_config(Vec::new()),
            None,
        );
        assert_eq!(gone.await.unwrap_err().code, ErrorCode::Forbidden, "the workflow was removed");
        server.retry(Viewer::Owner(&ada_as(&["clerk"])), &id, RetryRequest::default()).await.unwrap();
        assert_eq!(server.ended(&id).await.run.output, "paid");
        assert_eq!(*server.host.roles.lock(), [vec!["manager"], vec!["clerk"]], "{url}");
        server.close().await;
    }
}

/// A fix of `limits` and `runAs` counts, also that of a child.
#[tokio::test(flavor = "multi_thread")]
async fn current_definition_brings_its_limits_and_rights() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let steps = |fails: u64| {
            json!([
                call("one", json!({})),
                call("two", json!({})),
                call("three", json!({ "fails": fails })),
                { "id": "sub", "type": "workflow", "workflowId": "child" },
            ])
        };
        let child = |roles: &str| json!({ "id": "child", "runAs": { "roles": [roles] }, "steps": [call("inner", json!({ "fails": 1 }))] });
        let narrow = json!({ "id": "test", "limits": { "steps": 2 }, "steps": steps(0) });
        let server = Server::open(&url, vec![workflow(narrow), workflow(child("clerk"))], None).await;
        let id = server.start("test", json!({})).await;
        assert_eq!(server.ended(&id).await.run.error.unwrap().message, "limits.steps: 2");
        let wide =
            json!({ "id": "test", "limits": { "steps": 50 }, "runAs": { "roles": ["finance"] }, "steps": steps(0) });
        let retry = async |roles: &str| {
            let current = of_config(vec![workflow(wide.clone()), workflow(child(roles))]);
            let request = RetryRequest { use_current_definition: true, ..RetryRequest::default() };
            service::retry(&server.runs, Viewer::Owner(&ada()), &id, request, current, None).await.unwrap();
            server.ended(&id).await
        };
        let detail = retry("clerk").await;
        assert_eq!(detail.run.limits.steps, Some(50));
        assert_eq!(detail.run.error.unwrap().message, "it failed the 1. time", "that of the child");
        assert_eq!(retry("boss").await.run.state.name(), "done", "{url}");
        let roles: Vec<_> = server.host.roles.lock().iter().map(|roles| roles.join(" ")).collect();
        // The child was started with its definition of the server's config.
        assert_eq!(roles, ["manager", "manager", "finance", "clerk", "boss"], "{url}");
        server.close().await;
    }
}
