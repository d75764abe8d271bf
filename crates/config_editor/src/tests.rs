//! Changes in the database and in the config.

use crate::capability::DEFINITION;
use crate::overlay;
use crate::section::{ConfigEditor, OverlayState, Rejected};
use crate::store::{self, ChangeOutcome, Draft, MAX_VERSIONS, Publication, TABLES};
use crate::warning;
use ::store::sql::query_scalar;
use ::store::{CapabilityTables, Schema, Store};
use config::{Config, Language, render_short};
use serde_json::json;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];
static LANGUAGE: LazyLock<Language> = LazyLock::new(|| Language::new(DEFINITION.sections, &[]));

const FILES: &str = "
configEditor: { roles: [config-editor], sections: [agents, prices] }
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, title: Old, connectionId: demo, properties: { model: demo } }]
pages: [{ id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
";

/// Opens each kind of database.
async fn stores() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap());
    }
    stores
}

async fn memory() -> Store {
    Schema::new(&ALL_TABLES).open("sqlite::memory:", "", Duration::ZERO).await.unwrap()
}

fn load(text: &str) -> Config {
    LANGUAGE.read_text(text).unwrap_or_else(|problems| panic!("{}", config::render(&problems))).0
}

fn draft(text: &str, based_on: i64, revision: i64) -> Draft {
    Draft { text: text.to_owned(), based_on, revision, changed_at: 1 }
}

async fn publish(store: &Store, text: &str, based_on: i64, revision: Option<i64>) -> ChangeOutcome {
    let (text, author) = (text.to_owned(), "ada".to_owned());
    let publication = Publication { text, based_on, restored: None, revision, author, now: 7 };
    store::publish(store, publication, auth::audit_row("ada", "admin:publish_config", "", json!({}))).await.unwrap()
}

async fn audited(store: &Store) -> i64 {
    let count = query_scalar::<i64>("SELECT count(*) FROM audit WHERE tool = 'admin:publish_config'");
    store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
}

#[tokio::test]
async fn drafts_are_published_once_and_by_one_administrator() {
    for store in stores().await {
        assert_eq!(store::version(&store).await.unwrap(), "0");
        assert_eq!(store::save_draft(&store, "ada", draft("a: 1", 0, 0)).await.unwrap(), ChangeOutcome::Done(1));
        assert_eq!(store::save_draft(&store, "bob", draft("b: 1", 0, 0)).await.unwrap(), ChangeOutcome::Done(1));
        // Another tab has saved.
        assert_eq!(store::save_draft(&store, "ada", draft("a: 2", 0, 0)).await.unwrap(), ChangeOutcome::DraftChanged);
        assert_eq!(store::save_draft(&store, "ada", draft("a: 2", 0, 1)).await.unwrap(), ChangeOutcome::Done(2));
        assert_eq!(publish(&store, "a: 1", 0, Some(1)).await, ChangeOutcome::DraftChanged);
        assert_eq!(publish(&store, "a: 2", 0, Some(2)).await, ChangeOutcome::Done(1));
        assert_eq!(store::draft(&store, "ada").await.unwrap(), None);
        // Bob's draft is based on an older version.
        assert_eq!(store::draft(&store, "bob").await.unwrap(), Some(draft("b: 1", 0, 1)));
        assert_eq!(publish(&store, "b: 1", 0, None).await, ChangeOutcome::Outdated);
        assert_eq!(publish(&store, "b: 1", 1, None).await, ChangeOutcome::Done(2));
        let versions: Vec<_> = store::list(&store).await.unwrap().iter().map(|item| item.version).collect();
        assert_eq!(versions, [2, 1]);
        assert_eq!(store::find(&store, 1).await.unwrap().unwrap().text, "a: 2");
        assert_eq!((audited(&store).await, store::version(&store).await.unwrap().as_str()), (2, "2"));
        store::delete_draft(&store, "bob").await.unwrap();
        assert_eq!(store::draft(&store, "bob").await.unwrap(), None);
    }
}

#[tokio::test]
async fn only_the_newest_versions_are_kept() {
    let store = memory().await;
    for version in 0..=MAX_VERSIONS {
        assert_eq!(publish(&store, "", version, None).await, ChangeOutcome::Done(version + 1));
    }
    let versions = store::list(&store).await.unwrap();
    assert_eq!((versions.len(), versions.last().unwrap().version), (usize::try_from(MAX_VERSIONS).unwrap(), 2));
    assert_eq!(store::find(&store, 1).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_publications_have_one_winner() {
    for store in stores().await {
        let all = (0..4).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { publish(&store, "", 0, None).await })
        });
        let mut outcomes = Vec::new();
        for one in all.collect::<Vec<_>>() {
            outcomes.push(one.await.unwrap());
        }
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Done(1)).count(), 1, "{outcomes:?}");
    }
}

/// Returns the titles of the agents, and the state.
async fn applied(store: &Store, files: &str) -> (String, OverlayState) {
    let config = overlay::apply(store, &LANGUAGE, load(files)).await.unwrap();
    let titles = config.agents.values().map(|agent| agent.title.clone().unwrap_or_default()).collect::<Vec<_>>();
    let state = config.section::<ConfigEditor>().map(|section| (*section.state).clone()).unwrap_or_default();
    assert_eq!(warning(&config).is_some(), state.rejected.is_some());
    // The next changes are checked against the same files.
    assert_eq!(config.source.files.len(), 1);
    (titles.join(", "), state)
}

fn agent(id: &str, title: &str) -> String {
    format!(
        "agents: [{{ id: {id}, type: Agent, title: {title}, connectionId: demo, properties: {{ model: demo }} }}]\n"
    )
}

#[tokio::test]
async fn newest_valid_changes_are_in_use() {
    let store = memory().await;
    let check = async |files: &str, titles: &str, used: Option<i64>, rejected: Option<(i64, &str)>| {
        let (found, state) = applied(&store, files).await;
        let known = state.rejected.map(|Rejected { version, problems }| (version.unwrap(), problems));
        let expected = rejected.map(|(version, problems)| (version, problems.to_owned()));
        assert_eq!((found.as_str(), state.used, known), (titles, used, expected));
    };
    check(FILES, "Old", None, None).await;
    publish(&store, &agent("helper", "New"), 0, None).await;
    check(FILES, "New", Some(1), None).await;
    publish(&store, &agent("writer", "Writer"), 1, None).await;
    check(FILES, "Old, Writer", Some(2), None).await;
    // Changes that the files make invalid are left out; the last valid ones are in use.
    let without = FILES.replace("id: demo", "id: other").replace("connectionId: demo", "connectionId: other");
    publish(&store, "prices: { default: { input: 1, output: 2 } }", 2, None).await;
    publish(&store, &agent("writer", "Again"), 3, None).await;
    let problem = "(console):1:65: error: there is no connection `demo`\n   = help: the only one is `other`";
    check(&without, "Old", Some(3), Some((4, problem))).await;
    // Without the roles, only the files are in use, without a warning.
    check(&FILES.replace("roles: [config-editor], ", ""), "Old", None, None).await;
    check(&FILES.replace("configEditor:", "# configEditor:"), "Old", None, None).await;
    // A section that the files no longer allow.
    let problem =
        "(console):1:1: error: the section `agents` cannot be changed here\n   = help: the only one is `prices`";
    check(&FILES.replace("[agents, prices]", "[prices]"), "Old", Some(3), Some((4, problem))).await;
    publish(&store, "", 4, None).await;
    check(FILES, "Old", Some(5), None).await;
}

#[tokio::test]
async fn server_can_start_with_the_files_alone() {
    let config = overlay::leave_out(load(FILES), "a database cannot be opened");
    let state: Arc<OverlayState> = config.section::<ConfigEditor>().unwrap().state.clone();
    let problems = "a database cannot be opened".to_owned();
    assert_eq!((state.used, state.rejected.clone()), (None, Some(Rejected { version: None, problems })));
    let read_only = overlay::leave_out(load(&FILES.replace("roles: [config-editor], ", "")), "x");
    assert_eq!(warning(&read_only), None);
}

#[test]
fn sections_that_decide_about_access_stay_in_the_files() {
    let check = |section: &str, expected: &str| {
        let text = format!("configEditor: {{ roles: [x], sections: [agents, {section}] }}\n");
        let problems =
            LANGUAGE.read_text(&text).map(|_| String::new()).unwrap_or_else(|problems| render_short(&problems));
        assert!(problems.contains(expected), "{section}: {problems}");
    };
    for section in ["auth", "store", "configEditor", "configVersion", "embed", "scim"] {
        check(section, &format!("the section `{section}` can only be changed in the files"));
    }
    check("agent", "a config has no section `agent`\n   = help: did you mean `agents`?");
}

#[tokio::test]
async fn secrets_of_changes_are_not_shown() {
    let files = FILES.replace("[agents, prices]", "[connections]");
    let config = load(&files);
    let section = config.section::<ConfigEditor>().unwrap();
    let changes =
        "connections:\n  - { id: claude, type: Anthropic, properties: { apiKey: canary-1234 } }\n# canary-1234";
    let shown = crate::check::shown_changes(&LANGUAGE, &config, section, changes).await.unwrap();
    let hidden = "connections:\n  - { id: claude, type: Anthropic, properties: { apiKey: *** } }\n# ***";
    assert_eq!(shown.join("\n"), hidden);
}
