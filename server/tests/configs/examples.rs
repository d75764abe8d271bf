//! Checks that the configs in `examples/` are valid.

use crate::docs::Everything;
use config::{ConnectionKind, ProcessEnv, render};
use server::config_language;
use std::path::Path;

#[test]
fn demo_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/demo");
    let (config, warnings) = config_language()
        .read_path(&folder, &ProcessEnv)
        .outcome
        .unwrap_or_else(|errors| panic!("{}", render(&errors)));
    assert_eq!(render(&warnings), "");
    assert!(matches!(config.connections["demo"].kind, ConnectionKind::Demo(_)));
    let ConnectionKind::Sql(knowledge) = &config.connections["knowledge"].kind else { panic!("not SQL") };
    assert!(knowledge.init.as_ref().is_some_and(|sql| sql.contains("Refunds")));
    let tools: Vec<_> =
        config.agents["demo"].tools.iter().map(|tool| (tool.name.as_str(), tool.confirm.is_some())).collect();
    assert_eq!(tools, [("search_knowledge_base", false), ("delete_article", true)]);
    let pages: Vec<_> = config.pages.iter().map(|page| page.definition.id.as_str()).collect();
    assert_eq!(pages, ["demo", "research", "work"]);
}

/// Checks the pages and the tools of each example.
#[test]
fn examples_are_valid() {
    let check = |name: &str, pages: &[&str], tools: &[&str]| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
        let (config, warnings) = config_language()
            .read_path(&folder, &ProcessEnv)
            .outcome
            .unwrap_or_else(|errors| panic!("{}", render(&errors)));
        assert_eq!(render(&warnings), "", "{name}");
        assert_eq!(config.pages.iter().map(|page| page.definition.id.as_str()).collect::<Vec<_>>(), pages);
        let offered = config.agents.values().flat_map(|agent| &agent.tools);
        assert_eq!(offered.map(|tool| tool.name.as_str()).collect::<Vec<_>>(), tools);
    };
    check("intake", &["intake"], &[]);
    check("analyst", &["home"], &[]);
    check("invoices", &["home", "approvals"], &[]);
    check("skills", &["home"], &[]);
    check("support", &["support"], &["search_articles", "delete_article"]);
    check("starter", &["home"], &[]);
}

/// The bench adds agents like the second one.
#[test]
fn config_of_the_measured_screens_is_valid() {
    let text = include_str!("../../../bench/src/screens/config.yaml");
    let (config, _) = config_language()
        .read_embedded(&[("chatwright.yaml", text)], &Everything)
        .outcome
        .unwrap_or_else(|errors| panic!("{}", render(&errors)));
    assert_eq!((config.pages.len(), config.agents.len()), (4, 2));
}

/// Checks the connections and agents that the starter config has as comments.
#[test]
fn alternatives_of_the_starter_config_are_valid() {
    let starter = include_str!("../../../examples/starter/chatwright.yaml");
    let text = starter.replace("\n  # - {", "\n  - {");
    let (config, warnings) = config_language()
        .read_embedded(&[("chatwright.yaml", &text)], &Everything)
        .outcome
        .unwrap_or_else(|errors| panic!("{}", render(&errors)));
    assert_eq!(render(&warnings), "");
    assert_eq!((config.connections.len(), config.agents.len()), (5, 5));
}
