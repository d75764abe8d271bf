//! A page about a task: its files, its commands and its texts.

use crate::process::Server;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The address of the server in the pages.
const ORIGIN: &str = "http://127.0.0.1:3000";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Returns the names of all pages about tasks, sorted.
pub(super) fn names() -> Vec<String> {
    let files = fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = files.filter_map(|file| file.strip_suffix(".md").map(str::to_owned));
    let mut names: Vec<_> = pages.filter(|name| name.starts_with("howto-")).collect();
    names.sort();
    names
}

/// Returns the files of a page. Each is a code block below a line that consists of the file's name in backticks and a colon.
fn files(text: &str) -> Vec<(&str, String)> {
    let mut lines = text.lines();
    let mut files = Vec::new();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"));
        if let Some(name) = name
            && lines.next().is_some_and(|fence| fence.starts_with("```"))
        {
            let content = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n"));
            files.push((name, content.collect()));
        }
    }
    files
}

/// A page with its files in a folder.
pub(super) struct HowTo {
    pub(super) name: String,
    text: String,
    folder: TempDir,
}

impl HowTo {
    /// Reads a page, and writes its files to a folder.
    pub(super) fn read(name: &str) -> Self {
        let text = fs::read_to_string(docs().join(format!("{name}.md"))).unwrap();
        let folder = TempDir::new().unwrap();
        for (name, content) in files(&text) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Self { name: name.to_owned(), text, folder }
    }

    /// Returns the number of its lines.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Returns the path of one of its files.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Returns the environment variables that its commands set.
    fn variables(&self) -> Vec<(&str, &str)> {
        self.text.lines().filter_map(|line| line.strip_prefix("export ")?.split_once('=')).collect()
    }

    /// Checks that its config causes neither errors nor warnings.
    pub(super) fn check_config(&self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
        let command = command.args(["check", "--config", "."]).current_dir(self.folder.path()).envs(self.variables());
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8(said).unwrap().trim(), "the config is valid", "{}", self.name);
    }

    /// Starts the server as the page says, with additional arguments.
    pub(super) fn start(&self, arguments: &[&str]) -> Server {
        self.says("chatwright serve --config .");
        Server::start_in(self.folder.path(), &self.variables(), &[&["--config", "."], arguments].concat())
    }

    /// Returns the text; panics if the page does not contain it. Line breaks count as spaces.
    pub(super) fn says<'a>(&self, text: &'a str) -> &'a str {
        let page = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(text), "{} does not say `{text}`", self.name);
        text
    }

    /// Runs the command of the page that contains this text, with the address of the server; returns its output.
    pub(super) fn run(&self, server: &Server, text: &str) -> String {
        let mut commands = self.text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        let command = commands.find(|command| command.contains(text));
        let command = command.unwrap_or_else(|| panic!("{}: no command has `{text}`", self.name));
        let command = command.replace(ORIGIN, &server.origin);
        let output = Command::new("sh").args(["-e", "-c", &command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}
