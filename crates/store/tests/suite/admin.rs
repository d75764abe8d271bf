//! The admin console's queries: changing and deleting users, all conversations, usage.

use crate::support::{begin, end, on_each_database, turn};
use serde_json::json;
use store::{
    AddUserOutcome, AuditEntry, AuditFilter, AuditOutcome, ChangeUserOutcome, ConversationFilter, ConversationSort,
    ListCursor, NewUser, RatingFilter, StepRecord, Store, UsageFilter, UserChange, UserFilter, UserSort,
};
use wire::api::{Outcome, TokenUsage};
use wire::change::{Feedback, Rating};
use wire::organize::{Folder, ListFilter};

const DAY: i64 = 86_400_000;

pub(crate) async fn add(store: &Store, name: &str, roles: &[&str], now: i64) {
    let user = NewUser {
        id: name.to_owned(),
        name: name.to_owned(),
        name_key: name.to_owned(),
        password: "hash".to_owned(),
        must_change_password: false,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        now,
    };
    assert_eq!(store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
}

fn entry(what: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        user_id: "boss".to_owned(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: format!("{what}-{:?}", std::time::Instant::now()),
        tool: format!("admin:{what}"),
        arguments: json!({}),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

pub(crate) fn step(owner: &str, conversation_id: &str, at: i64, cost: f64) -> StepRecord {
    StepRecord {
        at,
        owner: owner.to_owned(),
        conversation_id: Some(conversation_id.to_owned()),
        message_id: None,
        run_id: "r".to_owned(),
        agent_id: "agent".to_owned(),
        call_id: None,
        number: 1,
        provider: "demo".to_owned(),
        model: "demo".to_owned(),
        finish_reason: "stop".to_owned(),
        usage: TokenUsage { input_tokens: 10, output_tokens: 5, ..TokenUsage::default() },
        cost_usd: Some(cost),
        saved_usd: Some(cost / 4.0),
        first_part_ms: 100,
        whole_ms: 400,
    }
}

pub(crate) async fn change(store: &Store, id: &str, change: UserChange) -> ChangeUserOutcome {
    store.change_user(id, change, 5, entry("change")).await.unwrap()
}

/// Returns the names, page by page.
async fn names(store: &Store, filter: UserFilter, sort: UserSort) -> Vec<String> {
    let (mut names, mut after): (Vec<String>, Option<ListCursor>) = (Vec::new(), None);
    loop {
        let page = store.users(filter.clone(), sort, 2, after).await.unwrap();
        names.extend(page.iter().map(|(user, _)| user.name.clone()));
        match page.into_iter().nth(1) {
            Some((_, place)) => after = Some(place),
            None => return names,
        }
    }
}

#[tokio::test]
async fn users_are_filtered_sorted_and_paged() {
    on_each_database(async |store| {
        for (i, name) in ["cleo", "ada", "bob", "dan", "eve"].into_iter().enumerate() {
            add(store, name, if name == "eve" { &["editor"] } else { &[] }, i as i64).await;
        }
        let all = UserFilter::default;
        assert_eq!(change(store, "dan", UserChange::Disabled(Some(5))).await, ChangeUserOutcome::Done);
        assert_eq!(names(store, all(), UserSort::Name).await, ["ada", "bob", "cleo", "dan", "eve"]);
        assert_eq!(names(store, all(), UserSort::Newest).await, ["eve", "dan", "bob", "ada", "cleo"]);
        let text = |text: &str| UserFilter { text: text.to_owned(), ..all() };
        assert_eq!(names(store, text("e"), UserSort::Name).await, ["cleo", "eve"]);
        assert_eq!(names(store, text("%"), UserSort::Name).await, [""; 0]);
        let of = UserFilter { role: Some("editor".to_owned()), ..all() };
        assert_eq!(names(store, of, UserSort::Name).await, ["eve"]);
        let of = UserFilter { disabled: Some(true), ..all() };
        assert_eq!(names(store, of, UserSort::Name).await, ["dan"]);
        let foreign = ListCursor { key: "x".to_owned(), id: "y".to_owned() };
        assert!(store.users(all(), UserSort::Newest, 2, Some(foreign)).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn last_administrator_cannot_be_removed() {
    on_each_database(async |store| {
        add(store, "ada", &["admin"], 1).await;
        add(store, "bob", &["admin", "editor"], 2).await;
        add(store, "cleo", &[], 3).await;
        assert_eq!(change(store, "nobody", UserChange::EndSessions).await, ChangeUserOutcome::Unknown);
        let demote = || UserChange::Roles(vec!["editor".to_owned()]);
        // Of two administrators who demote each other at once, one remains.
        let both = futures::join!(change(store, "ada", demote()), change(store, "bob", demote()));
        assert_eq!([both.0, both.1], [ChangeUserOutcome::Done, ChangeUserOutcome::LastAdmin]);
        for last in [UserChange::Disabled(Some(5)), UserChange::Delete, demote()] {
            assert_eq!(change(store, "bob", last.clone()).await, ChangeUserOutcome::LastAdmin, "{last:?}");
        }
        assert_eq!(change(store, "cleo", UserChange::Roles(vec!["admin".to_owned()])).await, ChangeUserOutcome::Done);
        // A disabled administrator does not count.
        assert_eq!(change(store, "cleo", UserChange::Disabled(Some(5))).await, ChangeUserOutcome::Done);
        assert_eq!(change(store, "bob", UserChange::Delete).await, ChangeUserOutcome::LastAdmin);
        assert_eq!(change(store, "cleo", UserChange::Disabled(None)).await, ChangeUserOutcome::Done);
        assert_eq!(change(store, "bob", UserChange::Delete).await, ChangeUserOutcome::Done);
        // Refused changes have no row.
        let rows = store.audit_list(AuditFilter::default(), 100, None).await.unwrap();
        assert_eq!(rows.len(), 5);
        assert!(store.verify_audit(None).await.unwrap().is_ok());
    })
    .await;
}

#[tokio::test]
async fn deleting_a_user_keeps_only_usage_and_audit_rows() {
    on_each_database(async |store| {
        add(store, "ada", &[], 1).await;
        turn(store, "c", "m", None, 1).await;
        store.append_steps(vec![step("ada", "c", DAY, 0.5)]).await.unwrap();
        assert!(store.add_folder("ada", Folder::new("f", "Work"), 1).await.unwrap());
        store.begin_invocation("ada", "i", "agent", 1).await.unwrap();
        // Only a user whose deletion has begun is deleted.
        assert!(!store.delete_user("ada").await.unwrap());
        assert_eq!(change(store, "ada", UserChange::Delete).await, ChangeUserOutcome::Done);
        assert_eq!(store.users_to_delete().await.unwrap(), ["ada"]);
        assert_eq!(change(store, "ada", UserChange::Disabled(None)).await, ChangeUserOutcome::Unknown);
        assert!(!store.delete_user("ada").await.unwrap(), "a conversation is left");
        let left = store.conversations_to_delete("ada", 10).await.unwrap();
        assert_eq!(left.iter().map(|left| left.id.as_str()).collect::<Vec<_>>(), ["c"]);
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert!(store.delete_user("ada").await.unwrap());
        assert!(store.user_by_id("ada").await.unwrap().is_none());
        assert_eq!(store.conversations("ada", ListFilter::default(), 10, None).await.unwrap(), []);
        assert_eq!(store.folders("ada").await.unwrap(), []);
        assert!(store.invocations("ada", 10).await.unwrap().is_empty());
        let used = store
            .total_usage(&UsageFilter { user_id: Some("ada".to_owned()), ..UsageFilter::days(0, 1) })
            .await
            .unwrap();
        assert_eq!((used.messages, used.steps, used.cost_usd, used.saved_usd), (2, 1, 0.5, 0.125));
    })
    .await;
}

/// Returns the ids, page by page.
async fn ids(store: &Store, filter: ConversationFilter, sort: ConversationSort) -> String {
    let (mut ids, mut after): (Vec<String>, Option<ListCursor>) = (Vec::new(), None);
    loop {
        let page = store.all_conversations(filter.clone(), sort, 2, after).await.unwrap();
        ids.extend(page.iter().map(|(line, _)| line.id.clone()));
        match page.into_iter().nth(1) {
            Some((_, place)) => after = Some(place),
            None => return ids.join(" "),
        }
    }
}

#[tokio::test]
async fn all_conversations_are_filtered_sorted_and_paged() {
    on_each_database(async |store| {
        for (i, id) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
            turn(store, id, &format!("m{id}"), None, DAY * (i as i64 + 1)).await;
            store.append_steps(vec![step("ada", id, DAY, f64::from(id.as_bytes()[0] % 3))]).await.unwrap();
        }
        let epoch = begin(store, "b", "again", Some("a-mb"), DAY * 9).await;
        let failed = store::FinishRun { status: Outcome::Failed, ..end("again", epoch, DAY * 9) };
        store.finish_run(failed).await.unwrap();
        let down = Some(Feedback { rating: Rating::Down, reason: None });
        store.set_feedback("ada", "c", "a-mc", down, 1).await.unwrap();
        let rated = async |filter| {
            let days = store.ratings_by_day(&filter).await.unwrap();
            days.iter().map(|rated| (rated.day, rated.ratings.up, rated.ratings.down)).collect::<Vec<_>>()
        };
        let first_day = || UsageFilter::days(0, 1);
        assert_eq!(rated(first_day()).await, [(0, 0, 1)]);
        assert_eq!(rated(UsageFilter { agent_id: Some("other".to_owned()), ..first_day() }).await, []);
        assert_eq!(rated(UsageFilter { user_id: Some("bob".to_owned()), ..first_day() }).await, []);
        assert_eq!(rated(UsageFilter::days(1, 9)).await, []);
        let all = ConversationFilter::default;
        assert_eq!(ids(store, all(), ConversationSort::Newest).await, "b e d c a");
        assert_eq!(ids(store, all(), ConversationSort::Oldest).await, "a c d e b");
        // 97 % 3 = 1, then 2, 0, 1, 2.
        assert_eq!(ids(store, all(), ConversationSort::Cost).await, "e b d a c");
        let check = async |filter: ConversationFilter, expected: &str| {
            assert_eq!(ids(store, filter.clone(), ConversationSort::Newest).await, expected, "{filter:?}");
        };
        check(ConversationFilter { owner: Some("ada".to_owned()), ..all() }, "b e d c a").await;
        check(ConversationFilter { owner: Some("bob".to_owned()), ..all() }, "").await;
        check(ConversationFilter { agent_id: Some("agent".to_owned()), ..all() }, "b e d c a").await;
        check(ConversationFilter { from: Some(DAY * 3), to: Some(DAY * 5), ..all() }, "d c").await;
        check(ConversationFilter { failed: true, ..all() }, "b").await;
        check(ConversationFilter { rating: Some(RatingFilter::Down), ..all() }, "c").await;
        check(ConversationFilter { rating: Some(RatingFilter::Up), ..all() }, "").await;
        check(ConversationFilter { min_cost: Some(2.0), ..all() }, "b e").await;
        check(ConversationFilter { text: "text of md".to_owned(), ..all() }, "d").await;
        check(ConversationFilter { text: "\" OR *".to_owned(), ..all() }, "").await;
        check(ConversationFilter { text: "***".to_owned(), ..all() }, "").await;
        store.set_feedback("ada", "c", "a-mc", None, 1).await.unwrap();
        check(ConversationFilter { rating: Some(RatingFilter::Down), ..all() }, "").await;
    })
    .await;
}

#[tokio::test]
async fn usage_is_summed_by_day_and_survives_deletion() {
    on_each_database(async |store| {
        turn(store, "c", "one", None, DAY).await;
        let epoch = begin(store, "c", "two", Some("a-one"), DAY * 2).await;
        store.finish_run(store::FinishRun { status: Outcome::Failed, ..end("two", epoch, DAY * 2) }).await.unwrap();
        store.append_steps(vec![step("ada", "c", DAY, 0.25), step("bob", "x", DAY * 2, 0.5)]).await.unwrap();
        store.begin_invocation("bob", "i", "other", DAY * 2).await.unwrap();
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        let days = store.usage_by_day(&UsageFilter::days(1, 2)).await.unwrap();
        let seen: Vec<_> = days
            .iter()
            .map(|day| (day.day, day.totals.messages, day.totals.users, day.totals.failures, day.totals.cost_usd))
            .collect();
        assert_eq!(seen, [(1, 1, 1, 0, 0.25), (2, 2, 2, 1, 0.5)]);
        let total = store.total_usage(&UsageFilter::days(1, 2)).await.unwrap();
        assert_eq!((total.messages, total.users, total.steps, total.input_tokens), (3, 2, 2, 20.0));
        let agents = store.usage_by_agent(&UsageFilter::days(1, 2)).await.unwrap();
        assert_eq!(agents.iter().map(|agent| agent.agent_id.as_str()).collect::<Vec<_>>(), ["agent", "other"]);
        let models = store.usage_by_model(&UsageFilter::days(1, 2)).await.unwrap();
        let models: Vec<_> =
            models.iter().map(|used| (used.steps, used.users, used.input_tokens, used.cost_usd)).collect();
        assert_eq!(models, [(2, 2, 20.0, 0.75)]);
        let users = store.usage_by_user(&UsageFilter::days(1, 2)).await.unwrap();
        let users: Vec<_> = users.iter().map(|user| (user.user_id.as_str(), user.totals.cost_usd)).collect();
        assert_eq!(users, [("bob", 0.5), ("ada", 0.25)]);
        let of = |agent: Option<&str>, user: Option<&str>| UsageFilter {
            agent_id: agent.map(str::to_owned),
            user_id: user.map(str::to_owned),
            ..UsageFilter::days(1, 2)
        };
        let messages = async |filter| store.total_usage(&filter).await.unwrap().messages;
        assert_eq!(messages(of(Some("agent"), None)).await, 2);
        assert_eq!(messages(of(Some("agent"), Some("bob"))).await, 0);
        assert_eq!(messages(of(None, Some("bob"))).await, 1);
        let asked = async |filter| {
            store.usage_by_model(&filter).await.unwrap().iter().map(|used| used.cost_usd).collect::<Vec<_>>()
        };
        assert_eq!(asked(of(Some("agent"), Some("bob"))).await, [0.5]);
        assert_eq!(asked(of(Some("other"), None)).await, [0.0; 0]);
        assert_eq!(asked(UsageFilter::days(2, 2)).await, [0.5]);
        assert_eq!(store.usage_by_day(&of(Some("other"), None)).await.unwrap().len(), 1);
        assert_eq!(store.total_usage(&UsageFilter::days(3, 9)).await.unwrap().messages, 0);
    })
    .await;
}
