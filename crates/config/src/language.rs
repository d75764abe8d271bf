//! The language of a config: what this crate knows and what capabilities and programs add.

use crate::connection_type::ConnectionType;
use crate::env::Env;
use crate::outline::Outline;
use crate::section_type::SectionType;
use crate::shape::Shape;
use crate::vocabulary::{Vocabulary, built_in_block};
use crate::{Config, MAIN_FILE, reference, section, shape};
use config_source::{ConfigFiles, ConfigSource, Diagnostic, Node, Overlay, Report, ShownText};
use operators::Operators;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::page::AddedBlock;

/// The result of loading a config: the config with warnings, or all diagnostics.
pub type LoadResult = Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>>;

/// The number of diagnostics about a tree that are kept.
const KEPT_OF_TREE: usize = 5_000;

/// An attempt to load a config: the result, and which files were read, so that the caller can watch
/// them.
#[derive(Debug)]
pub struct LoadAttempt {
    /// The config, or what is wrong with it.
    pub outcome: LoadResult,
    /// Every file that was requested, also files that do not exist.
    pub files: Vec<PathBuf>,
    /// A hash of all files. It is equal for equal texts on every machine that runs this version. It
    /// is not cryptographic.
    pub fingerprint: u64,
    /// The config's entries and sections, also if the config has errors. Empty if it cannot be
    /// parsed.
    pub outline: Outline,
}

/// The sections, connections and names that a config may contain.
#[derive(Clone, Debug)]
pub struct Language {
    pub(crate) sections: Vec<SectionType>,
    pub(crate) connections: Vec<ConnectionType>,
    /// The names that a config may use.
    pub(crate) vocabulary: Vocabulary,
}

impl Language {
    /// The language with the sections and the types of connections that capabilities bring.
    pub fn new(sections: &[SectionType], connections: &[ConnectionType]) -> Self {
        let schema = shape::schema_with(sections, connections);
        let added_connections = connections.iter().map(|added| (added.name, added.has_models)).collect();
        let vocabulary =
            Vocabulary { added_connections, operators: None, blocks: Vec::new(), is_signing_key: None, schema };
        Self { sections: sections.to_owned(), connections: connections.to_owned(), vocabulary }
    }

    /// Adds the operators of a program.
    #[must_use]
    pub fn with_operators(mut self, operators: Arc<Operators>) -> Self {
        shape::add_operators(&mut self.vocabulary.schema, &operators);
        self.vocabulary.operators = Some(operators);
        self
    }

    /// Adds the types of blocks of a program.
    ///
    /// # Errors
    /// There is a type of block with the same name.
    pub fn with_blocks(mut self, blocks: &[AddedBlock]) -> Result<Self, String> {
        for (index, AddedBlock { name, .. }) in blocks.iter().enumerate() {
            let is_known = built_in_block(name).is_some();
            if is_known || blocks.iter().take(index).any(|other| other.name == *name) {
                return Err(format!("the block type `{name}` cannot be added: there is one with this name already"));
            }
        }
        shape::add_blocks(&mut self.vocabulary.schema, blocks);
        self.vocabulary.blocks = blocks.to_owned();
        Ok(self)
    }

    /// Adds the check of private keys: whether the program can sign with a key. Without it only the form of keys is
    /// checked, since this crate has no cryptography.
    #[must_use]
    pub fn with_key_check(mut self, is_signing_key: fn(&SecretString) -> bool) -> Self {
        self.vocabulary.is_signing_key = Some(is_signing_key);
        self
    }

    /// Reads a config file, or [`MAIN_FILE`] in a folder. Environment variables are read from
    /// `env`.
    pub fn read_path(&self, path: &Path, env: &dyn Env) -> LoadAttempt {
        let (folder, main) = match (path.is_dir(), path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (false, Some(folder), Some(name)) => (folder, name),
            _ => (path, MAIN_FILE),
        };
        self.read(&ConfigFiles::Folder(folder.to_owned()), main, env)
    }

    /// Reads a config from pairs of a file name and a text. The first pair is the main file.
    pub fn read_embedded(&self, files: &[(&str, &str)], env: &dyn Env) -> LoadAttempt {
        let main = files.first().map_or(MAIN_FILE, |(name, _)| *name);
        self.read(&ConfigFiles::Embedded(files), main, env)
    }

    /// Reads a config of one file, [`MAIN_FILE`], that names no environment variables.
    pub fn read_text(&self, text: &str) -> LoadResult {
        self.read_embedded(&[(MAIN_FILE, text)], &HashMap::<String, String>::new()).outcome
    }

    /// Returns what is wrong with a config that a program has made, in place of a text. The
    /// diagnostics have the positions of the nodes, which need not be those of a text, and no
    /// excerpts. Paths of files are looked up in `folder`.
    pub fn check_tree(&self, root: &Node, folder: &Path, env: &dyn Env) -> Vec<Diagnostic> {
        let mut report = Report::keeping(KEPT_OF_TREE);
        section::read(root, self, Some(folder), &mut report, env);
        report.into_diagnostics()
    }

    /// Reads a config again from its texts, with changes.
    pub fn read_with_overlay(&self, source: &ConfigSource, overlay: &Overlay<'_>, env: &dyn Env) -> LoadAttempt {
        let (files, mut report) = (ConfigFiles::Captured(source), Report::default());
        let root = config_source::load_with_overlay(&files, source.main(), overlay, &mut report);
        self.finish(root, &files, report, env)
    }

    /// Returns the texts of a config, and those of changes at the end, for people: secrets that are written in them
    /// are hidden.
    pub fn shown_texts(&self, source: &ConfigSource, overlay: Option<&Overlay<'_>>) -> Vec<ShownText> {
        let (files, mut report) = (ConfigFiles::Captured(source), Report::default());
        let root = match overlay {
            Some(overlay) => config_source::load_with_overlay(&files, source.main(), overlay, &mut report),
            None => config_source::load(&files, source.main(), &mut report),
        };
        let secrets = root.as_ref().map(|root| shape::written_secrets(root, Shape::root(&self.vocabulary.schema)));
        report.shown_texts(&secrets.unwrap_or_default())
    }

    fn read(&self, files: &ConfigFiles<'_>, main: &str, env: &dyn Env) -> LoadAttempt {
        let mut report = Report::default();
        let root = config_source::load(files, main, &mut report);
        self.finish(root, files, report, env)
    }

    /// Checks what was read.
    fn finish(&self, root: Option<Node>, files: &ConfigFiles<'_>, mut report: Report, env: &dyn Env) -> LoadAttempt {
        let outline = root.as_ref().map(Outline::from_tree).unwrap_or_default();
        let config = root.map(|root| section::read(&root, self, files.folder(), &mut report, env));
        let source = report.source(files.folder().map(Path::to_owned));
        let (asked, fingerprint) = (report.requested_files().to_vec(), report.fingerprint());
        let outcome = match config {
            Some(config) if !report.has_errors() => {
                Ok((Config { source: Arc::new(source), ..config }, report.into_diagnostics()))
            }
            _ => Err(report.into_diagnostics()),
        };
        LoadAttempt { outcome, files: asked, fingerprint, outline }
    }

    /// Returns the JSON Schema of a config with descriptions and defaults, for editors.
    pub fn schema(&self) -> Value {
        shape::published(&self.vocabulary.schema)
    }

    /// Returns the reference of the config in Markdown: every key with its type, default and
    /// meaning.
    pub fn reference(&self) -> String {
        reference::markdown(&self.schema())
    }
}

/// The language without capabilities.
impl Default for Language {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}
