//! Checks the dependencies between the crates of the workspace against a list, so that a new one is
//! a deliberate decision, and that `docs/architecture.md` names files and items that exist.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The dependencies of each crate, including those of optional features (`app` on `chat`) and
/// excluding development dependencies.
const EDGES: &str = "\
a2a ► auth capability chat config egress jobs settings store web wire
accounts ► auth chat config store web wire
added_entries ► capability config egress store web wire
admin_console ► agent auth capability chat config contract custom_agents jobs store web wire
ag_ui ► auth capability chat config contract schemas settings store web wire
agent ► contract schemas settings
alerts ► auth capability chat config egress jobs mail settings store triggers web webhooks wire workflows
app ► chat markdown_stream operators sse wire
auth ► chat config egress endpoints offload settings store wire
bench ► sse test_postgres
capability ► agent chat config contract endpoints jobs operators settings store web wire
channels ► auth capability chat config egress jobs mail markdown_stream settings store web wire
chat ► agent contract faults jobs settings sse store transcript wire
chat_message ► auth capability chat config settings sse web wire
child_process ►
client ► sse wire
collections ► auth capability chat config contract dialect endpoints schemas settings store web wire
config ► agent config_source contract dialect operators schemas settings wire
config_editor ► auth capability config store web wire
config_source ►
connected_accounts ► auth capability chat config contract oauth_discovery settings store web wire
contract ► settings
custom_agents ► auth capability chat config settings store web wire
dialect ►
documents ► child_process
egress ►
endpoints ► contract dialect egress offload operators schemas
evaluation ► config schemas wire
experiments ► agent capability chat config contract evaluation jobs offload recordings store web wire
extended ► app capability config contract operators server
faults ►
follow_ups ► auth capability chat config store web wire
frontend ► app
jobs ► faults store
knowledge ► auth capability chat config contract documents egress jobs offload retrieval settings store web wire
lowdefy_import ► config operators
mail ► capability config
manual ► capability chat config retrieval web
markdown_stream ►
mcp ► auth capability chat config contract egress oauth_discovery schemas settings sse store tools web wire
mcp_server ► auth capability chat config contract schemas settings store web wire
mcp_servers ► added_entries auth capability config contract mcp settings store web wire
memory ► auth capability chat config contract jobs settings store web wire
message_queue ► auth capability chat config store web wire
model_connections ► added_entries auth capability config contract egress settings store web wire
notes ► capability chat config contract server store web wire
notifications ► auth capability chat config egress jobs mail settings store web wire
oauth_discovery ► egress settings
offload ►
openai_api ► auth capability chat config contract schemas settings store web wire
operators ►
plans ► agent auth capability chat config contract store web wire
projects ► auth capability chat config contract store web wire
prompt_library ► auth capability chat config settings store web wire
providers ► contract egress sse wire
recordings ► agent capability chat config contract providers store web wire
remote_agents ► capability config contract egress settings tools
retrieval ►
rust-page ► app server wire
schedules ►
schemas ► offload
scim ► auth capability config store web wire
search_terms ►
server ► a2a accounts admin_console ag_ui agent alerts app auth capability channels chat chat_message child_process collections config config_editor connected_accounts contract custom_agents documents egress endpoints evaluation experiments faults follow_ups jobs knowledge lowdefy_import mail manual mcp mcp_server mcp_servers memory message_queue model_connections notifications offload openai_api operators plans projects prompt_library providers recordings remote_agents scim skills sse store tools triggers user_profile voice web web_research wire workflows workspace
settings ►
skills ► agent auth capability config contract settings store web wire
sse ►
store ► faults search_terms wire
test_postgres ►
test_process ►
test_store ► store test_postgres wire
tools ► contract schemas wire
torture ► faults sse test_postgres
transcript ► agent contract wire
triggers ► auth capability chat config operators schedules store web webhooks wire workflow_definition workflows
user_profile ► auth capability chat config contract store web wire
voice ► auth capability chat config contract egress web wire
web ► auth chat offload store tools wire
web_research ► capability config contract documents egress offload settings store wire
webhooks ►
wire ►
workflow_definition ► config contract operators schedules schemas settings store webhooks wire
workflow_picture ► wire
workflows ► auth capability chat config contract jobs operators schemas settings store web wire workflow_definition workflow_picture
workspace ► auth capability chat child_process config contract documents offload settings store web wire
xtask ► test_postgres
";

/// Crates that also run in the browser: they must not depend on a runtime, a network, storage or UI
/// crate.
const PORTABLE: &[&str] = &["wire", "sse", "operators", "markdown_stream"];
const NOT_PORTABLE: &[&str] = &["tokio", "tokio-util", "reqwest", "axum", "hyper", "sqlx", "leptos"];

/// The part of the output of `cargo metadata` that is read. The crate `cargo_metadata` would give its dependencies
/// features that the server does not need, and so compile much of it twice.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or none for a normal dependency.
    kind: Option<String>,
}

/// Returns the names of each crate's normal and build dependencies.
fn dependencies(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let crates = metadata.packages.iter();
    crates
        .map(|package| {
            let used = package.dependencies.iter().filter(|used| used.kind.as_deref() != Some("dev"));
            (package.name.as_str(), used.map(|used| used.name.as_str()).collect())
        })
        .collect()
}

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path", manifest]);
    serde_json::from_slice(&cargo.output().unwrap().stdout).unwrap()
}

#[test]
fn crate_dependencies_match_the_list() {
    let metadata = metadata();
    let crates = dependencies(&metadata);
    let mut seen = String::new();
    for (package, used) in &crates {
        let internal: Vec<&str> = used.iter().copied().filter(|name| crates.contains_key(name)).collect();
        writeln!(seen, "{}", format!("{package} ► {}", internal.join(" ")).trim_end()).unwrap();
    }
    assert_eq!(
        seen, EDGES,
        "the dependencies have changed; if this is intended, update EDGES and the picture in docs/architecture.md"
    );
}

#[test]
fn portable_crates_have_no_native_dependencies() {
    let metadata = metadata();
    let crates = dependencies(&metadata);
    for package in PORTABLE {
        let used: Vec<_> = crates[package].iter().filter(|name| NOT_PORTABLE.contains(name)).collect();
        assert!(used.is_empty(), "{package} uses {used:?}");
    }
}

/// The page writes a place in the code as a file followed by its items: `path/file.rs`, `item`,
/// `Type::item`.
#[test]
fn architecture_page_names_existing_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let (mut missing, mut checked) = (Vec::new(), 0);
    let mut file: Option<(&str, String)> = None;
    for piece in page.split('`').collect::<Vec<_>>().chunks_exact(2) {
        let (text, code) = (piece[0], piece[1]);
        if text.trim() != "," {
            file = None;
        }
        if code.ends_with(".rs") {
            // A file beside the one before, and a pattern of names, are not looked up.
            if !code.contains('/') || code.contains("NAME") {
                continue;
            }
            match fs::read_to_string(root.join(code)) {
                Ok(source) => file = Some((code, source)),
                Err(_) => missing.push(code.to_owned()),
            }
            checked += 1;
        } else if let Some((path, source)) = &file {
            let has =
                |name: &str| source.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(name));
            if !code.split("::").all(has) {
                missing.push(format!("{path}: {code}"));
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "the page has another form: only {checked} places were found");
    assert_eq!(missing, Vec::<String>::new());
}
