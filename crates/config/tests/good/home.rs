//! Tests of the home page, and of the pages of agents without one.

use crate::load;
use config::Config;

const AGENTS: &str = "
connections: [{ id: demo, type: Demo }]
agents:
  - { id: lead, title: Lead, picture: L, type: Agent, connectionId: demo, auth: { roles: [staff] }, agents: [clerk], properties: { model: m } }
  - { id: clerk, type: Agent, connectionId: demo, properties: { model: m } }
  - { id: admin, description: Manages., type: Agent, connectionId: demo, properties: { model: m } }
  - { id: form, type: Agent, connectionId: demo, properties: { model: m } }
";

/// Returns the pages with their titles and access rules, after those of the agents were added.
fn pages(mut config: Config) -> Vec<String> {
    config.add_agent_pages();
    let describe = |page: &config::Page| {
        let title = page.definition.title.clone().unwrap_or_default();
        format!("{} {title} {:?}", page.definition.id, page.auth)
    };
    config.pages.iter().map(describe).collect()
}

#[test]
fn agents_without_a_page_get_one() {
    let check = |rest: &str, expected: &[&str]| {
        assert_eq!(pages(load(&format!("{AGENTS}{rest}")).0), expected, "{rest}");
    };
    let lead = r#"lead Lead Roles(["staff"])"#;
    // The server itself uses the address `/admin`.
    let admin = "admin-chat admin Protected";
    check("", &[lead, admin, "form form Protected"]);
    check("home: false", &[]);
    check("pages: [{ id: form }]", &["form  Protected"]);
    check("pages: [{ id: form }]\nhome: true", &["form  Protected", lead, admin, "form-chat form Protected"]);
    check("home: { agents: [clerk] }", &["clerk clerk Protected"]);
    let chat = "pages: [{ id: p, blocks: [{ id: b, type: Box, blocks: [{ id: c, type: AgentChat, properties: { agentId: admin } }] }] }]";
    check(&format!("{chat}\nhome: {{ agents: [admin, form] }}"), &["p  Protected", "form form Protected"]);
}

#[test]
fn page_of_an_agent_says_what_it_is_for() {
    let check = |id: &str, expected: &str| {
        let (mut config, _) = load(AGENTS);
        config.add_agent_pages();
        let page = config.pages.iter().find(|page| page.definition.id == id).unwrap();
        let blocks: Vec<_> = page
            .definition
            .blocks
            .iter()
            .map(|block| format!("{:?} {}", block.kind, serde_json::Value::from(block.properties.clone())))
            .collect();
        assert_eq!(blocks.join("\n"), expected);
    };
    check("form", "AgentConversations {}\nAgentChat {\"agentId\":\"form\"}");
    check(
        "lead",
        "AgentConversations {}\nAgentChat {\"agentId\":\"lead\",\"roles\":{\"assistant\":{\"name\":\"Lead\",\"avatar\":\"L\"}},\"welcome\":{\"icon\":\"L\",\"title\":\"Lead\",\"description\":\"\"}}",
    );
    check(
        "admin-chat",
        "AgentConversations {}\nAgentChat {\"agentId\":\"admin\",\"welcome\":{\"title\":\"admin\",\"description\":\"Manages.\"}}",
    );
}

#[test]
fn sites_of_pictures_of_agents_are_allowed() {
    let config = load(&AGENTS.replace("picture: L", "picture: 'https://pictures.example.com/lead.png'")).0;
    assert_eq!(config.image_origins, ["https://pictures.example.com"]);
}
