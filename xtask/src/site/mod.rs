//! The folder of a site: everything that the browser loads. What has not changed is not written again.

mod bindings;
mod compress;
mod figures;
mod files;
mod graph;
mod names;
mod order;
mod places;
mod remains;
mod split;
mod styles;
mod types;
mod wasm;

use crate::build::Profile;
use anyhow::Result;
use files::Files;
use std::path::Path;

/// Makes a site, in a folder below the root, from the browser's half, `style/` and `public/`.
pub(crate) fn make(root: &Path, wasm: &Path, site: &str, profile: Profile) -> Result<()> {
    let site = root.join(site);
    bindings::make(&root.join(wasm), &site.join("pkg"), profile)?;
    let mut files = Files::under(&root.join("public"))?;
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
