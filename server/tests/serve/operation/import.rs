//! `chatwright import lowdefy`: whole apps, whose config is checked and whose agents answer.

use crate::http::{chunks, reply_text};
use crate::process::Server;
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn app(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/lowdefy_import/tests/apps").join(name)
}

fn import(app: &Path, output: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    command.args(["import", "lowdefy"]).arg(app).arg("--output").arg(output).args(more);
    command.output().unwrap()
}

/// Returns the output of a command without the names of folders.
fn printed(output: &Output, folders: &[&Path]) -> String {
    let text = [String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout)].concat();
    let text = folders.iter().fold(text, |text, folder| text.replace(&folder.display().to_string(), "…"));
    format!("{}{}", text, output.status)
}

/// Returns the names of all files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Keys that only the providers of the apps know.
const PROVIDER_KEYS: &[&str] = &[
    "apiKey",
    "thinking",
    "thinkingConfig",
    "safetySettings",
    "reasoningEffort",
    "reasoningSummary",
    "order",
    "only",
    "user",
    "tags",
    "zeroDataRetention",
    "providerTimeouts",
];

/// Replaces the providers by the offline model.
fn with_demo_model(folder: &Path) {
    for name in files(folder).iter().filter(|name| name.ends_with(".yaml")) {
        let path = folder.join(name);
        let (mut text, mut left_out) = (String::new(), None);
        for line in fs::read_to_string(&path).unwrap().lines() {
            let indent = line.len() - line.trim_start().len();
            if left_out.is_some_and(|outer| indent > outer) {
                continue;
            }
            let (key, value) = line.trim().split_once(':').unwrap_or((line.trim(), ""));
            left_out = PROVIDER_KEYS.contains(&key).then_some(indent);
            let kind = match value.trim() {
                "Anthropic" | "OpenAI" | "Google" | "AIGateway" => "Demo",
                "ClaudeAgent" | "OpenAIAgent" | "GeminiAgent" | "AIGatewayAgent" => "Agent",
                kind => kind,
            };
            match (key, left_out) {
                (_, Some(_)) => {}
                ("type", None) => text.push_str(&format!("{}type: {kind}\n", " ".repeat(indent))),
                _ => text.push_str(&format!("{line}\n")),
            }
        }
        fs::write(path, text).unwrap();
    }
}

/// Imports an app and checks the config as its user does. Returns what the import printed and the
/// files.
fn imported(name: &str, output: &Path) -> String {
    let result = import(&app(name), output, &[]);
    let variables = fs::read_to_string(output.join(".env.example")).unwrap();
    let names = variables.lines().filter_map(|line| line.strip_suffix('='));
    let mut check = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    check.arg("check").arg("--config").arg(output).envs(names.map(|name| (name, "https://example.com/secret")));
    let check = check.output().unwrap();
    assert!(check.status.success(), "{}", printed(&check, &[]));
    format!("{}\n{}", printed(&result, &[output, &app(name)]), files(output).join("\n"))
}

/// Asks an agent about refunds, which it looks up with its tool.
async fn answer(config: &Path, agent: &str) -> String {
    with_demo_model(config);
    let variables = [("CALENDAR_TOKEN_HEADER", "Bearer x")];
    let server = Server::start_with_env(&variables, &["--config", config.to_str().unwrap()]);
    let response = server.message_to(agent, "c1", "What do you know about refunds?").send().await.unwrap();
    reply_text(&chunks(response).await)
}

#[tokio::test]
async fn app_of_many_files_answers_after_the_import() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("desk");
    assert_snapshot!(imported("desk", &output), @r"
    …/lowdefy.yaml:10:16: warning: changed: what is not listed was public; now it needs a signed-in user
        |
     10 |     protected: [desk_agent, finder]
        |                ^
        = help: write `auth: public` at those that everybody may use

    …/lowdefy.yaml:29:11: warning: changed: the header `Authorization` is read from one variable
        |
     29 |           _string.concat:
        |           ^^^^^^^^^^^^^^
        = help: set `CALENDAR_TOKEN_HEADER` to `Bearer ` and the value of CALENDAR_TOKEN

    …/lowdefy.yaml:58:1: warning: left out: the section `menus`
        |
     58 | menus:
        | ^^^^^
        = help: the first page is the start page; link to others with the action `Link`

    …/api/all.yaml:31:7: warning: left out: `:level`
        |
     31 |       :level: info
        |       ^^^^^^

    …/pages/about.yaml:11:11: warning: left out: the block `map` of the type `GoogleMaps`: there is no block type `GoogleMaps`
        |
     11 |     type: GoogleMaps
        |           ^^^^^^^^^^
        = help: write the page in Leptos, or embed the chat into a page of your own, see docs/embedding.md

    …/pages/desk.yaml:58:25: warning: changed: the rating is `up`, `down` or null, not `like`, `dislike` or `default`
        |
     58 |                 rating: { _event: rating }
        |                         ^
        = help: compare with the new values, also in the endpoints that are told it

    …/pages/desk.yaml:65:21: warning: left out: the action `again` of the type `ScrollTo`: the action type `ScrollTo` is not available in this version
        |
     65 |               type: ScrollTo
        |                     ^^^^^^^^

    …/agents/desk.yaml:1:5: warning: the agent `desk_agent` reads private data (`scripts`, `fileSystem`) and text from outside (`calendar`, `scripts`, `weather.example.com`), which may talk it into sending the data away with `weather.example.com`
       |
     1 | id: desk_agent
       |     ^^^^^^^^^^
       = help: say there `egress: true`, so that the user is asked once it has read both, or `egress: false`

    …/pages/desk.yaml:38:37: warning: nothing on this page writes the state `conversationId`
        |
     38 |           conversationId: { _state: conversationId }
        |                                     ^^^^^^^^^^^^^^
        = help: one of `legal_name`, `company`, `notes` and `rating`

    the config is valid once the variables in .env.example are set
    taken over: 4 connections, 3 agents, 4 endpoints, 2 pages; left out: 4; changed: 3
    wrote 7 files to …
    exit status: 0
    .env.example
    agents/desk.md
    agents/desk.yaml
    api/all.yaml
    chatwright.yaml
    handbook/badges.md
    pages/about.yaml
    pages/desk.yaml
    ");
    assert_snapshot!(fs::read_to_string(output.join("chatwright.yaml")).unwrap(), @r"
    # Imported from a Lowdefy app by `chatwright import lowdefy`.
    # Left out: 4. The import says where and what to do instead.
    connections:
      # lowdefy.yaml, line 12
      - id: anthropic
        type: Anthropic
        properties:
          apiKey: { _secret: ANTHROPIC_API_KEY }

      # lowdefy.yaml, line 17
      - id: gateway
        type: AIGateway
        properties:
          apiKey: { _secret: AI_GATEWAY_API_KEY }

      # lowdefy.yaml, line 22
      - id: calendar
        type: Mcp
        properties:
          transport: http
          url: https://calendar.example.com/mcp
          headers:
            Authorization: { _secret: CALENDAR_TOKEN_HEADER }

      # lowdefy.yaml, line 32
      - id: scripts
        type: Mcp
        properties:
          transport: stdio
          command: node
          args: [tools/server.js]
          env:
            LEVEL: info

    agents:
      - { _ref: agents/desk.yaml }

      # helper.yaml, line 1
      - id: finder
        auth: protected
        type: AIGatewayAgent
        connectionId: gateway
        properties:
          model: openai/gpt-5-mini
          instructions: You find rooms.
          order: [anthropic, vertex]
          only: [anthropic, vertex, openai]
          fallbackModels: [openai/gpt-5-mini]
          user: { _user: id }
          tags: [desk]
          zeroDataRetention: true
          providerTimeouts:
            byok:
              anthropic: 15000

      # helper.yaml, line 1
      - id: writer
        type: AIGatewayAgent
        connectionId: gateway
        properties:
          model: anthropic/claude-sonnet-4.5
          instructions: You write letters.
          order: [anthropic, vertex]
          only: [anthropic, vertex, openai]
          fallbackModels: [openai/gpt-5-mini]
          user: { _user: id }
          tags: [desk]
          zeroDataRetention: true
          providerTimeouts:
            byok:
              anthropic: 15000

    api: { _ref: api/all.yaml }

    pages:
      - { _ref: pages/desk.yaml }
      - { _ref: pages/about.yaml }
    ");
    assert_snapshot!(answer(&output, "desk/desk_agent").await, @r"
    Let me look that up.Refunds take five days.

    Source: the article *Refunds*.
    ");
}

#[tokio::test]
async fn app_of_one_file_answers_after_the_import() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("review");
    assert_snapshot!(imported("review", &output), @r"
    …/lowdefy.yaml:16:5: warning: left out: the connection of the type `MongoDBCollection`
        |
     16 |   - id: archive
        |     ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    …/lowdefy.yaml:85:9: warning: left out: the step `moved` of the type `MongoDBInsertOne`
        |
     85 |       - id: moved
        |         ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    …/lowdefy.yaml:90:33: warning: left out: the step `:return`: no step before this one has the id `moved`
        |
     90 |       - :return: { id: { _step: moved.insertedId } }
        |                                 ^^^^^^^^^^^^^^^^
        = help: a step sees the results of the steps before it

    …/chatwright.yaml:34:7: warning: `frequencyPenalty` has no effect: OpenAI's Responses API does not know it
        |
     34 |       frequencyPenalty: 0.1
        |       ^^^^^^^^^^^^^^^^
        = help: leave it out, or let the agent speak Chat Completions, which knows it: `api: chat`

    …/chatwright.yaml:35:7: warning: `presencePenalty` has no effect: OpenAI's Responses API does not know it
        |
     35 |       presencePenalty: 0.1
        |       ^^^^^^^^^^^^^^^
        = help: leave it out, or let the agent speak Chat Completions, which knows it: `api: chat`

    …/chatwright.yaml:36:7: warning: `seed` has no effect: OpenAI's Responses API does not know it
        |
     36 |       seed: 7
        |       ^^^^
        = help: leave it out, or let the agent speak Chat Completions, which knows it: `api: chat`

    …/chatwright.yaml:37:7: warning: `stopSequences` has no effect: OpenAI's Responses API does not know it
        |
     37 |       stopSequences: [END]
        |       ^^^^^^^^^^^^^
        = help: leave it out, or let the agent speak Chat Completions, which knows it: `api: chat`

    …/chatwright.yaml:130:11: warning: the agent sees and may write every input of this page, and every key that an action sets
         |
     130 |           sharedState: { _state: true }
         |           ^^^^^^^^^^^
         = help: list the keys that it needs, `key: { _state: key }`

    the config is valid once the variables in .env.example are set
    taken over: 3 connections, 2 agents, 3 endpoints, 1 page; left out: 3; changed: 0
    wrote 2 files to …
    exit status: 0
    .env.example
    chatwright.yaml
    ");
    assert_snapshot!(answer(&output, "review/reviewer").await, @r"
    Let me look that up.Reviewed.

    Source: the article *Refunds*.
    ");
}

#[test]
fn existing_files_are_kept_and_unreadable_apps_fail() {
    let folder = TempDir::new().unwrap();
    let (output, empty) = (folder.path().join("out"), folder.path().join("empty"));
    fs::create_dir(&empty).unwrap();
    let folders = [folder.path()];
    assert_snapshot!(printed(&import(&empty, &output, &[]), &folders), @r"
    …/empty/lowdefy.yaml: error: cannot read this file: there is no such file
    chatwright: the app cannot be read; nothing was written
    exit status: 1
    ");
    fs::write(empty.join("lowdefy.yaml"), "pages: [{ id: home, type: Box }]\n").unwrap();
    assert_snapshot!(printed(&import(&empty, &output, &["--dry-run"]), &folders), @r"
    taken over: 1 page; left out: 0; changed: 0
    # --- chatwright.yaml
    # Imported from a Lowdefy app by `chatwright import lowdefy`.
    pages:
      # lowdefy.yaml, line 1
      - id: home

    exit status: 0
    ");
    assert!(!output.exists());
    assert_snapshot!(printed(&import(&empty, &output, &[]), &folders), @r"
    the config is valid
    taken over: 1 page; left out: 0; changed: 0
    wrote 1 file to …/out
    exit status: 0
    ");
    assert_snapshot!(printed(&import(&empty, &output, &[]), &folders), @r"
    chatwright: …/out/chatwright.yaml exists already; `--force` overwrites it
    exit status: 1
    ");
    assert_snapshot!(printed(&import(&empty, &output, &["--force"]), &folders), @r"
    the config is valid
    taken over: 1 page; left out: 0; changed: 0
    wrote 1 file to …/out
    exit status: 0
    ");
}
