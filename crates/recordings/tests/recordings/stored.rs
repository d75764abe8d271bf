//! The storage of recordings, on each kind of database.

use crate::agents::{Step, script, scripted, tools};
use crate::world::{Input, World};
use capability::language;
use insta::assert_snapshot;
use recordings::format::Recording;
use recordings::replay::Replayed;
use recordings::{NewReplay, keep_replay};
use store::sql::query_scalar;

impl World {
    async fn count(&self, table: &'static str) -> i64 {
        let count: std::sync::Arc<str> = format!("SELECT count(*) FROM {table}").into();
        let count = query_scalar::<i64>(count);
        self.store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
    }

    /// Records a run of a conversation whose model answers at once.
    async fn answer(&self, conversation: &str, run: &str) {
        self.begin(conversation, run).await;
        self.run(&scripted(script(&[], "Two."), tools()), conversation, run, Input::message("hello")).await;
    }
}

#[tokio::test]
async fn equal_values_of_a_conversation_are_stored_once_and_go_with_it() {
    for url in test_postgres::databases_of_each_kind().await {
        let world = World::open(&url, "on").await;
        world.answer("c", "run-1").await;
        let first = world.recording("run-1").await;
        let blobs = world.count("recording_blobs").await;
        world.answer("c", "run-2").await;
        let second = world.recording("run-2").await;
        assert_eq!(world.count("recording_blobs").await, blobs);
        assert_eq!(first.blobs, second.blobs);
        let of_answer = async |answer: &str| recordings::find_of_answer(&world.store, "c", answer).await.unwrap();
        assert_eq!(of_answer("a-run-1").await, std::slice::from_ref(&first));
        assert_eq!(of_answer("q-run-1").await, []);
        assert_eq!(recordings::find(&world.store, "c").await.unwrap(), [first, second]);
        world.answer("other", "run-3").await;
        world.recording("run-3").await;
        assert_eq!(world.count("recording_blobs").await, 2 * blobs);
        let listed: Vec<_> = recordings::list(&world.store).await.unwrap().into_iter().map(|it| it.run_id).collect();
        assert_eq!(listed.len(), 3);
        world.execute("DELETE FROM conversations WHERE id = 'c'").await;
        assert_eq!((world.count("recordings").await, world.count("recording_blobs").await), (1, blobs));
    }
}

#[tokio::test]
async fn kept_replays_belong_to_their_recording() {
    for url in test_postgres::databases_of_each_kind().await {
        let world = World::open(&url, "on").await;
        world.answer("c", "run-1").await;
        let recording = world.recording("run-1").await;
        let keep = async |recording: &Recording| {
            let replayed =
                Replayed { recording: recording.clone(), misses: Vec::new(), live_requests: 0, simulated: 0 };
            let replay =
                NewReplay { label: "next.yaml".to_owned(), created_by: "admin".to_owned(), from_step: 1, replayed };
            keep_replay(&world.store, replay, None).await.unwrap()
        };
        for _ in 0..52 {
            assert!(keep(&recording).await.is_some());
        }
        assert_eq!(world.count("recording_replays").await, 50, "the oldest are deleted");
        let mut unknown = recording.clone();
        unknown.header.run_id = "run-2".to_owned();
        assert!(keep(&unknown).await.is_none(), "there is no such recording");
        world.execute("DELETE FROM conversations WHERE id = 'c'").await;
        assert_eq!(world.count("recording_replays").await, 0);
    }
}

#[tokio::test]
async fn the_oldest_recordings_are_deleted_first() {
    for url in test_postgres::databases_of_each_kind().await {
        let world = World::open(&url, "on").await;
        for run in ["run-1", "run-2", "run-3"] {
            world.answer("c", run).await;
            world.recording(run).await;
        }
        // All three use the same blobs, which are as new as the newest.
        world.execute("UPDATE recordings SET recorded_at = 1, bytes = 100 WHERE run_id = 'run-1'").await;
        world.execute("UPDATE recordings SET recorded_at = 2, bytes = 100 WHERE run_id = 'run-2'").await;
        world.execute("UPDATE recordings SET recorded_at = 3, bytes = 100 WHERE run_id = 'run-3'").await;
        world.execute("UPDATE recording_blobs SET used_at = 3").await;
        let check = async |before: i64, total: i64, deleted: u64, left: i64, blobs: bool| {
            assert_eq!(recordings::purge(&world.store, before, total).await.unwrap(), deleted);
            assert_eq!(world.count("recordings").await, left, "{before} {total}");
            assert_eq!(world.count("recording_blobs").await > 0, blobs, "{before} {total}");
        };
        check(1, 300, 0, 3, true).await;
        check(1, 250, 1, 2, true).await;
        check(1, 250, 0, 2, true).await;
        check(3, 300, 1, 1, true).await;
        assert!(recordings::find(&world.store, "run-3").await.unwrap()[0].blobs.len() > 2);
        check(4, 300, 1, 0, false).await;
    }
}

#[tokio::test]
async fn recordings_of_one_time_are_counted_together() {
    const COPIES: &str = "
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
        INSERT INTO recordings
            (run_id, conversation_id, agent_id, recorded_at, ending, steps, tokens, bytes, header, blobs, entries)
        SELECT 'copy-' || i, conversation_id, agent_id, 1, ending, steps, tokens, 1, header, blobs, entries
        FROM recordings CROSS JOIN n";
    for url in test_postgres::databases_of_each_kind().await {
        let world = World::open(&url, "on").await;
        world.answer("c", "run-1").await;
        world.recording("run-1").await;
        world.execute("UPDATE recordings SET recorded_at = 2, bytes = 1").await;
        world.execute(COPIES).await;
        assert_eq!(recordings::purge(&world.store, 0, 601).await.unwrap(), 0);
        assert_eq!(recordings::purge(&world.store, 0, 600).await.unwrap(), 600);
        assert_eq!(world.count("recordings").await, 1);
    }
}

#[tokio::test]
async fn temporary_conversations_are_not_recorded() {
    for url in test_postgres::databases_of_each_kind().await {
        let world = World::open(&url, "on").await;
        world.answer("c", "run-1").await;
        world.recording("run-1").await;
        // A conversation that becomes temporary later shows none.
        world.execute("UPDATE conversations SET expires_at = 9 WHERE id = 'c'").await;
        assert_eq!(recordings::list(&world.store).await.unwrap(), []);
        assert_eq!(recordings::find(&world.store, "run-1").await.unwrap(), []);
        world.answer("c", "run-2").await;
        // This one is stored after it.
        world.answer("other", "run-3").await;
        world.recording("run-3").await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(world.count("recordings").await, 2);
    }
}

#[tokio::test]
async fn only_agents_with_the_key_are_recorded() {
    for (key, is_recorded) in
        [("on", true), ("true", true), ("off", false), ("{ sample: 1 }", true), ("{ sample: 0 }", false)]
    {
        let world = World::open("sqlite::memory:", key).await;
        world.answer("c", "run-1").await;
        if is_recorded {
            world.recording("run-1").await;
        } else {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            assert_eq!(world.count("recordings").await, 0, "{key}");
        }
    }
}

#[tokio::test]
async fn a_run_that_is_too_large_is_dropped_as_a_whole() {
    let world = World::in_memory().await;
    world.begin("c", "large").await;
    let agent = scripted(script(&[Step::Calls(vec![(0, 1)])], "Two."), tools());
    let outcome = world.run(&agent, "c", "large", Input::message(&"x".repeat(17 * 1024 * 1024))).await;
    assert!(matches!(outcome.ending, agent::Ending::Done));
    world.answer("c", "small").await;
    world.recording("small").await;
    assert_eq!(world.count("recordings").await, 1);
}

#[test]
fn mistakes_in_the_config_are_named_with_their_position() {
    let check = |record: &str, section: &str| {
        let text = format!(
            "connections: [{{ id: demo, type: Demo }}]\nrecordings: {section}\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    record: {record}\n"
        );
        match language(&[recordings::DEFINITION]).read_text(&text) {
            Ok((_, warnings)) => config::render(&warnings),
            Err(problems) => config::render_short(&problems),
        }
    };
    for record in ["on", "off", "sample", "true", "false", "{ sample: 0.25 }"] {
        assert_eq!(check(record, "{ keepDays: 7, runMegabytes: 4, totalMegabytes: 100 }"), "", "{record}");
    }
    assert_snapshot!(check("sometimes", "{}"), @r"
    chatwright.yaml:8:13: error: there is no value `sometimes`
       = help: one of `on`, `sample` and `off`
    ");
    assert_snapshot!(check("{ sample: 2 }", "{ keepDays: 0 }"), @r"
    chatwright.yaml:2:25: error: expected a number between 1 and 3650, found the number 0
    chatwright.yaml:8:23: error: expected a number between 0 and 1, found the number 2
    ");
}
