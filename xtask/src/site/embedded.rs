//! Selects what a release embeds of the site.

use super::files::{for_each, is_compressed_copy, with_ending};
use anyhow::{Context, Result};
use std::fs::File;
use std::path::Path;

/// Copies the site without the files that have compressed copies: the server decompresses them for
/// clients that accept no encoding. This halves what the site adds to the binary.
pub(crate) fn copy(site: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    for_each(site, &mut |file| {
        let has_copy = !is_compressed_copy(file) && with_ending(file, "gz").exists();
        if has_copy {
            return Ok(());
        }
        let copy = to.join(file.strip_prefix(site)?);
        std::fs::create_dir_all(copy.parent().context("the file has no parent folder")?)?;
        std::fs::copy(file, &copy)?;
        // With a new time, cargo would compile the binary again.
        Ok(File::options().write(true).open(&copy)?.set_modified(std::fs::metadata(file)?.modified()?)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn only_compressed_copies_are_embedded() {
        let folder = tempfile::tempdir().unwrap();
        let (site, to) = (folder.path().join("site"), folder.path().join("embedded"));
        for (root, name) in
            [(&site, "pkg/a.js"), (&site, "pkg/a.js.br"), (&site, "pkg/a.js.gz"), (&site, "b.png"), (&to, "old.js")]
        {
            let file = root.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, name).unwrap();
        }
        copy(&site, &to).unwrap();
        let mut found = BTreeSet::new();
        for_each(&to, &mut |file| {
            let name = file.strip_prefix(&to)?.display().to_string();
            assert_eq!(file.metadata()?.modified()?, site.join(&name).metadata()?.modified()?);
            found.insert(name);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, ["b.png", "pkg/a.js.br", "pkg/a.js.gz"].map(str::to_owned).into());
    }
}
