//! Builds of the server with a deliberate defect that a scenario must find: a check that never fails
//! proves nothing.
//!
//! Each defect is a patch in `torture/defects`, so that the product contains nothing of it. A build
//! compiles a copy of the sources with one patch applied; the sources themselves are not touched.

mod source_copy;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result, bail, ensure};
use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use source_copy::SourceCopy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// The folder with the patches, below the repository's root.
const FOLDER: &str = "torture/defects";

/// The key before the name of the scenario in the header of a patch.
const FOUND_BY: &str = "Found by: ";

/// A deliberate defect: a patch with a header that describes it and names a scenario.
pub(crate) struct Defect {
    /// The name of the patch file, without its extension.
    pub(crate) name: String,
    /// The name of the scenario that must find it.
    pub(crate) scenario: String,
    patch: String,
}

impl Defect {
    fn parse(name: &str, text: &str) -> Result<Self> {
        let (header, patch) = text.split_once("\n\n--- ").context("there is no patch after the header")?;
        let (about, scenario) = header.split_once(FOUND_BY).context("the header names no scenario")?;
        ensure!(!about.trim().is_empty(), "the header does not describe the defect");
        Ok(Self { name: name.to_owned(), scenario: scenario.trim().to_owned(), patch: format!("--- {patch}") })
    }

    /// Applies the patch to the sources in memory and returns the changed files, by their paths
    /// below the root. Line numbers may differ, lines of context may not.
    pub(crate) fn patched_files(&self, root: &Path) -> Result<BTreeMap<PathBuf, String>> {
        let changes: Vec<_> = PatchSet::parse(&self.patch, ParseOptions::unidiff()).collect::<Result<_, _>>()?;
        ensure!(!changes.is_empty(), "the patch is empty");
        let patched = changes.into_iter().map(|change| {
            let operation = change.operation().strip_prefix(1);
            let FileOperation::Modify { original, modified } = operation else {
                bail!("only changes of files are supported")
            };
            ensure!(original == modified, "renaming a file is not supported");
            let patch = change.patch().as_text().context("the patch is binary")?;
            let source = std::fs::read_to_string(root.join(&*original));
            let source =
                source.with_context(|| format!("{original} cannot be read; if it was moved, change its path"))?;
            let patched = diffy::apply(&source, patch);
            let patched = patched.with_context(|| format!("{original} has changed; adapt the patch to it"))?;
            Ok((PathBuf::from(&*modified), patched))
        });
        patched.collect()
    }
}

/// Reads all defects, sorted by name.
pub(crate) fn load_all(root: &Path) -> Result<Vec<Defect>> {
    let mut defects = Vec::new();
    for entry in std::fs::read_dir(root.join(FOLDER)).with_context(|| format!("{FOLDER} cannot be read"))? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".patch")) else { continue };
        let defect = Defect::parse(name, &std::fs::read_to_string(&path)?);
        defects.push(defect.with_context(|| format!("{FOLDER}/{name}.patch is invalid"))?);
    }
    defects.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(defects)
}

/// Returns the defects with these names.
pub(crate) fn select(defects: Vec<Defect>, names: &[String]) -> Result<Vec<Defect>> {
    let unknown = names.iter().find(|name| !defects.iter().any(|defect| defect.name == **name));
    if let Some(unknown) = unknown {
        let known: Vec<_> = defects.iter().map(|defect| defect.name.as_str()).collect();
        bail!("unknown defect {unknown}; available defects: {}", known.join(", "));
    }
    Ok(defects.into_iter().filter(|defect| names.contains(&defect.name)).collect())
}

/// Builds the server with a defect, without optimizations, and returns the path of the binary.
///
/// The target directory is one of its own. In that of the sources, cargo would not tell a crate that
/// was compiled from the copy from the real one, since paths in a workspace are relative to it, and
/// the next build of the product could contain the defect.
pub(crate) async fn build(root: &Path, defect: &Defect) -> Result<PathBuf> {
    let patched = defect.patched_files(root);
    let patched = patched.with_context(|| format!("{FOLDER}/{}.patch does not apply", defect.name))?;
    let folder = root.canonicalize()?.join("target/torture/defects");
    let (copy, target) = (SourceCopy::new(folder.join("source")), folder.join("target"));
    copy.update(root, &patched)?;
    println!("building the server with the defect {}", defect.name);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--package", "server", "--features", "faults,full", "--target-dir"]).arg(&target);
    // The output is shown only if it fails: it warns of code that the patch leaves unused.
    let done = cargo.current_dir(copy.folder()).output().await?;
    let output = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "the server cannot be built with the defect {}:\n{output}", defect.name);
    Ok(target.join("debug/chatwright"))
}
