mod asked;
mod attachments;
mod kill;
mod life;
mod of_run;
mod pictures;
mod projects;
mod quotes;
mod upload;
mod user_documents;
mod vectors;

use crate::ingest;
use crate::service::{
    Access, Filter, Knowledge, LibraryChange, LibraryRequest, NewFile, SearchMode, SearchRequest, UploadOptions,
};
use crate::store::{self, DocumentRow, DocumentState};
use crate::testing::{viewer, viewer_with_roles};
use ::store::{CapabilityTables, Schema};
use bytes::Bytes;
use chat::Viewer;
use jobs::{Jobs, Workers};
use std::convert::Infallible;
use std::time::Duration;
use wire::UserError;

const TABLES: &[CapabilityTables] = &[store::TABLES];

/// A server with its database.
struct Server {
    knowledge: Knowledge,
    workers: Workers,
}

impl Server {
    async fn open(url: &str) -> Self {
        let store = Schema::new(TABLES).open(url, "", Duration::ZERO).await.unwrap();
        let jobs = Jobs::new(store.clone());
        let workers = Workers::new(jobs.clone());
        let knowledge = Knowledge::new(store, jobs);
        workers.add(ingest::handler(knowledge.clone()));
        workers.add(ingest::embed_handler(knowledge.clone()));
        workers.start();
        Self { knowledge, workers }
    }

    async fn library(&self) -> String {
        let request = LibraryRequest {
            name: "Library".to_owned(),
            description: None,
            readers: vec!["staff".to_owned()],
            writers: Vec::new(),
            graph: false,
        };
        self.knowledge.create(&viewer("ada"), request).await.unwrap().id
    }

    async fn add(&self, library: &str, name: &str, text: &str, replace: bool) -> Result<DocumentRow, UserError> {
        let file = NewFile { name: name.to_owned(), media_type: None, identity: None, stamp: None };
        let pieces: Vec<Result<Bytes, Infallible>> =
            text.as_bytes().chunks(1_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let content = futures::stream::iter(pieces);
        let options = UploadOptions { replace, ..UploadOptions::default() };
        let added = self.knowledge.upload(&viewer("ada"), library, file, options, content).await;
        added.map(|added| added.document)
    }

    /// Waits until nothing of a library is being read.
    async fn settled(&self, library: &str) -> Vec<DocumentRow> {
        for _ in 0..3_000 {
            let all = store::documents(self.knowledge.store(), library, None, "", 5_000).await.unwrap();
            if all.iter().all(|one| matches!(one.state, DocumentState::Ready | DocumentState::Failed)) {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the documents are not read");
    }

    /// Returns the file names of what is found.
    async fn found(&self, user: &Viewer, library: &str, query: &str) -> Result<Vec<String>, UserError> {
        let request = SearchRequest {
            libraries: vec![library.to_owned()],
            query: query.to_owned(),
            limit: 10,
            mode: SearchMode::Hybrid,
            filter: Filter::default(),
        };
        let outcome = self.knowledge.search(user, request, &contract::ModelUse::default()).await?;
        Ok(outcome.found.into_iter().map(|found| found.chunk.file_name).collect())
    }

    /// Waits until all of a library is searched by a model; returns the length of its vectors. A library that
    /// had all vectors may get a document without them.
    async fn served(&self, library: &str, key: &str) -> i64 {
        let store = self.knowledge.store();
        for _ in 0..3_000 {
            let row = store::library(store, library).await.unwrap().unwrap();
            let progress = store::embedding_progress(store, library, key).await.unwrap();
            match row.embedding {
                Some((served, dimensions)) if served == key && progress.embedded == progress.chunks => {
                    return dimensions;
                }
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
        panic!("the vectors are not computed");
    }

    async fn rows(&self, table: &'static str) -> i64 {
        let count: std::sync::Arc<str> = format!("SELECT count(*) FROM {table}").into();
        let count = ::store::sql::query_scalar(count);
        let read = self.knowledge.store().read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) }));
        read.await.unwrap()
    }

    async fn close(self) {
        self.workers.shutdown(Duration::from_secs(1)).await;
        self.knowledge.store().close().await;
    }
}

async fn manage(server: &Server, library: &str) -> bool {
    server.knowledge.library(&viewer("ada"), library, Access::Manage).await.is_ok()
}
