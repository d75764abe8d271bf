//! `chatwright init`: writes a config to start from.

use super::fail;
use crate::capabilities::config_language;
use std::fs::{self, File};
use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The config that is written; a test of the examples loads it.
const STARTER: &str = include_str!("../../../examples/starter/chatwright.yaml");

/// The arguments of `chatwright init`.
#[derive(clap::Args)]
pub(super) struct InitArguments {
    /// The folder for the config. It is created; existing files are never overwritten.
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
}

/// Writes the config and its JSON Schema, and prints the next commands.
pub(super) fn run(arguments: &InitArguments) -> ExitCode {
    let folder = &arguments.folder;
    let schema = format!("{:#}\n", config_language().schema());
    let files = [("chatwright.yaml", STARTER), ("chatwright.schema.json", schema.as_str())];
    let paths = files.map(|(name, _)| folder.join(name));
    // A broken symbolic link counts as well: it would be an error only after the first file is written.
    if let Some(existing) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        return fail(&format!("{} exists already; nothing was written", existing.display()));
    }
    if let Err(error) = fs::create_dir_all(folder) {
        return fail(&format!("{} cannot be created: {error}", folder.display()));
    }
    for (path, (_, text)) in paths.iter().zip(files) {
        if let Err(error) = write_new(path, text) {
            return fail(&format!("{} cannot be written: {error}", path.display()));
        }
    }
    let [config, schema] = paths.map(|path| path.display().to_string());
    let argument = shell_word(&folder.display().to_string());
    // The reader of a pipe may have closed it early, which is no error.
    let _ = writeln!(
        stdout(),
        "wrote {config} and {schema}, which editors use to complete and check it\n\nnext:\n  chatwright check --config {argument}\n  \
         chatwright serve --config {argument}\nThen open http://127.0.0.1:3000. The demo model answers until the config names another one."
    );
    ExitCode::SUCCESS
}

/// Writes a file that must not exist.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    File::create_new(path)?.write_all(text.as_bytes())
}

/// Quotes a word for a POSIX shell, if it needs that.
fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let check = |word: &str, expected: &str| assert_eq!(shell_word(word), expected);
        check(".", ".");
        check("/srv/chat_1.d", "/srv/chat_1.d");
        check("my chat", "'my chat'");
        check("it's $HOME", r"'it'\''s $HOME'");
        check("", "''");
    }
}
