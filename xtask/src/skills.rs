//! `cargo xtask skills`: reads public skills of a folder with clones of their repositories.

use crate::cargo::cargo;
use crate::step::step;
use anyhow::{Result, ensure};
use std::path::Path;
use xshell::Shell;

/// Counts the skills that can be used, and prints why others cannot.
pub(crate) fn run(shell: &Shell, folder: &Path) -> Result<()> {
    ensure!(folder.is_dir(), "{} is no folder", folder.display());
    step("read the skills", || {
        let test = "corpus_tests::most_public_skills_can_be_used";
        let command = cargo(shell).args(["test", "--package", "skills", "--lib", "--", "--ignored", "--exact", test]);
        Ok(command.arg("--nocapture").env("SKILLS_CORPUS", folder).run()?)
    })
}
