//! The questions that were asked of libraries: who may see them, and which are kept.

use super::knowledge::Site;
use crate::access::{Method, TestRequest, caller, get, post};
use chat::Caller;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use wire::library::QuestionList;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
libraries:
  - { id: pumps, title: Pumps, documents: [{ name: pumps.md, text: 'The pumps run from 22:00 to 6:00.' }] }
agents:
  - { id: helper, type: Agent, connectionId: demo, knowledge: [pumps], auth: public, properties: { model: demo } }
pages: [{ id: home, auth: public }]
";

/// Serves the config with more keys.
async fn serve(folder: &TempDir, more: &str) -> Site {
    let path = folder.path().join("chatwright.yaml");
    std::fs::write(&path, format!("{CONFIG}{more}")).unwrap();
    Site::serve(&path, &[("pumps", 1)]).await
}

/// Returns the questions as lines once there are this many: they are stored after the search.
async fn listed(site: &Site, who: &Caller, library: &str, query: &str, count: usize) -> Vec<String> {
    let mut answer = Value::Null;
    for _ in 0..500 {
        answer = site.call_as(who, get(format!("/api/libraries/{library}/questions{query}"))).await.1;
        if answer["items"].as_array().is_some_and(|items| items.len() == count) {
            let list: QuestionList = serde_json::from_value(answer).unwrap();
            assert!(list.cursor.is_none());
            let line = |one: wire::library::LibraryQuestion| {
                let agent = one.agent_id.unwrap_or_else(|| "search".to_owned());
                format!("{} | {agent} | found {} | asked {} | own {}", one.question, one.found, one.asked, one.own)
            };
            return list.items.into_iter().map(line).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not {count} questions: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_seen_by_those_who_may_change_the_library() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder, "").await;
    let (ada, eve) = (caller(("ada", true, &[])), caller(("eve", true, &[])));
    let (bob, carl) = (caller(("bob", true, &["staff"])), caller(("carl", true, &["editor"])));
    let (boss, visitor) = (caller(("boss", true, &["admin"])), caller(("visitor", false, &[])));
    let request = json!({ "name": "Plant", "readers": ["staff"], "writers": ["editor"] });
    let (status, library) = site.call_as(&ada, post("/api/libraries".to_owned(), request)).await;
    assert_eq!((status, &library["questions"]), (201, &json!(true)), "{library}");
    let id = library["id"].as_str().unwrap();
    let search = async |who: &Caller, query: &str| {
        let path = format!("/api/libraries/{id}/search");
        assert_eq!(site.call_as(who, post(path, json!({ "query": query }))).await.0, 200);
    };
    search(&ada, "When do the pumps run?").await;
    listed(&site, &ada, id, "", 1).await;
    search(&ada, " When do the pumps run? ").await;
    search(&bob, &format!("Who is on call? {}", "x".repeat(600))).await;
    let cut = format!("Who is on call? {}", "x".repeat(484));
    let lines = listed(&site, &carl, id, "", 2).await;
    let mut lines: Vec<_> = lines.iter().map(|line| line.replace(&cut, "CUT")).collect();
    // The two searches are stored at the same time.
    lines.sort_unstable();
    assert_eq!(lines[0], "CUT | search | found 0 | asked 1 | own false");
    assert!(lines[1].starts_with("When do the pumps run? | search | found 0 | asked "), "{lines:?}");
    let own = listed(&site, &ada, id, "?unanswered=true", 2).await;
    assert_eq!(own.iter().filter(|line| line.ends_with("own true")).count(), 1, "{own:?}");
    for (who, expected) in [(&bob, 403), (&eve, 404), (&boss, 404), (&visitor, 404)] {
        let (status, answer) = site.call_as(who, get(format!("/api/libraries/{id}/questions"))).await;
        assert_eq!(status, expected, "{} {answer}", who.user_id);
    }
    assert_eq!(site.call_as(&bob, get(format!("/api/libraries/{id}"))).await.1["questions"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_to_agents_are_kept_unless_their_conversation_is_temporary() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder, "").await;
    let (visitor, boss) = (caller(("visitor", false, &[])), caller(("boss", true, &["admin"])));
    let (ada, stranger) = (caller(("ada", true, &[])), caller(("stranger", false, &[])));
    site.ask_as(&visitor, "helper", "c1", "Tell me about the pumps").await;
    let lines = listed(&site, &boss, "pumps", "", 1).await;
    assert!(lines[0].contains("pumps") && lines[0].ends_with(" | helper | found 1 | asked 1 | own false"), "{lines:?}");
    site.ask_as(&visitor, "helper", "c2", "Zzyzx qwertz?").await;
    listed(&site, &boss, "pumps", "", 2).await;
    let lines = listed(&site, &boss, "pumps", "?unanswered=true", 1).await;
    assert!(lines[0].contains("qwertz") && lines[0].contains(" | found 0 | "), "{lines:?}");
    // Everybody may read the library, but only administrators look after it.
    for (who, expected) in [(&ada, 403), (&stranger, 404), (&boss, 200)] {
        assert_eq!(site.call_as(who, get("/api/libraries/pumps/questions".to_owned())).await.0, expected);
    }
    let temporary = TestRequest {
        method: Method::PATCH,
        path: "/api/conversations/c2".to_owned(),
        body: Some(json!({ "temporary": true })),
    };
    assert!(site.call_as(&visitor, temporary).await.0 < 300);
    listed(&site, &boss, "pumps", "", 1).await;
    site.ask_as(&visitor, "helper", "c2", "Asdfgh qwertz?").await;
    site.ask_as(&visitor, "helper", "c3", "Yxcvbn qwertz?").await;
    let lines = listed(&site, &boss, "pumps", "", 2).await;
    assert!(lines[0].contains("Yxcvbn") || lines[0].contains("yxcvbn"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_questions_are_kept_if_the_config_says_so() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder, "knowledge: { questionDays: 0 }\n").await;
    let boss = caller(("boss", true, &["admin"]));
    let search = post("/api/libraries/pumps/search".to_owned(), json!({ "query": "pumps" }));
    assert_eq!(site.call_as(&boss, search).await.0, 200);
    tokio::time::sleep(Duration::from_millis(200)).await;
    listed(&site, &boss, "pumps", "", 0).await;
    assert_eq!(site.call_as(&boss, get("/api/libraries/pumps".to_owned())).await.1["questions"], false);
}
