//! The keys of the config: `libraries` and `knowledge` of the root, and those of an agent.

mod agent;
mod graph;
mod page_reader;

pub(crate) use agent::{AgentKnowledge, AnswerOnlyFromKnowledge, KnowledgeOptions, LibraryChoice};
pub(crate) use graph::{EntityType, GraphSettings, RelationType};
pub(crate) use page_reader::PageReader;

use crate::models::{Embeddings, HAS_FOLDERS, Rerank};
use config::{Config, Paid, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{Id, Text};
use std::collections::HashSet;

/// The name that a library cannot have as its id, since another route has it in its path.
const ROLES: &str = "roles";

/// Libraries of documents that the config declares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct Libraries(pub(crate) Vec<DeclaredLibrary>);

impl Libraries {
    /// Returns the library with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&DeclaredLibrary> {
        self.0.iter().find(|library| library.id.0 == id)
    }
}

/// A library whose documents are the files of a folder, or stand in the config.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeclaredLibrary {
    /// The id, which the API and agents use.
    pub(crate) id: Id,
    /// The title that people see. Default: the id.
    #[serde(default)]
    pub(crate) title: Option<Text>,
    /// The description of the library.
    #[serde(default)]
    pub(crate) description: Option<Text>,
    /// The folder, relative to that of the config's main file. Its files and those in folders below it
    /// are the documents; names that begin with a dot are left out. Changes are noticed within seconds.
    #[serde(default)]
    pub(crate) folder: Option<Text>,
    /// The documents, for a small library without a folder.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub(crate) documents: Vec<DeclaredDocument>,
    /// The roles of the users who may read it. Default: all signed-in users, and whoever may use an agent
    /// that names the library.
    #[serde(default)]
    pub(crate) readers: Vec<Text>,
    /// The extraction from its documents: entities, such as people, and relations between them. Agents with
    /// `knowledge: { graph: true }` can query them. Default: no extraction.
    #[serde(default)]
    pub(crate) graph: Option<GraphSettings>,
}

/// A document that stands in the config.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct DeclaredDocument {
    /// The name of the file, whose ending says the format: text, Markdown, CSV, JSON.
    pub(crate) name: Text,
    /// The text. `_ref` reads it from a file.
    pub(crate) text: Text,
}

impl DeclaredLibrary {
    /// Returns the title.
    pub(crate) fn title(&self) -> &str {
        self.title.as_ref().map_or(&self.id.0, |title| &title.0)
    }

    /// Returns whether a signed-in user with these roles may read it.
    pub(crate) fn may_be_read_with(&self, roles: &[String]) -> bool {
        let is_reader = |role: &String| role == ::store::ADMIN || self.readers.iter().any(|reader| reader.0 == *role);
        self.readers.is_empty() || roles.iter().any(is_reader)
    }
}

impl Section for Libraries {
    const KEY: &'static str = "libraries";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut ids = HashSet::new();
        for (index, library) in self.0.iter().enumerate() {
            if !ids.insert(&library.id.0) {
                let at = [PathStep::Index(index), PathStep::Key("id")];
                problems.error(&at, format!("there are two libraries with the id `{}`", library.id.0), None);
            }
            if library.id.0 == ROLES {
                let at = [PathStep::Index(index), PathStep::Key("id")];
                let help = Some(format!("`/api/libraries/{ROLES}` is the list of roles"));
                problems.error(&at, format!("a library cannot have the id `{ROLES}`"), help);
            }
            if library.folder.is_some() != library.documents.is_empty() {
                let message = format!("the library `{}` needs either `folder` or `documents`", library.id.0);
                problems.error(&[PathStep::Index(index)], message, None);
            }
            if let Some(graph) = &library.graph {
                graph.check(&[PathStep::Index(index), PathStep::Key("graph")], problems);
            }
            let mut names = HashSet::new();
            for (number, document) in library.documents.iter().enumerate() {
                if !names.insert(&document.name.0) {
                    let at = [PathStep::Index(index), PathStep::Key("documents"), PathStep::Index(number)];
                    problems.error(&at, format!("there are two documents with the name `{}`", document.name.0), None);
                }
            }
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, library) in self.0.iter().enumerate() {
            if let Some(graph) = &library.graph {
                graph.check_model(&[PathStep::Index(index), PathStep::Key("graph")], config, problems);
            }
            let at = [PathStep::Index(index), PathStep::Key("folder")];
            let Some(Text(folder)) = &library.folder else { continue };
            match &config.folder {
                Some(base) if !base.join(folder).is_dir() => {
                    problems.warning(&at, format!("there is no folder `{folder}`"), None);
                }
                None if !std::path::Path::new(folder).is_absolute() => {
                    let message = "this config is in no folder, so `folder` must be absolute";
                    problems.error(&at, message, None);
                }
                _ => {}
            }
        }
    }

    fn roles(&self) -> Vec<&str> {
        self.0.iter().flat_map(|library| &library.readers).map(|role| role.0.as_str()).collect()
    }
}

/// Limits and search of all libraries.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KnowledgeSettings {
    /// The most libraries of a user.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) user_libraries: u32,
    /// The most documents of a library.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) library_documents: u32,
    /// The most chunks of a library. A document of 10 pages has about 20.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) library_chunks: u32,
    /// The most bytes of all files of a library.
    #[schemars(range(min = 1))]
    pub(crate) library_bytes: u64,
    /// The most bytes of all files of the libraries that a user has created.
    #[schemars(range(min = 1))]
    pub(crate) user_bytes: u64,
    /// The most bytes of a file.
    #[schemars(range(min = 1, max = 67_108_864))]
    pub(crate) document_bytes: u64,
    /// About how many bytes of memory the indexes of libraries may take. Those that were not searched for
    /// the longest time are dropped, and read again when they are needed.
    #[schemars(range(min = 16_777_216))]
    pub(crate) memory_bytes: u64,
    /// The model for searches by meaning: it computes the vectors of chunks and questions. Without it,
    /// vectors are computed from each library itself.
    pub(crate) embedding: Option<EmbeddingSource>,
    /// The previous value of `embedding`. Libraries are searched by its vectors until they have all of the
    /// new ones. Only a server that is restarted with another `embedding` needs it.
    pub(crate) previous_embedding: Option<EmbeddingSource>,
    /// Orders the best results anew by a model that reads the question and the passages.
    pub(crate) reranking: Option<Reranking>,
    /// How much vectors count in a search beside words, which count 1. Default: 1; vectors that are computed
    /// from a library of short texts count less.
    #[schemars(range(min = 0, max = 10))]
    pub(crate) semantic_weight: Option<f32>,
    /// The extraction from the documents of those libraries of users whose owners have switched it on.
    /// Default: none, and no owner can switch it on.
    pub(crate) user_graph: Option<GraphSettings>,
    /// A model that reads pages that are pictures, of scanned PDF and of files that are images, in all libraries.
    /// Its requests are paid for. Default: such pages have no text.
    pub(crate) page_reader: Option<PageReader>,
    /// For how many days questions that were asked of libraries are kept, for those who may change the documents.
    /// `0` keeps none.
    #[schemars(range(min = 0, max = 3_650))]
    pub(crate) question_days: u32,
}

/// A source of vectors: either a service or a folder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmbeddingSource {
    /// A connection of the type `Embeddings`.
    #[serde(default)]
    pub(crate) connection_id: Option<String>,
    /// A folder with static embeddings (Model2Vec), relative to that of the config's main file. It has
    /// `model.safetensors`, `tokenizer.json` and `config.json`.
    #[serde(default)]
    pub(crate) folder: Option<Text>,
}

/// Orders results anew.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reranking {
    /// A connection of the type `Rerank`.
    pub(crate) connection_id: String,
    /// How many of the best results are ordered, at least as many as are asked for.
    #[serde(default = "default_candidates")]
    #[schemars(range(min = 2, max = 100))]
    pub(crate) candidates: u32,
}

fn default_candidates() -> u32 {
    50
}

impl Default for KnowledgeSettings {
    fn default() -> Self {
        Self {
            user_libraries: 100,
            library_documents: 20_000,
            library_chunks: 200_000,
            library_bytes: 10 << 30,
            user_bytes: 2 << 30,
            document_bytes: 64 << 20,
            memory_bytes: 512 << 20,
            embedding: None,
            previous_embedding: None,
            reranking: None,
            semantic_weight: None,
            user_graph: None,
            page_reader: None,
            question_days: 30,
        }
    }
}

impl Section for KnowledgeSettings {
    const KEY: &'static str = "knowledge";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if let Some(graph) = &self.user_graph {
            graph.check(&[PathStep::Key("userGraph")], problems);
        }
        for (key, source) in self.sources() {
            match source {
                EmbeddingSource { connection_id: Some(id), folder: None } => {
                    problems.check_connection::<Embeddings>(&[PathStep::Key(key), PathStep::Key("connectionId")], id);
                }
                EmbeddingSource { connection_id: None, folder: Some(_) } if !HAS_FOLDERS => {
                    let help = Some("build it with the feature `static-embeddings` or `full`".to_owned());
                    let at = [PathStep::Key(key), PathStep::Key("folder")];
                    problems.error(&at, "this program cannot read static embeddings", help);
                }
                EmbeddingSource { connection_id: None, folder: Some(_) } => {}
                _ => {
                    let help = Some("a connection of the type Embeddings, or a folder with a model".to_owned());
                    problems.error(&[PathStep::Key(key)], "set either `connectionId` or `folder`", help);
                }
            }
        }
        if let Some(reranking) = &self.reranking {
            let at = [PathStep::Key("reranking"), PathStep::Key("connectionId")];
            problems.check_connection::<Rerank>(&at, &reranking.connection_id);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if let Some(graph) = &self.user_graph {
            graph.check_model(&[PathStep::Key("userGraph")], config, problems);
        }
        if let Some(reader) = &self.page_reader {
            reader.check_model(&[PathStep::Key("pageReader")], config, problems);
        }
        for (key, source) in self.sources() {
            let Some(folder) = source.folder.as_ref().filter(|_| HAS_FOLDERS) else { continue };
            let base = config.folder.clone().unwrap_or_default();
            for file in ["model.safetensors", "tokenizer.json", "config.json"] {
                if !base.join(&folder.0).join(file).is_file() {
                    let at = [PathStep::Key(key), PathStep::Key("folder")];
                    problems.warning(&at, format!("there is no file `{}/{file}`", folder.0), None);
                }
            }
        }
    }
}

impl KnowledgeSettings {
    /// Returns the connections of searches whose price is not known.
    fn unpriced(&self, config: &Config) -> Vec<Paid> {
        let connection = |id: &String| config.connections.get(id);
        let embeddings = self.sources().filter_map(|(_, source)| {
            let id = source.connection_id.as_ref()?;
            let embeddings = connection(id)?.properties::<Embeddings>()?;
            let property = "costUsdPerMillionTokens";
            let unpriced = || Paid::UnpricedConnection { id: id.clone(), property };
            embeddings.cost_usd_per_million_tokens.is_none().then(unpriced)
        });
        let reranking = self.reranking.as_ref().and_then(|Reranking { connection_id: id, .. }| {
            let rerank = connection(id)?.properties::<Rerank>()?;
            let unpriced = || Paid::UnpricedConnection { id: id.clone(), property: "costUsd" };
            rerank.cost_usd.is_none().then(unpriced)
        });
        embeddings.chain(reranking).collect()
    }

    /// Returns what computes vectors, by the keys.
    fn sources(&self) -> impl Iterator<Item = (&'static str, &EmbeddingSource)> {
        let all = [("embedding", &self.embedding), ("previousEmbedding", &self.previous_embedding)];
        all.into_iter().filter_map(|(key, source)| Some((key, source.as_ref()?)))
    }
}
