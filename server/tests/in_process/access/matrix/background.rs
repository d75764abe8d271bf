//! Data that background jobs store about users. The tests write them directly: the jobs would need models.

use super::fixture::{CANARY, TestServer};

impl TestServer {
    /// Stores a fact about Ada, as a conversation that has rested does.
    pub(super) async fn remember(&self, message_id: &str) {
        let fact =
            "INSERT INTO memory_facts (id, owner, agent_id, content, category, topic, confidence, conversation_id,
                message_id, created_at, updated_at, edited, update_id)
            VALUES ('ada-fact', 'ada', '', $1, 'context', 'workContext', 1.0, 'ada-c', $2, 1, 1, 0, 'ada-update')";
        let update = "INSERT INTO memory_updates (id, owner, conversation_id, created_at) VALUES ('ada-update', 'ada', 'ada-c', 1)";
        let fact = store::sql::query(fact).bind(CANARY).bind(message_id);
        let write = self.accounts.store.write(move |db| {
            Box::pin(async move {
                fact.execute(&mut *db).await?;
                store::sql::query(update).execute(db).await?;
                Ok(())
            })
        });
        write.await.unwrap();
    }

    /// Stores an entity of a library of Ada, as the extraction does.
    pub(super) async fn mention(&self, library: &str) {
        let entity = "INSERT INTO knowledge_entities (id, library_id, kind, name, name_key, created_at)
            VALUES ('ada-entity', $1, 'person', $2, $2, 1)";
        let entity = store::sql::query(entity).bind(library).bind(CANARY);
        let write = self.accounts.store.write(move |db| Box::pin(async move { Ok(entity.execute(db).await?) }));
        write.await.unwrap();
    }
}
