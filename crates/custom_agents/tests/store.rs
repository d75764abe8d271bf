//! The tables of custom agents, on SQLite and, if it is installed, on PostgreSQL.

use custom_agents::store::{SaveAgentOutcome, SaveCustomAgent, TABLES, delete, list, version, versions};
use serde_json::json;
use store::{AuditEntry, AuditFilter, AuditOutcome};
use test_store::on_each_database;

fn entry(call_id: &str, tool: &str) -> AuditEntry {
    AuditEntry {
        at: 7,
        user_id: "boss".to_owned(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: call_id.to_owned(),
        tool: tool.to_owned(),
        arguments: json!({}),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

#[tokio::test]
async fn custom_agents_are_versioned_and_conflicting_saves_are_refused() {
    on_each_database(&[TABLES], async |store| {
        let save = async |id: &str, after: Option<i64>, text: &str| {
            let save = SaveCustomAgent {
                id: id.to_owned(),
                after,
                definition: json!({ "instructions": text }),
                author: "boss".to_owned(),
                now: after.unwrap_or_default(),
            };
            let call = format!("{id}-{text}");
            custom_agents::store::save(store, save, entry(&call, "admin:add_agent")).await.unwrap()
        };
        let before = version(store).await.unwrap();
        assert_eq!(save("a", None, "one").await, SaveAgentOutcome::Done(1));
        let created = version(store).await.unwrap();
        assert_ne!(created, before);
        assert_eq!(save("a", Some(1), "two").await, SaveAgentOutcome::Done(2));
        assert_eq!(save("a", Some(1), "late").await, SaveAgentOutcome::Changed);
        assert_eq!(save("b", Some(1), "none").await, SaveAgentOutcome::Unknown);
        let agents = list(store).await.unwrap();
        let seen: Vec<_> = agents.iter().map(|agent| (agent.id.as_str(), agent.version, &agent.definition)).collect();
        assert_eq!(seen, [("a", 2, &json!({ "instructions": "two" }))]);
        let all_versions = async || {
            let versions = versions(store, "a").await.unwrap();
            versions.iter().map(|version| (version.version, version.definition["instructions"].clone())).collect()
        };
        let expected: Vec<_> = vec![(2, json!("two")), (1, json!("one"))];
        let seen: Vec<_> = all_versions().await;
        assert_eq!(seen, expected);
        assert_ne!(version(store).await.unwrap(), created);
        let row = |id: &str| entry(id, "admin:delete_agent");
        assert!(delete(store, "a", 9, row("d1")).await.unwrap());
        assert!(!delete(store, "a", 9, row("d2")).await.unwrap());
        assert_eq!(list(store).await.unwrap(), []);
        assert_eq!(save("a", Some(2), "three").await, SaveAgentOutcome::Unknown);
        let seen: Vec<_> = all_versions().await;
        assert_eq!(seen, expected, "what it was stays");
        assert_eq!(store.audit_list(AuditFilter::default(), 9, None).await.unwrap().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn only_the_newest_versions_are_kept() {
    on_each_database(&[TABLES], async |store| {
        for after in 0..53 {
            let save = SaveCustomAgent {
                id: "a".to_owned(),
                after: (after > 0).then_some(after),
                definition: json!({ "instructions": after }),
                author: "boss".to_owned(),
                now: after,
            };
            let entry = entry(&after.to_string(), "admin:change_agent");
            let saved = custom_agents::store::save(store, save, entry).await.unwrap();
            assert_eq!(saved, SaveAgentOutcome::Done(after + 1));
        }
        let count = store::sql::query_scalar::<i64>("SELECT count(*) FROM custom_agent_versions");
        let count = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap();
        let kept = versions(store, "a").await.unwrap();
        assert_eq!((count, kept.first().unwrap().version, kept.last().unwrap().version), (50, 53, 4));
    })
    .await;
}
