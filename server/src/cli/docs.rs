//! `chatwright docs`: writes the documentation as a static site.

use crate::Site;
use crate::cli::{fail, report};
use crate::routes::site;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(super) struct DocsArguments {
    /// The folder for the pages. It is created; files with the same names are replaced.
    folder: PathBuf,
}

/// Writes the documentation of this version into a folder.
pub(super) fn run(arguments: &DocsArguments, site: Site) -> ExitCode {
    let [Some(base), Some(documents)] = manual::STYLES.map(|path| site::content(site, path)) else {
        return fail(
            "this program has no built site, whose style sheets the pages need: build it with `cargo xtask site`",
        );
    };
    let written = manual::write_site(&arguments.folder, [&base, &documents]);
    report(written.map(|pages| format!("{pages} pages in {}: open index.html", arguments.folder.display())))
}
