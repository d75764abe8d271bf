//! Skills of a folder: how the config names them, what the model reads, and which tools it may call.

use crate::catalog::{Catalog, CatalogSkill};
use crate::content;
use crate::in_use;
use crate::policy::AllowedTools;
use crate::section::{AgentSkills, Skills};
use crate::tool::{READ_SKILL, ReadSkill};
use agent::{Policy, PolicyQuery, Ruling};
use config::{Language, ProcessEnv, SectionType};
use contract::{
    CallReports, Message, ModelUse, RunScope, Tool, ToolCall, ToolContext, ToolOutput, ToolResult, ToolSpec, UserPart,
};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Writes files below a new folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Use it for {name}.\n{more}---\n{body}\n")
}

fn catalog() -> (TempDir, Vec<Arc<CatalogSkill>>) {
    let (greet, order, quiet) = (
        skill("greet", "", "Say hello."),
        skill("order", "allowed-tools: find_order refund\n", "Find the order first."),
        skill("quiet", "allowed-tools: refund\n", "Say nothing."),
    );
    let files = [
        ("greet/SKILL.md", &*greet),
        ("greet/references/de.md", "Guten Tag"),
        ("order/SKILL.md", &*order),
        ("quiet/SKILL.md", &*quiet),
    ];
    let folder = folder(&files);
    let catalog = Catalog::read(&[folder.path().to_owned()]);
    assert_eq!(catalog.problems, []);
    (folder, catalog.all().cloned().collect())
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User(vec![UserPart::Text { text: text.to_owned() }]))
}

fn result(text: &str) -> Arc<Message> {
    let result = ToolResult {
        call_id: "1".to_owned(),
        name: READ_SKILL.to_owned(),
        output: ToolOutput::Text(text.to_owned()),
        metadata: None,
    };
    Arc::new(Message::Tool(vec![result]))
}

fn owned(messages: &[&Arc<Message>]) -> Vec<Arc<Message>> {
    messages.iter().map(|message| Arc::clone(message)).collect()
}

#[test]
fn config_names_skills() {
    let check = |skills: &str, chosen: &str| {
        let (order, colon) = (skill("order", "", "x"), "---\ndescription: Use it: always.\n---\n");
        let main = format!(
            "skills: {skills}\nconnections: [{{ id: demo, type: Demo }}]\nagents:\n  - {{ id: a, type: Agent, connectionId: demo, properties: {{ model: demo }}, skills: {chosen} }}\n"
        );
        let files = [
            ("chatwright.yaml", &*main),
            ("own/order/SKILL.md", &*order),
            ("own/b/SKILL.md", colon),
            ("own/c/SKILL.md", "x"),
        ];
        let folder = folder(&files);
        let language = Language::new(&[SectionType::of::<Skills>(), SectionType::of::<AgentSkills>()], &[]);
        let read = language.read_path(folder.path(), &ProcessEnv).outcome;
        let text = match read {
            Ok((_, warnings)) => config::render(&warnings),
            Err(problems) => config::render(&problems),
        };
        text.replace(&folder.path().join("").display().to_string(), "")
    };
    assert_snapshot!(check("{ folders: [own] }", "all"), @"
    chatwright.yaml:1:21: warning: in `own`: the skill in `b`: its frontmatter was read line by line: line 2: this is not valid YAML: mapping values are not allowed in this context
       |
     1 | skills: { folders: [own] }
       |                     ^^^

    chatwright.yaml:1:21: warning: in `own`: the skill in `b`: it has no name, so that of its folder is used
       |
     1 | skills: { folders: [own] }
       |                     ^^^

    chatwright.yaml:1:21: warning: in `own`: the skill in `c` cannot be used: its SKILL.md does not begin with a frontmatter
       |
     1 | skills: { folders: [own] }
       |                     ^^^
    ");
    assert_snapshot!(check("{ folders: [none] }", "[ordr]"), @"
    chatwright.yaml:1:21: warning: in `none`: the folder cannot be read
       |
     1 | skills: { folders: [none] }
       |                     ^^^^

    chatwright.yaml:4:85: warning: no folder has the skill `ordr`
       |
     4 |   - { id: a, type: Agent, connectionId: demo, properties: { model: demo }, skills: [ordr] }
       |                                                                                     ^^^^
       = help: add its folder to one of `skills.folders`, or install it in the admin console
    ");
    assert_snapshot!(check("{ folders: [own/order] }", "[ordr]"), @"
    chatwright.yaml:4:85: warning: no folder has the skill `ordr`
       |
     4 |   - { id: a, type: Agent, connectionId: demo, properties: { model: demo }, skills: [ordr] }
       |                                                                                     ^^^^
       = help: did you mean `order`?
    ");
    assert_snapshot!(check("{ folder: [own] }", "none"), @"
    chatwright.yaml:1:11: error: there is no key `folder` here
       |
     1 | skills: { folder: [own] }
       |           ^^^^^^
       = help: did you mean `folders`?

    chatwright.yaml:4:84: error: there is no value `none`
       |
     4 |   - { id: a, type: Agent, connectionId: demo, properties: { model: demo }, skills: none }
       |                                                                                    ^^^^
       = help: the only one is `all`
    ");
}

#[test]
fn list_names_the_skills() {
    let (_folder, skills) = catalog();
    assert_snapshot!(content::list(&skills), @"
    You have skills: instructions for certain tasks. When a task fits the description of a skill, call read_skill with its name before you begin, and follow what it says. Read further files of a skill only when its instructions name them.
    <skills>
    - greet: Use it for greet.
    - order: Use it for order.
    - quiet: Use it for quiet.
    </skills>
    ");
}

#[tokio::test]
async fn skills_and_their_files_are_read() {
    let (folder, skills) = catalog();
    std::fs::write(folder.path().join("greet/logo.png"), b"a\0b").unwrap();
    let tool = ReadSkill::new(skills);
    let check = async |input: Value| {
        let context = ToolContext {
            call_id: "call".to_owned(),
            scope: Arc::new(RunScope::default()),
            cancel: CancellationToken::new(),
            reports: CallReports::default(),
            may_repeat: false,
            models: ModelUse::default(),
        };
        match tool.call(input, context).await {
            Ok(text) => text.as_str().unwrap().to_owned(),
            Err(error) => format!("error: {}", error.message),
        }
    };
    assert_snapshot!(check(json!({ "name": "greet" })).await, @r#"
    <skill_content name="greet">
    Say hello.

    Files of this skill, to be read with read_skill and `file`. Scripts among them cannot be run.
    - references/de.md
    </skill_content>
    "#);
    assert_snapshot!(check(json!({ "name": "greet", "offset": 4 })).await, @"hello.");
    assert_snapshot!(check(json!({ "name": "greet", "file": "references/de.md", "offset": 6 })).await, @"Tag");
    assert_snapshot!(check(json!({ "name": "greet", "file": "../order/SKILL.md" })).await, @"error: `../order/SKILL.md` cannot be read: a path has no empty names and none that ends with a dot or a space.");
    assert_snapshot!(check(json!({ "name": "greet", "file": "none.md" })).await, @"error: The skill has no file `none.md`.");
    assert_snapshot!(check(json!({ "name": "greet", "file": "logo.png" })).await, @"error: `logo.png` is not a text file: it has 3 bytes.");
    assert_snapshot!(check(json!({ "name": "greet", "file": ".env" })).await, @"error: Files and folders whose names begin with a dot are not read.");
    assert_snapshot!(check(json!({ "name": "other" })).await, @"error: There is no skill `other`.");
}

#[test]
fn skills_in_use_are_repeated_when_the_model_no_longer_reads_them() {
    let (_folder, skills) = catalog();
    let (greet, order) = (skills[0].content.clone(), skills[1].content.clone());
    let check = |messages: &[&Arc<Message>], history: &[&Arc<Message>], expected: &[&str]| {
        let note = in_use::note(&skills, &owned(messages), &owned(history));
        let told = |skill: &&Arc<CatalogSkill>| note.as_ref().is_some_and(|note| note.contains(&*skill.content));
        let told: Vec<_> = skills.iter().filter(told).map(|skill| skill.skill.name.as_str()).collect();
        assert_eq!(told, expected);
        assert_eq!(note.is_none(), expected.is_empty());
    };
    let hello = user("Hello");
    let (read, cleared) = (result(&greet), result("[This result was cleared]"));
    check(&[&hello], &[&hello], &[]);
    // The model reads it.
    check(&[&read], &[&read], &[]);
    // Its result was cleared, or summarised.
    check(&[&cleared], &[&read], &["greet"]);
    check(&[&hello], &[&read, &hello], &["greet"]);
    // The user has chosen it.
    let chosen = user("/order 17, please");
    check(&[&chosen], &[&chosen], &["order"]);
    check(&[&user("/orders")], &[&user("/orders")], &[]);
    check(&[&user("a /order")], &[&user("a /order")], &[]);
    // A note is read like a result, and loads what it tells.
    let note = user(&in_use::note(&skills, &[], &[read.clone(), chosen]).unwrap());
    check(&[&note], &[&note], &[]);
    check(&[], &[&note], &["greet", "order"]);
    // A part of it is not enough.
    check(&[&result(&order[..order.len() - 20])], &[&result(&order)], &["order"]);
    // The result of another tool loads nothing.
    let other = ToolResult {
        call_id: "1".to_owned(),
        name: "fetch".to_owned(),
        output: ToolOutput::Text(greet.to_string()),
        metadata: None,
    };
    check(&[], &[&Arc::new(Message::Tool(vec![other]))], &[]);
}

#[tokio::test]
async fn allowed_tools_narrow_what_the_agent_may_call() {
    let (_folder, skills) = catalog();
    let [greet, order, quiet] = [0, 1, 2].map(|index: usize| result(&skills[index].content));
    let policy = AllowedTools { agent_id: "helper".to_owned(), skills };
    let check = async |history: &[&Arc<Message>], agent_id: &str, tool: &str, expected: &str| {
        let spec = ToolSpec::new(tool, "", json!({}));
        let call = ToolCall {
            id: "1".to_owned(),
            name: tool.to_owned(),
            input: json!({}),
            provider_executed: false,
            metadata: None,
        };
        let scope = RunScope::default();
        let asked = PolicyQuery {
            call: &call,
            tool: &spec,
            scope: &scope,
            agent_id,
            user_id: "ada",
            conversation_id: "c",
            is_sub_agent: false,
            history: &owned(history),
        };
        let ruling = match policy.decide(asked).await {
            Ruling::Deny(reason) => reason,
            ruling => format!("{ruling:?}"),
        };
        assert_eq!(ruling, expected, "{tool}");
    };
    let only_order = "the skill `order` is in use, which allows only these tools: find_order, refund";
    let only_quiet = "the skill `quiet` is in use, which allows only these tools: refund";
    check(&[], "helper", "send", "Allow").await;
    check(&[&greet], "helper", "send", "Allow").await;
    check(&[&order], "helper", "send", only_order).await;
    check(&[&order], "helper", "find_order", "Allow").await;
    check(&[&order], "helper", READ_SKILL, "Allow").await;
    // The calls of a sub-agent are not those of the agent.
    check(&[&order], "clerk", "send", "Allow").await;
    check(&[&order], "helper/general-purpose", "send", only_order).await;
    check(&[&order], "clerk/general-purpose", "send", "Allow").await;
    // Another skill does not widen what one allows.
    check(&[&quiet, &order], "helper", "find_order", only_quiet).await;
    check(&[&quiet, &order, &greet], "helper", "refund", "Allow").await;
}
