//! Who depends on whom in the house, exactly: a new edge is a decision, and shows here.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The README draws it. An edge that exists under a feature only (`app` on `chat`) counts as well; what only tests use does not.
const EDGES: &str = "\
agent ► contract faults schemas
app ► chat operators sse wire
bench ► sse
chat ► agent contract faults store wire
client ► sse wire
config ► dialect operators schemas wire
contract ►
dialect ►
egress ►
endpoints ► contract dialect egress offload operators schemas
faults ►
frontend ► app
offload ►
operators ►
providers ► contract faults sse
rust-page ► app server wire
schemas ► offload
server ► agent app chat config contract egress endpoints faults offload operators providers store tools wire
sse ►
store ► faults wire
test_postgres ►
tools ► contract egress faults schemas sse
torture ► faults sse test_postgres
wire ►
xtask ►
";

/// Rooms that the browser runs too: no runtime, no network, no storage, no user interface.
const PORTABLE: &[&str] = &["wire", "sse", "operators"];
const NOT_PORTABLE: &[&str] = &["tokio", "tokio-util", "reqwest", "axum", "hyper", "sqlx", "leptos"];

/// Each room with the packages that its product code names.
fn dependencies(metadata: &Metadata) -> BTreeMap<&str, BTreeSet<&str>> {
    let rooms = metadata.workspace_packages().into_iter();
    rooms
        .map(|room| {
            let used = room.dependencies.iter().filter(|used| used.kind != DependencyKind::Development);
            (room.name.as_str(), used.map(|used| used.name.as_str()).collect())
        })
        .collect()
}

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap()
}

#[test]
fn the_edges_between_rooms_are_these() {
    let metadata = metadata();
    let rooms = dependencies(&metadata);
    let mut seen = String::new();
    for (room, used) in &rooms {
        let inner: Vec<&str> = used.iter().copied().filter(|name| rooms.contains_key(name)).collect();
        writeln!(seen, "{}", format!("{room} ► {}", inner.join(" ")).trim_end()).unwrap();
    }
    assert_eq!(seen, EDGES, "the graph has changed; if that is meant, change EDGES and the map in README.md");
}

#[test]
fn what_the_browser_runs_too_stays_portable() {
    let metadata = metadata();
    let rooms = dependencies(&metadata);
    for room in PORTABLE {
        let used: Vec<_> = rooms[room].iter().filter(|name| NOT_PORTABLE.contains(name)).collect();
        assert!(used.is_empty(), "{room} uses {used:?}");
    }
}
