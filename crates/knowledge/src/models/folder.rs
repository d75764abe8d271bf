//! Vectors by static embeddings in a folder: a vector for each token, whose mean is that of the text.

use super::{Embedded, Embedder, EmbeddingFailure, Purpose, model_key};
use contract::{ModelId, Usage};
use futures::future::BoxFuture;
use model2vec_rs::model::StaticModel;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The number of texts of a batch.
const ROUND: usize = 256;
/// The number of bytes at the beginning and at the end of the vectors by which a model is identified.
const SAMPLE: u64 = 1 << 20;

/// A model whose files are in a folder. They are read when it is first used.
pub(super) struct FolderEmbedder {
    key: String,
    folder: PathBuf,
    model: OnceCell<Arc<StaticModel>>,
}

impl FolderEmbedder {
    /// # Errors
    /// A message for the operator.
    pub(super) fn new(folder: PathBuf) -> Result<Self, String> {
        let sample = sample(&folder).map_err(|error| format!("the model cannot be read: {error}"))?;
        let name = folder.file_name().map_or_else(|| "static".into(), |name| name.to_string_lossy());
        Ok(Self { key: model_key(&name, &[&sample]), folder, model: OnceCell::new() })
    }

    async fn model(&self) -> Result<Arc<StaticModel>, EmbeddingFailure> {
        let load = || async {
            let folder = self.folder.clone();
            let loaded = tokio::task::spawn_blocking(move || load(&folder)).await;
            loaded.map_err(|_| EmbeddingFailure::Model("reading it failed".to_owned()))?
        };
        self.model.get_or_try_init(load).await.cloned()
    }
}

/// Reads a model. A damaged file may make the library panic, which ends this thread only.
fn load(folder: &Path) -> Result<Arc<StaticModel>, EmbeddingFailure> {
    let model = StaticModel::from_pretrained(folder, None, None, None);
    Ok(Arc::new(model.map_err(|error| EmbeddingFailure::Model(format!("{error:#}")))?))
}

/// Returns what tells the model from others: the sizes of its files, and the ends of the vectors. It is the
/// same on every server that has the same files.
fn sample(folder: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = File::open(folder.join("model.safetensors"))?;
    let bytes = file.metadata()?.len();
    hash.update(bytes.to_le_bytes());
    let mut part = Vec::new();
    Read::by_ref(&mut file).take(SAMPLE).read_to_end(&mut part)?;
    file.seek(SeekFrom::Start(bytes.saturating_sub(SAMPLE)))?;
    file.take(SAMPLE).read_to_end(&mut part)?;
    hash.update(&part);
    hash.update(std::fs::metadata(folder.join("tokenizer.json"))?.len().to_le_bytes());
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

impl Embedder for FolderEmbedder {
    fn key(&self) -> &str {
        &self.key
    }

    fn round(&self) -> usize {
        ROUND
    }

    fn bill(&self) -> Option<(ModelId, bool)> {
        None
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: Purpose) -> BoxFuture<'a, Result<Embedded, EmbeddingFailure>> {
        Box::pin(async move {
            let (model, texts) = (self.model().await?, texts.to_vec());
            let computed =
                tokio::task::spawn_blocking(move || texts.iter().map(|text| model.encode_single(text)).collect()).await;
            let vectors = computed.map_err(|_| EmbeddingFailure::Model("it cannot compute these texts".to_owned()))?;
            Ok(Embedded { vectors, usage: Usage::default(), cost_usd: None })
        })
    }
}
