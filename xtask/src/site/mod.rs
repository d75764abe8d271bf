//! Builds a site: the folder with everything that the browser loads. Unchanged files are not
//! rewritten.

mod bindings;
mod bundle;
mod compress;
pub(crate) mod embedded;
mod files;
mod optimize;
mod scripts;
mod sizes;
mod split;
mod styles;

use crate::build::Profile;
use anyhow::Result;
use files::SiteFiles;
use std::path::Path;

/// Builds a site from the compiled WASM, `style/` and `public/`. `wasm` and `site` are relative to
/// `root`.
pub(crate) fn make(root: &Path, wasm: &Path, site: &str, profile: Profile) -> Result<()> {
    let site = root.join(site);
    let style = root.join("style");
    let styled = styles::chunks_with_styles(&style)?;
    bindings::make(root, &root.join(wasm), &site.join("pkg"), profile, &styled)?;
    let mut files = SiteFiles::read_folder(&root.join("public"))?;
    files.transform(is_own_script, scripts::minify)?;
    for (sheet, main) in [("pkg/chatwright.css", "main.css"), ("pkg/documents.css", "documents.css")] {
        files.insert(sheet, styles::concatenate(&style, main)?);
    }
    for chunk in styled {
        files.insert(&format!("pkg/{}", split::sheet(&chunk)), styles::of_chunk(&style, &chunk)?);
    }
    files.write(&site)?;
    match profile {
        // The server prefers compressed copies, so an outdated one must not remain.
        Profile::Debug => compress::remove(&site),
        Profile::Release => compress::add(&site),
    }
}

/// Returns whether a script is part of Chatwright. Third-party scripts are minified already and
/// keep their license comments.
fn is_own_script(path: &Path) -> bool {
    let is_others = |folder: &str| path.starts_with(Path::new("assets/lazy").join(folder));
    path.extension().is_some_and(|ending| ending == "js") && !["highlight", "mermaid"].into_iter().any(is_others)
}
