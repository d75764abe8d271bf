//! The tables, on each kind of database.

use crate::keep;
use crate::store::{self, Ending, Experiment, Given, NewCase, NewVerdict, Put, ResultRow, Settings, State};
use ::store::sql::query;
use ::store::{Schema, Store};
use evaluation::CaseResult;
use serde_json::{Value, json};
use std::time::Duration;

async fn stores() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(Schema::new(&[store::TABLES]).open(&url, "", Duration::ZERO).await.unwrap());
    }
    stores
}

/// Stores a dataset `d`.
async fn add_dataset(store: &Store) {
    let dataset =
        store::Dataset { id: "d".to_owned(), ..keep::new_dataset("D".to_owned(), "a".to_owned(), "admin".to_owned()) };
    let write = store.write(move |db| Box::pin(async move { store::insert_dataset(db, &dataset).await }));
    assert!(write.await.unwrap());
}

fn case(row: &str, id: &str, owner: &str, is_masked: bool) -> NewCase {
    NewCase {
        id: row.to_owned(),
        case_id: id.to_owned(),
        owner: owner.to_owned(),
        source: (!owner.is_empty()).then(|| ("c".to_owned(), format!("m-{id}"))),
        is_masked,
        created_by: "admin".to_owned(),
        created_at: 7,
        content: json!({ "id": id, "input": row }),
    }
}

async fn put(store: &Store, case: NewCase, replaces: bool) -> Put {
    if replaces {
        put_all(store, "d", vec![case]).await
    } else {
        store.write(|db| Box::pin(async move { store::add_case(db, "d", case).await })).await.unwrap()
    }
}

async fn put_all(store: &Store, dataset: &'static str, cases: Vec<NewCase>) -> Put {
    store.write(move |db| Box::pin(async move { store::put_cases(db, dataset, cases).await })).await.unwrap()
}

/// Returns the rows of a version.
async fn rows(store: &Store, version: i64) -> Vec<String> {
    let rows = store::cases_of_version(store, "d", version).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn versions_of_a_dataset_stay_as_they_were() {
    for store in stores().await {
        add_dataset(&store).await;
        assert_eq!(put(&store, case("1", "x", "", false), true).await, Put::Stored);
        assert_eq!(put(&store, case("2", "y", "ada", true), false).await, Put::Stored);
        assert_eq!(put(&store, case("3", "y", "ada", true), false).await, Put::Known("2".to_owned()), "kept already");
        assert_eq!(put(&store, case("4", "x", "", false), true).await, Put::Stored, "it replaces row 1");
        let write = store.write(|db| Box::pin(async move { store::remove_case(db, "d", "y", 9).await }));
        assert!(write.await.unwrap());
        let dataset = store::dataset(&store, "d").await.unwrap().unwrap();
        assert_eq!((dataset.version, dataset.cases), (5, 1));
        let versions = [rows(&store, 1).await, rows(&store, 2).await, rows(&store, 3).await, rows(&store, 4).await];
        assert_eq!(versions, [vec![], vec!["1"], vec!["1", "2"], vec!["4", "2"]]);
        let current: Vec<_> = store::current_cases(&store, "d").await.unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(current, ["4"]);
        assert_eq!(put(&store, case("5", "y", "ada", true), false).await, Put::Stored, "it was removed before");
        assert_eq!(put_all(&store, "none", vec![case("6", "z", "", false)]).await, Put::Gone);
        store.close().await;
    }
}

#[tokio::test]
async fn cases_that_are_stored_together_make_one_version() {
    for store in stores().await {
        add_dataset(&store).await;
        let cases = vec![case("1", "x", "", false), case("2", "y", "", false), case("3", "x", "", false)];
        assert_eq!(put_all(&store, "d", cases).await, Put::Stored);
        assert_eq!(rows(&store, 2).await, ["3", "2"], "the second `x` replaces the first");
        let dataset = store::dataset(&store, "d").await.unwrap().unwrap();
        assert_eq!((dataset.version, dataset.cases), (2, 2));

        // 4,998 more fill it. Replacing a case is possible then, another one is not.
        let many = (0..4_998).map(|id| case(&format!("many-{id}"), &format!("id-{id}"), "", false)).collect();
        assert_eq!(put_all(&store, "d", many).await, Put::Stored);
        assert_eq!(put(&store, case("4", "z", "", false), true).await, Put::Full);
        assert_eq!(put(&store, case("5", "z", "ada", true), false).await, Put::Full);
        assert_eq!(put(&store, case("6", "x", "", false), true).await, Put::Stored);
        let dataset = store::dataset(&store, "d").await.unwrap().unwrap();
        assert_eq!((dataset.version, dataset.cases), (4, 5_000), "what was refused has changed nothing");
        store.close().await;
    }
}

#[tokio::test]
async fn cases_of_a_user_who_withdraws_meanwhile_are_not_stored_again() {
    for store in stores().await {
        add_dataset(&store).await;
        store::set_consent(&store, "ada", true, 1).await.unwrap();
        assert_eq!(put(&store, case("1", "x", "ada", false), false).await, Put::Stored);
        assert_eq!(put(&store, case("2", "x", "ada", false), true).await, Put::Stored, "an administrator edits it");

        // An administrator keeps an answer while the user withdraws: the case is deleted, or it is not stored as it is.
        let (reached, wait) = tokio::sync::oneshot::channel();
        let (go_on, waiting) = tokio::sync::oneshot::channel::<()>();
        let keep = store.write(move |db| {
            Box::pin(async move {
                assert!(store::hold_consent(db, "ada").await?);
                let _ = reached.send(());
                let _ = waiting.await;
                store::add_case(db, "d", case("3", "y", "ada", false)).await
            })
        });
        let withdraw = async {
            wait.await.unwrap();
            let withdrawal = store::set_consent(&store, "ada", false, 2);
            let (_, withdrawn) = tokio::join!(async { go_on.send(()) }, withdrawal);
            withdrawn.unwrap();
        };
        let (kept, ()) = tokio::join!(keep, withdraw);
        assert_eq!(kept.unwrap(), Put::Stored);
        assert!(store::current_cases(&store, "d").await.unwrap().is_empty());

        let held = store.write(|db| Box::pin(async move { store::hold_consent(db, "ada").await }));
        assert!(!held.await.unwrap());
        assert_eq!(put(&store, case("4", "x", "ada", false), true).await, Put::Gone, "the edit comes too late");

        // Since the withdrawal, the answer was kept again, masked. An edit of the case as it was must not replace that.
        assert_eq!(put(&store, case("5", "x", "ada", true), false).await, Put::Stored);
        assert_eq!(put(&store, case("6", "x", "ada", false), true).await, Put::Gone, "the user has not agreed");
        assert_eq!(put(&store, case("7", "x", "bob", true), true).await, Put::Gone, "the case is another user's");
        let left = store::current_cases(&store, "d").await.unwrap();
        assert_eq!(left.iter().map(|row| (row.id.as_str(), row.is_masked)).collect::<Vec<_>>(), [("5", true)]);
        assert_eq!(put(&store, case("8", "x", "ada", true), true).await, Put::Stored, "the masked case can be edited");
        store.close().await;
    }
}

#[tokio::test]
async fn a_withdrawal_during_an_edit_deletes_what_the_edit_has_stored() {
    for store in stores().await {
        add_dataset(&store).await;
        store::set_consent(&store, "ada", true, 1).await.unwrap();
        assert_eq!(put(&store, case("1", "x", "ada", false), false).await, Put::Stored);
        // The transaction of the edit has done everything but its commit when the user withdraws.
        let (reached, wait) = tokio::sync::oneshot::channel();
        let (go_on, waiting) = tokio::sync::oneshot::channel::<()>();
        let edit = store.write(move |db| {
            Box::pin(async move {
                let put = store::put_cases(db, "d", vec![case("2", "x", "ada", false)]).await?;
                let _ = reached.send(());
                let _ = waiting.await;
                Ok(put)
            })
        });
        let withdraw = async {
            wait.await.unwrap();
            let withdrawal = store::set_consent(&store, "ada", false, 2);
            let (_, withdrawn) = tokio::join!(async { go_on.send(()) }, withdrawal);
            withdrawn.unwrap();
        };
        let (edited, ()) = tokio::join!(edit, withdraw);
        assert_eq!(edited.unwrap(), Put::Stored);
        assert!(store::current_cases(&store, "d").await.unwrap().is_empty());
        assert_eq!(rows(&store, 2).await, Vec::<String>::new(), "no version has the case");
        store.close().await;
    }
}

fn experiment(id: &str, state: State) -> Experiment {
    Experiment {
        id: id.to_owned(),
        name: "E".to_owned(),
        dataset_id: Some("d".to_owned()),
        dataset_version: Some(1),
        settings: Settings { agents: vec!["a".to_owned()], repeat: 1, max_cost_usd: Some(0.5), ..Settings::default() },
        configs: vec!["a".to_owned()],
        fingerprint: "f".to_owned(),
        state,
        job_id: None,
        total: 2,
        done: 0,
        estimate_usd: None,
        spent_usd: 0.0,
        summary: Vec::new(),
        cause: None,
        created_by: "admin".to_owned(),
        created_at: 1,
        ended_at: None,
        decision: None,
    }
}

fn result(case: &str, passed: bool) -> ResultRow {
    let result: Value = json!({
        "config": "a", "case": case, "repeat": 0, "passed": passed, "scores": [], "answer": "x", "tools": [],
        "conversationId": "c", "inputTokens": 1, "outputTokens": 2, "costUsd": 0.25, "judgeCostUsd": 0.0, "seconds": 1.0,
    });
    ResultRow::Result(
        Box::new(serde_json::from_value::<CaseResult>(result).unwrap()),
        Some(format!("recording of {case}")),
    )
}

async fn append(store: &Store, rows: Vec<(ResultRow, String)>) {
    let write = store.write(move |db| Box::pin(async move { store::append(db, "e", rows, Some(0.5)).await }));
    write.await.unwrap();
}

#[tokio::test]
async fn results_are_kept_and_a_later_one_replaces_an_earlier_one() {
    for store in stores().await {
        add_dataset(&store).await;
        let new = experiment("e", State::Running);
        store.write(move |db| Box::pin(async move { store::insert(db, &new).await })).await.unwrap();
        append(&store, vec![(result("x", false), String::new()), (result("y", true), "ada".to_owned())]).await;
        append(&store, vec![(result("x", true), String::new())]).await;
        let kept = store::results(&store, "e").await.unwrap();
        assert_eq!(kept.results.iter().map(|result| result.passed).collect::<Vec<_>>(), [true, true]);
        let found = store::experiment(&store, "e").await.unwrap().unwrap();
        assert_eq!(
            (found.done, found.spent_usd, found.estimate_usd),
            (2, 0.75, Some(0.5)),
            "what was replaced was paid"
        );
        let recording = store::recordings_of(&store, "e", "a", "y").await.unwrap();
        assert_eq!(recording.as_deref(), Some("recording of y"));

        // It has no job any more, so nobody would end it.
        assert_eq!(store::end_abandoned(&store, 5).await.unwrap(), 1);
        let found = store::experiment(&store, "e").await.unwrap().unwrap();
        assert_eq!((found.state, found.ended_at), (State::Stopped, Some(5)));
        let decision = store::Decision {
            is_adopted: false,
            note: "No.".to_owned(),
            decided_by: "admin".to_owned(),
            decided_at: 6,
        };
        let decided = decision.clone();
        let decide = async |decision: store::Decision, replaces: Option<i64>| {
            let write =
                store.write(move |db| Box::pin(async move { store::decide(db, "e", &decision, replaces).await }));
            write.await.unwrap()
        };
        assert!(decide(decided, None).await);
        // A decision can only be replaced by an administrator who has seen it.
        let other = store::Decision { is_adopted: true, decided_at: 7, ..decision.clone() };
        assert!(!decide(other.clone(), None).await && !decide(other.clone(), Some(5)).await);
        assert!(decide(other, Some(6)).await && decide(decision.clone(), Some(7)).await);
        let write = store.write(|db| {
            Box::pin(async move { store::end(db, "e", Ending::incomplete(State::Failed, "late"), 9).await })
        });
        assert!(!write.await.unwrap(), "it has ended");
        let found = store::experiment(&store, "e").await.unwrap().unwrap();
        assert_eq!((found.state, found.decision), (State::Stopped, Some(decision)));
        store.close().await;
    }
}

#[tokio::test]
async fn withdrawing_consent_deletes_unmasked_cases_and_their_results() {
    for store in stores().await {
        add_dataset(&store).await;
        store::set_consent(&store, "ada", true, 1).await.unwrap();
        assert!(store::has_consent(&store, "ada").await.unwrap() && !store::has_consent(&store, "bob").await.unwrap());
        for (row, owner, is_masked) in [("1", "ada", false), ("2", "ada", true), ("3", "bob", false), ("4", "", false)]
        {
            assert_eq!(put(&store, case(row, &format!("case-{row}"), owner, is_masked), false).await, Put::Stored);
        }
        let new = experiment("e", State::Done);
        store.write(move |db| Box::pin(async move { store::insert(db, &new).await })).await.unwrap();
        let of = |row: &str, owner: &str| (result(&format!("case-{row}"), true), owner.to_owned());
        append(&store, vec![of("1", "ada"), of("2", "ada"), of("3", "bob"), of("4", "")]).await;
        store::set_consent(&store, "ada", false, 2).await.unwrap();
        assert!(!store::has_consent(&store, "ada").await.unwrap());
        let left: Vec<_> = store::current_cases(&store, "d").await.unwrap().into_iter().map(|row| row.id).collect();
        assert_eq!(left, ["2", "3", "4"]);
        let results: Vec<_> =
            store::results(&store, "e").await.unwrap().results.into_iter().map(|result| result.case).collect();
        assert_eq!(results, ["case-2", "case-3", "case-4"]);
        store
            .write(|db| Box::pin(async move { Ok(query("DELETE FROM eval_datasets").execute(db).await?) }))
            .await
            .unwrap();
        assert!(store::experiment(&store, "e").await.unwrap().is_none(), "experiments go with their dataset");
        store.close().await;
    }
}

/// Stores a person's verdict on the answer to the case `x`, which they have read in a conversation.
async fn say(store: &Store, person: &'static str, liked: Option<bool>, conversation: &str) -> Given {
    let new = NewVerdict {
        config: "a".to_owned(),
        case: "x".to_owned(),
        repeat: 0,
        liked,
        conversation_id: Some(conversation.to_owned()),
    };
    let by = (person.to_owned(), 7);
    store.write(move |db| Box::pin(async move { store::give_verdict(db, "e", by, new).await })).await.unwrap()
}

#[tokio::test]
async fn verdicts_are_about_the_answer_that_was_read() {
    for store in stores().await {
        add_dataset(&store).await;
        let new = experiment("e", State::Running);
        store.write(move |db| Box::pin(async move { store::insert(db, &new).await })).await.unwrap();
        assert_eq!(say(&store, "admin", Some(true), "c").await, Given::Gone, "there is no result yet");
        append(&store, vec![(result("x", false), "ada".to_owned()), (result("y", true), String::new())]).await;
        let said = async || {
            let all = store::results(&store, "e").await.unwrap().verdicts;
            assert_eq!(store::results_of_case(&store, "e", "x").await.unwrap().verdicts, all);
            assert!(store::results_of_case(&store, "e", "y").await.unwrap().verdicts.is_empty());
            all.iter().map(|verdict| format!("{} {}", verdict.person, verdict.liked)).collect::<Vec<_>>()
        };
        assert_eq!(say(&store, "admin", Some(true), "c").await, Given::Stored);
        assert_eq!(say(&store, "bob", Some(true), "c").await, Given::Stored);
        assert_eq!(said().await, ["admin true", "bob true"]);
        // Each person has one verdict, which they can change and withdraw.
        assert_eq!(say(&store, "admin", Some(false), "c").await, Given::Stored);
        assert_eq!(say(&store, "bob", None, "c").await, Given::Stored);
        assert_eq!(said().await, ["admin false"]);

        // The case is evaluated again: nobody has read the new answer yet.
        let ResultRow::Result(mut again, recording) = result("x", true) else { panic!("it is a result") };
        again.conversation_id = "d".to_owned();
        append(&store, vec![(ResultRow::Result(again, recording), "ada".to_owned())]).await;
        assert_eq!(said().await, Vec::<String>::new());
        assert_eq!(say(&store, "bob", Some(true), "c").await, Given::Replaced);
        assert_eq!(say(&store, "bob", Some(true), "d").await, Given::Stored);
        assert_eq!(said().await, ["bob true"]);

        // Verdicts go with the result, here since the case is not in the dataset.
        store.write(|db| Box::pin(async move { store::delete_orphaned(db, "e").await })).await.unwrap();
        assert_eq!(say(&store, "bob", Some(true), "d").await, Given::Gone);
        let count = query("SELECT count(*) AS verdicts FROM experiment_verdicts");
        let row = store.read(|db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap();
        assert_eq!(row.try_get::<i64>("verdicts").unwrap(), 0);
        store.close().await;
    }
}
