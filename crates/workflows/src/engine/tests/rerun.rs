//! Runs that are started again.

use super::fake::{Server, ada, call, workflow};
use crate::service::{self, RerunRequest, Viewer};
use ::store::AuditFilter;
use chat::Caller;
use config::{Config, Language, SectionType};
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;
use workflow_definition::Workflows;

const WORKFLOWS: &str = "
workflows:
  - id: test
    roles: [manager]
    input: { type: object, required: [n], properties: { n: { type: integer } } }
    steps: [{ id: one, type: wait, seconds: 1000 }]
";

fn config() -> Config {
    let (config, _) = Language::new(&[SectionType::of::<Workflows>()], &[])
        .read_text(WORKFLOWS)
        .map_err(|problems| config::render(&problems))
        .unwrap();
    config
}

fn input(value: &Value) -> RerunRequest {
    RerunRequest { input: value.as_object().cloned(), ..RerunRequest::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_starts_again_with_its_input_or_another_one() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        // The run keeps to an older definition.
        let old = workflow(json!({ "id": "test", "steps": [call("old", "$.input".into())] }));
        let server = Server::open(&url, vec![old], None).await;
        let id = server.start("test", json!({ "n": 1 })).await;
        let old = server.ended(&id).await.run;
        let config = config();
        let rerun = async |caller: &Caller, request: RerunRequest| {
            service::rerun(&server.runs, (Viewer::Owner(caller), caller), &config, &id, request, None).await
        };
        let same = rerun(&ada(), RerunRequest::default()).await.unwrap();
        assert_eq!((&same.input, same.rerun_of.as_deref()), (&json!({ "n": 1 }), Some(&*id)));
        assert_ne!(same.version, old.version, "with the definition as it is now");
        let changed = rerun(&ada(), input(&json!({ "n": 2 }))).await.unwrap();
        assert_eq!((&changed.input, &changed.owner), (&json!({ "n": 2 }), &"ada".to_owned()));
        let refused = async |caller: Caller, request: RerunRequest| {
            let error = rerun(&caller, request).await.unwrap_err();
            format!("{:?} {}", error.code, error.path.unwrap_or_default())
        };
        assert_eq!(refused(ada(), input(&json!({ "n": "x" }))).await, "Invalid /input/n");
        let other = Caller::signed_in("eve").with_roles(ada().roles().to_vec());
        assert_eq!(refused(other, RerunRequest::default()).await, "NotFound ");
        let without_role = ada().with_roles(Vec::new());
        assert_eq!(refused(without_role, RerunRequest::default()).await, "NotFound ");
        let filter = AuditFilter { tool: Some("workflow:rerun".to_owned()), ..AuditFilter::default() };
        let rows = server.runs.store.audit_list(filter, 9, None).await.unwrap();
        let logged: Vec<_> =
            rows.iter().map(|row| serde_json::from_str::<Value>(&row.arguments).unwrap()["newRunId"].clone()).collect();
        assert_eq!(logged, [changed.id.clone(), same.id.clone()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn administrator_starts_the_run_of_another_user_for_themselves() {
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": [] }))], None).await;
    let id = server.start("test", json!({ "n": 1 })).await;
    server.ended(&id).await;
    let boss = Caller::signed_in("boss").with_roles(vec!["admin".to_owned(), "manager".to_owned()]);
    let request = RerunRequest::default();
    let run = service::rerun(&server.runs, (Viewer::Admin, &boss), &config(), &id, request, None).await.unwrap();
    assert_eq!((run.owner.as_str(), run.caller.roles.len()), ("boss", 2));
}
