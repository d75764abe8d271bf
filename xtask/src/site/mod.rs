//! The folder of a site: everything that the browser loads. What has not changed is not written again.

mod bindings;
mod bundle;
mod compress;
mod figures;
mod files;
mod scripts;
mod split;
mod styles;

use crate::build::Profile;
use anyhow::Result;
use files::Files;
use std::path::Path;

/// Makes a site, in a folder below the root, from the browser's half, `style/` and `public/`.
pub(crate) fn make(root: &Path, wasm: &Path, site: &str, profile: Profile) -> Result<()> {
    let site = root.join(site);
    bindings::make(&root.join(wasm), &site.join("pkg"), profile)?;
    let mut files = Files::under(&root.join("public"))?;
    files.change(is_own_script, scripts::lighten)?;
    for (sheet, main) in [("pkg/chatwright.css", "main.css"), ("pkg/documents.css", "documents.css")] {
        files.insert(sheet, styles::concatenate(&root.join("style"), main)?);
    }
    files.write(&site)?;
    match profile {
        // Compressed copies are preferred by the server, so that none may be older than its file.
        Profile::Debug => compress::remove(&site),
        Profile::Release => compress::add(&site),
    }
}

/// Whether it is a script of ours; those of others are made small already, and keep what says whose they are.
fn is_own_script(path: &Path) -> bool {
    let is_others = |folder: &str| path.starts_with(Path::new("assets/lazy").join(folder));
    path.extension().is_some_and(|ending| ending == "js") && !["highlight", "mermaid"].into_iter().any(is_others)
}
