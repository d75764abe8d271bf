use crate::with_basics;
use insta::assert_snapshot;
use std::collections::HashMap;
use std::path::Path;

/// Returns a config with an agent that has this `fileSystem` and these further properties.
fn agent(file_system: &str, properties: &str) -> String {
    with_basics(&format!(
        "agents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties:\n      model: m\n      fileSystem: {file_system}\n      {properties}\n"
    ))
}

/// Returns the diagnostics for a config in the folder `app`, beside the folders `app/docs` and
/// `other` and the file `app/note.txt`. Their parent folder is shown as `TOP`.
fn check(file_system: &str, properties: &str) -> String {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().canonicalize().unwrap();
    let (app, shown) = (folder.join("app"), folder.display().to_string());
    std::fs::create_dir_all(app.join("docs")).unwrap();
    std::fs::create_dir(folder.join("other")).unwrap();
    std::fs::write(app.join("note.txt"), "x").unwrap();
    let text = agent(&file_system.replace("TOP", &shown), properties);
    std::fs::write(app.join("chatwright.yaml"), text).unwrap();
    said(&app).replace(&shown, "TOP")
}

fn said(path: &Path) -> String {
    let (result, diagnostics) = match config::load_path(path, &HashMap::new()) {
        Ok((config, warnings)) => {
            let files = config.agents["a"].file_system.clone();
            (format!("accepted: {}", files.unwrap().base_path.display()), warnings)
        }
        Err(diagnostics) => ("refused".to_owned(), diagnostics),
    };
    format!("{result}\n{}", config::render(&diagnostics))
}

#[test]
fn existing_folders_are_accepted() {
    assert_snapshot!(check("{ basePath: docs }", ""), @"accepted: TOP/app/docs");
    assert_snapshot!(check("{ basePath: ./docs/../docs/ }", ""), @"accepted: TOP/app/docs");
    assert_snapshot!(check("{ basePath: ../other }", ""), @"accepted: TOP/other");
    assert_snapshot!(check("{ basePath: TOP/other }", ""), @"accepted: TOP/other");
}

#[test]
fn missing_folders_are_rejected() {
    assert_snapshot!(check("{ basePath: dosc }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: there is no folder `dosc`
       |
     8 |       fileSystem: { basePath: dosc }
       |                               ^^^^
       = help: a relative `basePath` starts at the folder of the config's main file; in a container, mount it there
    ");
    assert_snapshot!(check("{ basePath: /nowhere-at-all }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: there is no folder `/nowhere-at-all`
       |
     8 |       fileSystem: { basePath: /nowhere-at-all }
       |                               ^^^^^^^^^^^^^^^
    ");
    assert_snapshot!(check("{ basePath: note.txt }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: `note.txt` is not a folder
       |
     8 |       fileSystem: { basePath: note.txt }
       |                               ^^^^^^^^
    ");
    assert_snapshot!(crate::check(&agent("{ basePath: docs }", "")), @"
    refused
    chatwright.yaml:8:31: error: this config is in no folder, so `basePath` must be absolute
       |
     8 |       fileSystem: { basePath: docs }
       |                               ^^^^
    ");
}

#[test]
fn root_is_rejected_and_config_folder_causes_a_warning() {
    assert_snapshot!(check("{ basePath: / }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: `/` is everything on this machine
       |
     8 |       fileSystem: { basePath: / }
       |                               ^
       = help: name a folder that holds only what the agent may read
    ");
    assert_snapshot!(check("{ basePath: . }", ""), @"
    accepted: TOP/app
    TOP/app/chatwright.yaml:8:31: warning: the agent can read this config, which is in `.`, too
       |
     8 |       fileSystem: { basePath: . }
       |                               ^
       = help: name a folder that holds only what the agent may read
    ");
}

#[test]
fn invalid_settings_are_rejected() {
    assert_snapshot!(check("{}", ""), @"
    refused
    TOP/app/chatwright.yaml:8:7: error: `basePath` is missing here
       |
     8 |       fileSystem: {}
       |       ^^^^^^^^^^
       = help: `basePath`: The folder, relative to that of the config's main file. Everything in it can be read; nothing outside it can.
    ");
    assert_snapshot!(check("docs", ""), @"
    refused
    TOP/app/chatwright.yaml:8:19: error: expected a mapping, found the text `docs`
       |
     8 |       fileSystem: docs
       |                   ^^^^
       = help: its keys are `basePath`, `readsPrivate` and `returnsUntrusted`
    ");
    assert_snapshot!(check("{ basePath: 7 }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: expected text, found the number 7
       |
     8 |       fileSystem: { basePath: 7 }
       |                               ^
       = help: put it in quotes
    ");
    assert_snapshot!(check("{ basePath: '' }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:31: error: this text is empty
       |
     8 |       fileSystem: { basePath: '' }
       |                               ^^^
    ");
    assert_snapshot!(check("{ basepath: docs }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:21: error: there is no key `basepath` here
       |
     8 |       fileSystem: { basepath: docs }
       |                     ^^^^^^^^
       = help: did you mean `basePath`?
    ");
    assert_snapshot!(check("{ basePath: docs, write: true }", ""), @"
    refused
    TOP/app/chatwright.yaml:8:37: error: there is no key `write` here
       |
     8 |       fileSystem: { basePath: docs, write: true }
       |                                     ^^^^^
       = help: one of `basePath`, `readsPrivate` and `returnsUntrusted`
    ");
}

#[test]
fn file_tools_need_a_file_system() {
    assert_snapshot!(check("{ basePath: docs }", "activeTools: [read-file, list-files, search-files, stat-file]"), @"accepted: TOP/app/docs");
    assert_snapshot!(check("{ basePath: docs }", "activeTools: [read-files]"), @"
    refused
    TOP/app/chatwright.yaml:9:21: error: this agent has no tool `read-files`
       |
     9 |       activeTools: [read-files]
       |                     ^^^^^^^^^^
       = help: did you mean `read-file`?
    ");
    assert_snapshot!(crate::check(&with_basics("agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: m, activeTools: [read-file] } }]")), @"
    refused
    chatwright.yaml:2:90: error: this agent has no tool `read-file`
       |
     2 | agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: m, activeTools: [read-file] } }]
       |                                                                                          ^^^^^^^^^
       = help: the only one is `update-page-state`
    ");
}
