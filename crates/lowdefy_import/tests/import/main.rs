//! Tests of what apps are converted to, as data: a small app, the config with the notes.

mod agents;
mod chats;
mod pages;
mod references;
mod refusals;
mod routines;

use config::{Language, load_embedded, render};
use lowdefy_import::{Import, import_embedded};
use std::collections::HashMap;

/// Converts an app, checks that the result is a valid config, and renders it with the notes.
fn check(files: &[(&str, &str)]) -> String {
    match import_embedded(files, &Language::default()) {
        Ok(import) => rendered(&import),
        Err(problems) => render(&problems),
    }
}

fn rendered(import: &Import) -> String {
    let env: HashMap<String, String> = import.secrets.iter().cloned().collect();
    let config: Vec<(&str, &str)> = import.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let problems = match load_embedded(&config, &env) {
        Ok((_, warnings)) => warnings,
        Err(problems) => panic!("{}\n{}", render(&problems), texts(import)),
    };
    let parts = [texts(import), render(&import.notes), render(&problems), import.summary.to_string()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the texts of all files, without the comment at the top of the main file.
fn texts(import: &Import) -> String {
    let mut text = String::new();
    for file in &import.files {
        if file.path != "chatwright.yaml" {
            text.push_str(&format!("--- {}\n", file.path));
        }
        let lines: Vec<&str> = file.text.lines().collect();
        let skipped =
            lines.iter().take_while(|line| line.starts_with("# Imported") || line.starts_with("# Left")).count();
        lines[skipped..].iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}

/// Converts an app of one file.
fn check_one(text: &str) -> String {
    check(&[("lowdefy.yaml", text)])
}

/// Converts an app of one file, and renders only these sections of the config with the notes: those
/// that a test is about.
fn check_sections(sections: &[&str], text: &str) -> String {
    let rendered = check_one(text);
    let (files, notes) = rendered.split_once("\nlowdefy.yaml:").unwrap();
    let (main, _) = files.split_once("--- ").unwrap_or((files, ""));
    let mut is_wanted = false;
    let wanted = main.lines().filter(|line| {
        if let (Some((section, "")), false) = (line.split_once(':'), line.starts_with(' ')) {
            is_wanted = sections.contains(&section);
        }
        is_wanted
    });
    let wanted: Vec<&str> = wanted.collect();
    format!("{}\n\nlowdefy.yaml:{notes}", wanted.join("\n").trim_end())
}
