//! Questions that begin to wait are announced, each once.

use super::fake::{Server, workflow};
use crate::service;
use crate::store::{self, Assignee};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{TellOfWaiting, WaitingKind};
use chat::Caller;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use test_postgres::database_files_of_each_kind;
use web::times::now_millis;

/// The announced questions.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl TellOfWaiting for Told {
    fn begins<'a>(&'a self, _: &'a mut Db, kind: WaitingKind, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        assert_eq!(kind, WaitingKind::Task);
        self.0.lock().push(id.to_owned());
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_told_of_questions_of_workflows_and_of_their_agents() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let check = async |step: serde_json::Value, questions: usize| {
            let server = Server::open(&url, vec![workflow(json!({ "id": "test", "steps": [step] }))], None).await;
            let told = Arc::new(Told::default());
            server.host.waiting.tell_with(told.clone());
            let id = server.start("test", json!({})).await;
            let mut asked: Vec<_> = server.rest(&id).await.tasks.into_iter().map(|task| task.id).collect();
            asked.sort_unstable();
            let mut seen = told.0.lock().clone();
            seen.sort_unstable();
            assert_eq!((asked.len(), &seen), (questions, &asked));
            // A person whom an administrator adds is told of the question once, and finds it among the new ones.
            let asked_at = store::task(&server.runs.store, &asked[0]).await.unwrap().unwrap().created_at;
            let is_found = async |caller: Caller, since: i64| {
                let tasks = store::tasks_since(&server.runs.store, &caller, since, 10).await.unwrap();
                tasks.into_iter().any(|task| task.id == asked[0])
            };
            let bob = || Caller::signed_in("bob");
            let manager = || Caller::signed_in("mia").with_roles(vec!["manager".to_owned()]);
            assert!(!is_found(bob(), 0).await);
            tokio::time::sleep(Duration::from_millis(2)).await;
            let assign = async || {
                let audit = auth::audit_row("boss", "admin:assign_workflow_task", "", json!({}));
                let (waiting, bob) = (&server.host.waiting, Assignee::User("bob".to_owned()));
                service::assign(&server.runs, waiting, &asked[0], bob, audit).await.is_ok()
            };
            assert!(assign().await);
            assert!(!assign().await);
            assert_eq!(told.0.lock()[questions..], asked[..1]);
            assert!(is_found(bob(), 0).await);
            assert!(is_found(bob(), asked_at).await);
            assert!(!is_found(bob(), now_millis() + 1_000).await);
            assert!(!is_found(manager(), asked_at).await);
            server.close().await;
        };
        check(json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] }), 1).await;
        check(json!({ "id": "pay", "type": "agent", "agentId": "clerk", "prompt": "pay", "tools": ["pay"] }), 2).await;
    }
}
