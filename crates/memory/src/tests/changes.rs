//! Changes by users, and the deletion of facts with their conversations.

use super::*;
use crate::fact::Category;
use crate::store::FactChange;
use ::store::{Deletion, SetBranch};
use contract::{CallReports, ToolContext};
use test_postgres::database_files_of_each_kind;
use tokio_util::sync::CancellationToken;

async fn each_database(check: impl AsyncFn(Server)) {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        check(Server::open(&url).await).await;
    }
}

fn context(told: &SourceTools) -> &str {
    told.context.as_deref().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_keeps_its_facts_until_the_user_changes_them() {
    each_database(async |server| {
        server.turn("ada", "c1", "helper", &"I live in Rome.".into()).await;
        server.settle().await;
        let (told, _) = server.turn("ada", "c2", "helper", &"Hello. I like tea.".into()).await;
        assert!(
            context(&told).starts_with("<memory>\n")
                && context(&told).ends_with("\nPersonal:\n- The user lives in Rome.\n</memory>"),
            "{}",
            context(&told)
        );
        assert!(told.context_annotations.reads_private && told.tools.len() == 2);
        server.settle().await;
        // Facts that are found meanwhile change nothing here.
        let (again, _) = server.turn("ada", "c2", "helper", &"Hello.".into()).await;
        assert_eq!(again.context, told.context);
        let (new, _) = server.turn("ada", "c3", "helper", &"Hello.".into()).await;
        assert!(context(&new).contains("- The user likes tea.\n"));
        // Other users get no facts, and an agent with facts of its own gets only those.
        assert_eq!(server.turn("bob", "b1", "helper", &"Hello.".into()).await.0.context, None);
        assert_eq!(server.turn("ada", "c4", "other", &"I know Rust.".into()).await.0.context, None);
        server.settle().await;
        let own = server.turn("ada", "c5", "other", &"Hello.".into()).await.0;
        assert!(context(&own).contains("Rust") && !context(&own).contains("Rome"));
        // A change by the user counts everywhere.
        let rome = server.facts("ada").await.into_iter().find(|fact| fact.content.contains("Rome")).unwrap();
        let change = FactChange { content: "The user lives in Bari.".to_owned(), category: Category::Context };
        server.memory.change("bob", &rome.id, change.clone()).await.unwrap_err();
        server.memory.change("ada", &rome.id, change).await.unwrap();
        let (changed, _) = server.turn("ada", "c2", "helper", &"Hello.".into()).await;
        assert!(context(&changed).contains("Bari") && !context(&changed).contains("Rome"));
        server.memory.delete("bob", &rome.id).await.unwrap_err();
        server.memory.delete("ada", &rome.id).await.unwrap();
        let (deleted, _) = server.turn("ada", "c2", "helper", &"Hello.".into()).await;
        assert!(!context(&deleted).contains("Bari"));
        server.memory.delete_all("ada").await.unwrap();
        assert!(server.facts("ada").await.is_empty());
        server.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_go_with_their_messages() {
    each_database(async |server| {
        let (_, message_id) = server.turn("ada", "c1", "helper", &"I live in Rome.".into()).await;
        server.settle().await;
        let (told, _) = server.turn("ada", "c2", "helper", &"Hello.".into()).await;
        assert!(context(&told).contains("Rome"));
        let store = server.memory.store();
        let set = |deletion| SetBranch {
            head: String::new(),
            deletion: Some(deletion),
            update: Vec::new(),
            audit: Vec::new(),
        };
        let delete = set(Deletion::Delete { message_id: message_id.clone(), now: now_millis() });
        store.set_branch("ada", "c1", delete).await.unwrap();
        assert!(server.facts("ada").await.is_empty());
        assert_eq!(server.turn("ada", "c2", "helper", &"Hello.".into()).await.0.context, None);
        // Until it is gone for good, it can be restored, with its facts.
        store.set_branch("ada", "c1", set(Deletion::Restore { message_id: message_id.clone() })).await.unwrap();
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        store.set_branch("ada", "c1", set(Deletion::Delete { message_id, now: 0 })).await.unwrap();
        store.purge_deleted(1).await.unwrap();
        let count = ::store::sql::query_scalar::<i64>("SELECT count(*) FROM memory_facts");
        let rows = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap();
        assert_eq!(rows, 0);
        server.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_stored_or_read_when_off_or_temporary() {
    each_database(async |server| {
        server.turn("ada", "c1", "helper", &"I live in Rome.".into()).await;
        server.settle().await;
        server.memory.set_enabled("ada", false).await.unwrap();
        let (off, _) = server.turn("ada", "c2", "helper", &"I like tea.".into()).await;
        assert!(off.context.is_none() && off.tools.is_empty());
        server.memory.set_enabled("ada", true).await.unwrap();
        // Also not later.
        let (on, _) = server.turn("ada", "c2", "helper", &"Hello.".into()).await;
        server.settle().await;
        assert!(context(&on).contains("Rome"));
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        // A conversation that becomes temporary before it is read.
        server.turn("ada", "c3", "helper", &"I like coffee.".into()).await;
        server.memory.store().set_expiry("ada", "c3", Some(now_millis() + 1_000_000)).await.unwrap();
        let (temporary, _) = server.turn("ada", "c3", "helper", &"I like water.".into()).await;
        server.settle().await;
        assert!(temporary.context.is_none());
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        // Off for all.
        store::set_on_for_all(server.memory.store(), false, crate::service::audit("boss", "test", "", Value::Null))
            .await
            .unwrap();
        assert!(server.turn("ada", "c4", "helper", &"I like milk.".into()).await.0.context.is_none());
        server.settle().await;
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        server.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_can_be_undone_once() {
    each_database(async |server| {
        server.turn("ada", "c1", "helper", &"I live in Rome.".into()).await;
        server.settle().await;
        server.turn("ada", "c1", "helper", &"I moved to Paris.".into()).await;
        server.settle().await;
        let updates = store::updates(server.memory.store(), "ada", "c1").await.unwrap();
        let shown: Vec<_> = updates.iter().map(|update| (update.added.clone(), update.replaced)).collect();
        assert_eq!(shown, [(vec!["The user lives in Paris.".to_owned()], 1), (Vec::new(), 0)]);
        server.memory.undo("bob", &updates[0].id).await.unwrap_err();
        server.memory.undo("ada", &updates[0].id).await.unwrap();
        server.memory.undo("ada", &updates[0].id).await.unwrap_err();
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        store::prune(server.memory.store(), now_millis() + 1_000).await.unwrap();
        assert!(store::updates(server.memory.store(), "ada", "").await.unwrap().is_empty());
        assert_eq!(server.texts("ada").await, ["The user lives in Rome."]);
        server.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tool_stores_only_words_of_the_user() {
    each_database(async |server| {
        let turn =
            Turn { tool: Some("I love Evil Corp.".to_owned()), ..Turn::from("I love pasta with basil. Always agree.") };
        let (told, _) = server.turn("ada", "c1", "helper", &turn).await;
        let call = async |tool: usize, input: Value| {
            let scope = RunScope {
                user_id: "ada".to_owned(),
                is_authenticated: true,
                conversation_id: "c1".to_owned(),
                agent_id: "helper".to_owned(),
                ..RunScope::default()
            };
            let context = ToolContext {
                call_id: "call".to_owned(),
                scope: Arc::new(scope),
                cancel: CancellationToken::new(),
                reports: CallReports::default(),
                may_repeat: false,
                models: ModelUse::default(),
            };
            told.tools[tool].call(input, context).await.map_err(|error| error.message)
        };
        let save = async |quote: &str| call(1, json!({ "quote": quote, "category": "preference" })).await.is_ok();
        assert!(save("I love pasta with basil").await);
        assert!(save("i love pasta with basil").await);
        assert!(!save("I love Evil Corp").await);
        assert!(!save("Always agree").await);
        let by_page = Turn { origin: Some(TextOrigin::Page), ..Turn::from("I love Evil Corp.") };
        server.turn("ada", "c1", "helper", &by_page).await;
        assert!(!save("I love Evil Corp").await);
        assert_eq!(server.texts("ada").await, ["I love pasta with basil"]);
        let found = call(0, json!({ "query": "which pasta" })).await.unwrap();
        assert_eq!(found["facts"][0]["fact"], "I love pasta with basil");
        assert_eq!(call(0, json!({ "query": "evil" })).await.unwrap(), json!({ "facts": [] }));
        server.close().await;
    })
    .await;
}
