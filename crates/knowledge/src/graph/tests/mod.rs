//! Extraction and questions on both databases, with a model that reads plain sentences.

mod kill;
mod life;
mod rights;

use super::job::{self, ReadChunks};
use crate::ingest;
use crate::section::{EntityType, GraphSettings, RelationType};
use crate::service::{Exploration, Knowledge, LibraryRequest, NewFile, UploadOptions};
use crate::store::graph::EntityFilter;
use crate::store::{self, DocumentRow, PartRow};
use crate::testing::{viewer, viewer_with_roles};
use ::store::Schema;
use bytes::Bytes;
use capability::ModelFailure;
use chat::Caller;
use futures::future::BoxFuture;
use jobs::{Jobs, Workers};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The config: what is extracted from the libraries of users, and the agent `a` that asks for it.
const CONFIG: &str = "
connections: [{ id: demo, type: Demo }]
knowledge:
  userGraph:
    model: { connectionId: demo, model: demo }
    entities: [{ type: person }, { type: team }]
    relations:
      - { type: leads, from: person, to: team }
      - { type: reports to, from: person, to: person }
";

/// Returns what [`CONFIG`] says is extracted.
pub(super) fn settings() -> GraphSettings {
    let text = |text: &str| settings::Text(text.to_owned());
    let relation = |kind: &str, from: &str, to: &str| RelationType {
        kind: text(kind),
        from: text(from),
        to: text(to),
        description: None,
    };
    GraphSettings {
        model: config::ModelRef { connection_id: "demo".to_owned(), model: "demo".to_owned() },
        entities: ["person", "team"].map(|kind| EntityType { kind: text(kind), description: None }).into(),
        relations: vec![relation("leads", "person", "team"), relation("reports to", "person", "person")],
        max_per_document: 500,
        max_entities: 20_000,
    }
}

/// A model that reads lines such as `Ada leads Pumps`, and says who asked.
#[derive(Default)]
struct Reader {
    asked: Mutex<Vec<String>>,
    /// The failures of the next requests.
    failures: Mutex<Vec<ModelFailure>>,
}

impl ReadChunks for Reader {
    fn read<'a>(
        &'a self,
        caller: &'a Caller,
        library: &'a str,
        _: &'a GraphSettings,
        chunks: &'a [PartRow],
        _: CancellationToken,
    ) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        self.asked.lock().push(format!("{} {library}", caller.user_id));
        let failure = self.failures.lock().pop();
        Box::pin(async move { failure.map_or_else(|| Ok(read(chunks)), Err) })
    }
}

fn read(chunks: &[PartRow]) -> Value {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for (number, chunk) in (1..).zip(chunks) {
        for line in chunk.text.lines() {
            for (kind, to_kind) in [("leads", "team"), ("reports to", "person")] {
                let Some((from, to)) = line.split_once(&format!(" {kind} ")) else { continue };
                let (from, alias) = from.split_once(" alias ").unwrap_or((from, ""));
                let aliases: Vec<_> = Some(alias).filter(|alias| !alias.is_empty()).into_iter().collect();
                entities.push(
                    json!({ "type": "person", "name": from, "aliases": aliases, "passage": number, "quote": line }),
                );
                entities.push(json!({ "type": to_kind, "name": to, "aliases": [], "passage": number, "quote": line }));
                relations.push(json!({ "type": kind, "from": from, "to": to, "passage": number, "quote": line }));
            }
        }
    }
    json!({ "entities": entities, "relations": relations })
}

/// A server with its database.
struct Server {
    knowledge: Knowledge,
    workers: Workers,
    reader: Arc<Reader>,
}

fn parsed(config: &str) -> Arc<config::Config> {
    let (config, _) = capability::language(&[crate::DEFINITION]).read_text(config).unwrap();
    Arc::new(config)
}

impl Server {
    async fn open(url: &str) -> Self {
        let store = Schema::new(&[store::TABLES]).open(url, "", Duration::ZERO).await.unwrap();
        let jobs = Jobs::new(store.clone());
        let workers = Workers::new(jobs.clone());
        let knowledge = Knowledge::new(store, jobs);
        knowledge.use_config(&parsed(CONFIG));
        let reader = Arc::new(Reader::default());
        workers.add(ingest::handler(knowledge.clone()));
        workers.add(job::handler(knowledge.clone(), reader.clone()));
        workers.start();
        Self { knowledge, workers, reader }
    }

    /// Creates a library of Ada, which `staff` may read.
    async fn library(&self, graph: bool) -> String {
        let (name, readers) = ("Library".to_owned(), vec!["staff".to_owned()]);
        let request = LibraryRequest { name, description: None, readers, writers: Vec::new(), graph };
        self.knowledge.create(&viewer("ada"), request).await.unwrap().id
    }

    async fn add(&self, library: &str, name: &str, text: &str) -> DocumentRow {
        let file = NewFile { name: name.to_owned(), media_type: None, identity: None, stamp: None };
        let content = futures::stream::iter([Ok::<_, Infallible>(Bytes::copy_from_slice(text.as_bytes()))]);
        let options = UploadOptions { replace: true, ..UploadOptions::default() };
        self.knowledge.upload(&viewer("ada"), library, file, options, content).await.unwrap().document
    }

    /// Waits until so many documents of a library are extracted.
    async fn extracted(&self, library: &str, documents: i64) {
        for _ in 0..3_000 {
            let counts = self.knowledge.extraction_counts(&viewer("ada"), library).await.unwrap().0;
            let open = store::documents(self.knowledge.store(), library, None, "", 500).await.unwrap();
            let is_read = open.iter().all(|document| document.next_id.is_none());
            if is_read && (counts.done, counts.documents) == (documents, documents) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing is extracted");
    }

    /// Returns the names of the entities of a library.
    async fn entities(&self, library: &str) -> String {
        let filter = EntityFilter { libraries: vec![library.to_owned()], most: 100, ..EntityFilter::default() };
        let found = self.knowledge.entities(filter).await.unwrap();
        found.iter().map(|entity| format!("{} {}", entity.kind, entity.name)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the relations that are reached from an entity.
    async fn explore(&self, library: &str, exploration: Exploration) -> String {
        match self.knowledge.explore(vec![library.to_owned()], exploration).await {
            Ok(explored) => {
                let line =
                    |one: &store::graph::RelationRow| format!("{} {} {} ×{}", one.from, one.kind, one.to, one.count);
                explored.relations.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Err(error) => format!("{:?}", error.code),
        }
    }

    async fn rows(&self, table: &str) -> i64 {
        let count: Arc<str> = format!("SELECT count(*) FROM {table}").into();
        let count = ::store::sql::query_scalar(count);
        let read = self.knowledge.store().read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) }));
        read.await.unwrap()
    }

    async fn close(self) {
        self.workers.shutdown(Duration::from_secs(1)).await;
        self.knowledge.store().close().await;
    }
}

fn from(entity: &str, depth: u32) -> Exploration {
    Exploration { entity: entity.to_owned(), depth, limit: 50, ..Exploration::default() }
}
