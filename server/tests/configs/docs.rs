//! Checks that the configs in the documentation, the examples and the image are valid and cause no
//! unexpected warnings.

use crate::private_keys::PRIVATE_KEY;
use config::Env;
use insta::assert_snapshot;
use server::config_language;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// An environment in which every variable is set, secrets of Standard Webhooks and tokens of bots in their form.
pub(crate) struct Everything;

impl Env for Everything {
    fn get(&self, name: &str) -> Option<String> {
        if name.ends_with("_WEBHOOK_SECRET") {
            return Some("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        }
        if name.ends_with("_PRIVATE_KEY") {
            return Some(PRIVATE_KEY.to_owned());
        }
        if name.ends_with("_WEBHOOK_URL") {
            return Some("https://hooks.example.com/key".to_owned());
        }
        if name.starts_with("DISCORD_") {
            return Some("MTIz.of.documentation".to_owned());
        }
        if name.starts_with("FEISHU_") {
            return Some("a-secret-of-the-documentation".to_owned());
        }
        if name.starts_with("SLACK_") {
            let prefix = if name.ends_with("_APP_TOKEN") { "xapp" } else { "xoxb" };
            return Some(format!("{prefix}-1-documentation"));
        }
        if name.ends_with("_BOT_TOKEN") {
            return Some("123456789:AAE-documentation".to_owned());
        }
        Some(format!("{name}, of more than thirty-two characters"))
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Entries by section that fragments in the documentation refer to.
const DECLARED: &[(&str, &[(&str, &str)])] = &[
    (
        "connections",
        &[
            ("demo", "type: Demo"),
            ("kb", "type: Sql, properties: { url: 'sqlite::memory:' }"),
            ("signer", "type: Http, properties: { baseURL: 'https://signer.example.com' }"),
            ("files", "type: Mcp, properties: { command: npx }"),
            ("tracker", "type: Mcp, properties: { url: 'https://mcp.example.com/mcp' }"),
            (
                "crm",
                "type: RemoteAgent, properties: { baseURL: 'https://crm.example.com/agent', apiKey: { _secret: KEY } }",
            ),
        ],
    ),
    (
        "agents",
        &[
            ("helper", "type: Agent, connectionId: demo, agents: [researcher], properties: { model: demo }"),
            ("intake", "type: Agent, connectionId: demo, properties: { model: demo }"),
            ("researcher", "type: Agent, connectionId: demo, properties: { model: demo }"),
            ("writer", "type: Agent, connectionId: demo, properties: { model: demo }"),
        ],
    ),
    (
        "api",
        &[
            ("search_knowledge_base", ENDPOINT),
            ("articles/delete", ENDPOINT),
            ("mail/send", ENDPOINT),
            ("customers", ENDPOINT),
            ("search_web", ENDPOINT),
            ("orders/find", ENDPOINT),
            ("judge_call", ENDPOINT),
            ("book", ENDPOINT),
            ("sign-download", ENDPOINT),
        ],
    ),
    (
        "pages",
        &[
            ("support", "blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }]"),
            ("start", "auth: public"),
        ],
    ),
];

const ENDPOINT: &str = "description: Does it., payloadSchema: { type: object, properties: { to: { type: string }, subject: { type: string }, \
     text: { type: string } } }, routine: [{ ':return': 1 }]";

/// Inputs whose state fragments read.
const INPUTS: &str = "      - { id: company, type: TextInput }\n      - { id: seats, type: NumberInput }\n";

/// Completes a fragment to a whole config.
fn whole(fragment: &str) -> String {
    let indented = |columns: usize| {
        let indent = " ".repeat(columns);
        fragment.lines().map(|line| format!("{indent}{line}\n")).collect::<String>()
    };
    let first = fragment.trim_start().split([':', ' ']).next().unwrap();
    let agent = "    type: Agent\n    connectionId: demo\n    properties: { model: demo }\n";
    let chat = "      - id: chat\n        type: AgentChat\n        properties:\n          agentId: helper\n";
    let mut config = match first {
        "-" => format!("pages:\n  - id: support\n    blocks:\n{INPUTS}{}", indented(6)),
        "tools" | "mcp" => format!("agents:\n  - id: helper\n{agent}{}", indented(4)),
        "clientTools" => format!("pages:\n  - id: support\n    blocks:\n{chat}{}", indented(10)),
        "conversationId" | "roles" | "events" => format!("pages:\n  - id: support\n    blocks:\n{chat}{}", indented(6)),
        _ => fragment.replace("    # …\n", agent),
    };
    for (section, entries) in DECLARED {
        let mut more = String::new();
        for (id, entry) in *entries {
            let is_there = [",", "\n"].iter().any(|end| config.contains(&format!("id: {id}{end}")));
            if !is_there {
                writeln!(more, "  - {{ id: {id}, {entry} }}").unwrap();
            }
        }
        let head = format!("{section}:\n");
        config = if config.starts_with(&head) || config.contains(&format!("\n{head}")) {
            config.replacen(&head, &format!("{head}{more}"), 1)
        } else {
            format!("{config}{head}{more}")
        };
    }
    config
}

fn fragments(text: &str) -> impl Iterator<Item = &str> {
    text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

/// Returns the pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files.push(root().join("README.md"));
    files
}

/// Returns whether a page is about a task. Such a page contains all files that it needs.
fn is_about_task(page: &Path) -> bool {
    page.file_name().is_some_and(|name| name.to_string_lossy().starts_with("howto-"))
}

/// Returns the fragments of the documentation, completed to whole configs.
pub(crate) fn documented_configs() -> Vec<String> {
    let texts = pages().into_iter().map(|path| fs::read_to_string(path).unwrap());
    texts.flat_map(|text| fragments(&text).map(whole).collect::<Vec<_>>()).collect()
}

#[test]
fn documentation_fragments_are_valid() {
    let files = pages();
    let (mut seen, mut faults) = (0, String::new());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for fragment in fragments(&text) {
            seen += 1;
            // The fragments of `rights.md` are access rules without their entries. Pages about tasks contain whole configs
            // with their files; the tests in `tests/serve/howto` check them.
            if path.ends_with("rights.md") || is_about_task(&path) {
                continue;
            }
            let config = whole(fragment);
            let problems = match config_language().read_embedded(&[("chatwright.yaml", &config)], &Everything).outcome {
                Ok((_, warnings)) => warnings,
                Err(problems) => problems,
            };
            let name = path.file_name().unwrap().to_string_lossy();
            let about = fragment.trim_start().lines().next().unwrap();
            for problem in problems {
                writeln!(faults, "{name}, `{about}`: {:?}: {}", problem.severity, problem.message).unwrap();
            }
        }
    }
    assert!(seen > 30, "{seen}");
    // Fragments that read state which the rest of their page sets, and the example of a combination
    // that causes a warning.
    assert_snapshot!(faults, @"
    chat.md, `conversationId: { _state: chat }             # or { _url_query: ticket }`: Warning: nothing on this page writes the state `chat`
    conversations.md, `- id: list`: Warning: nothing on this page writes the state `chats`
    tools.md, `tools:`: Warning: the agent `helper` reads private data (`files`) and text from outside (`tracker`, `files`, `crm`), which may talk it into sending the data away with `tracker`, `crm`
    ");
}

#[test]
fn example_configs_cause_no_unexpected_warnings() {
    let mut paths = vec![root().join("deploy/chatwright.yaml")];
    for folder in ["examples", "end2end/configs"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        // An example with a program of its own may have keys that only this program knows.
        let entries = entries.filter(|path| !path.join("Cargo.toml").is_file());
        paths.extend(entries.filter(|path| path.is_file() || path.join("chatwright.yaml").is_file()));
    }
    paths.sort();
    let mut faults = String::new();
    for path in &paths {
        let problems = match config_language().read_path(path, &Everything).outcome {
            Ok((_, warnings)) => warnings,
            Err(problems) => problems,
        };
        for problem in problems {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            writeln!(faults, "{name}: {:?}: {}", problem.severity, problem.message).unwrap();
        }
    }
    assert!(paths.len() > 10, "{paths:?}");
    assert_snapshot!(faults, @"
    end2end/configs/accounts.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/agents.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/console-config.yaml: Warning: the config contains a key, which others may read
    end2end/configs/console.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/groups.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/home.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/libraries-accounts.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/libraries.yaml: Warning: nobody may use this: in the auth mode `local` the one owner has the role `admin` only
    end2end/configs/memory.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/notifications.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/projects.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/prompts-visitors.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/prompts.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/quota.yaml: Warning: without `publicUrls` the server can be used from this machine only
    end2end/configs/two-step.yaml: Warning: without `publicUrls` the server can be used from this machine only
    ");
}
