//! Runs: how many there may be, who watches them, and how they are stopped.

use super::*;

#[tokio::test]
async fn repeated_message_joins_the_same_run() {
    let test = TestChat::open(vec![text_reply("once")]).await;
    let first = test.ask(message("m1", "hi")).await;
    let again = test.ask(message("m1", "hi")).await;
    let text = |chunks: &[Chunk]| {
        chunks
            .iter()
            .filter_map(|chunk| if let Chunk::TextDelta { delta, .. } = chunk { Some(delta.as_str()) } else { None })
            .collect::<String>()
    };
    assert_eq!((text(&first), text(&again)), ("once".to_owned(), "once".to_owned()));
    assert_eq!(test.model.requests().len(), 1);
    assert_eq!(test.view().await.messages.len(), 2);
}

#[tokio::test]
async fn fifty_concurrent_sends_of_a_message_start_one_run() {
    let test = TestChat::open(vec![text_reply("once")]).await;
    let sends = (0..50).map(|_| test.send(message("m1", "hi")));
    let runs: Vec<_> = futures::future::join_all(sends).await.into_iter().map(|sent| sent.unwrap().run_id).collect();
    assert!(runs.iter().all(|run| *run == runs[0]));
    test.until_written("once").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((test.model.requests().len(), test.view().await.messages.len()), (1, 2));
}

/// An answer that starts and never ends.
fn endless() -> Vec<Cue> {
    let mut endless = text_reply("begun ");
    endless.truncate(2);
    endless.push(Cue::Silence);
    endless
}

/// More submissions than permits at the same moment: none starts between the check and the start of
/// another.
#[tokio::test]
async fn concurrent_runs_are_limited() {
    let (test, ada) = (TestChat::open((0..30).map(|_| endless()).collect()).await, ada());
    let ids: Vec<_> = (0..20).map(|number| format!("c{number}")).collect();
    let sends = ids.iter().map(|id| test.chat.send(&ada, request(id, message("m1", "hi"))));
    let sent = futures::future::join_all(sends).await;
    let refused: Vec<_> = sent.iter().filter_map(|sent| sent.as_ref().err()).collect();
    assert_eq!((refused.len(), test.chat.active_runs()), (12, 8));
    assert!(refused.iter().all(|error| error.code == ErrorCode::Unavailable && error.retry_after == Some(10)));
    // Refused submissions left nothing behind, and another run can start as soon as one has ended.
    let there = ids.iter().zip(&sent).find(|(_, sent)| sent.is_ok()).unwrap().0;
    let gone = ids.iter().zip(&sent).find(|(_, sent)| sent.is_err()).unwrap().0;
    assert_eq!(test.chat.conversation(&ada, gone).await.err().unwrap().code, ErrorCode::NotFound);
    test.chat.stop(&ada, there).await.unwrap();
    let begun = std::time::Instant::now();
    while test.chat.send(&ada, request(gone, message("m1", "hi"))).await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(test.chat.send(&ada, request("more", message("m1", "hi"))).await.is_err());
}

/// Of many submissions at once, the first 512 are processed, and the others are refused at once.
#[tokio::test]
async fn submissions_over_the_limit_are_refused_at_once() {
    let (test, ada) = (TestChat::open((0..8).map(|_| endless()).collect()).await, ada());
    let check = async |from: usize, rush: usize, expected: usize| {
        let ids: Vec<_> = (from..from + rush).map(|number| format!("c{number}")).collect();
        let sends = ids.iter().map(|id| test.chat.send(&ada, request(id, message("m1", "hi"))));
        let sent = futures::future::join_all(sends).await;
        let at_once = sent.iter().filter(|sent| sent.as_ref().is_err_and(|error| error.retry_after == Some(2)));
        assert_eq!(at_once.count(), expected, "{rush}");
    };
    check(0, 511, 0).await;
    check(1_000, 512, 0).await;
    check(2_000, 513, 1).await;
    check(3_000, 600, 88).await;
    assert_eq!(test.chat.active_runs(), 8);
}

#[tokio::test]
async fn second_run_is_refused_and_stop_keeps_the_partial_answer() {
    let test = TestChat::open(vec![endless(), text_reply("next")]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    let busy = test.send(message("m2", "and?")).await.err().unwrap();
    assert_eq!(busy.code, ErrorCode::Busy);
    test.until_written("begun ").await;
    test.chat.stop_if_active(&ada(), "c1", "another").await.unwrap();
    assert!(test.view().await.active.is_some(), "another run is stopped");
    test.chat.stop_if_active(&ada(), "c1", &sent.run_id).await.unwrap();
    let chunks = read(sent.frames).await;
    assert!(matches!(chunks.last(), Some(Chunk::Abort { .. })), "{chunks:?}");
    test.chat.stop(&ada(), "c1").await.unwrap();
    test.ask(message("m3", "go on")).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hi"
    Assistant "stopped": "begun "
    User null: "go on"
    Assistant "done": "next"
    "#);
}

#[tokio::test]
async fn watchers_see_the_same_stream_whenever_they_join() {
    let slow = text_reply("one two three four")
        .into_iter()
        .flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue])
        .collect();
    let test = TestChat::open(vec![slow]).await;
    let sent = test.send(message("m1", "count")).await.unwrap();
    test.until_written("one ").await;
    let late = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let after = test.chat.watch(&ada(), "c1", Some("1.4")).await.unwrap().unwrap();
    let foreign = test.chat.watch(&ada(), "c1", Some("7.4")).await.unwrap().unwrap();
    let unreadable = test.chat.watch(&ada(), "c1", Some("../x")).await.unwrap().unwrap();
    let (first, late, after) = futures::join!(read(sent.frames), read(late), read(after));
    assert_eq!(first, late);
    assert_eq!(first[4..], after);
    for gap in [foreign, unreadable] {
        assert_eq!(told(&read(gap).await), "data-gap\n");
    }
    assert!(test.chat.watch(&ada(), "c1", None).await.unwrap().is_none(), "the run is over");
}

#[tokio::test]
async fn drain_finishes_runs_and_refuses_new_ones() {
    let slow =
        text_reply("to the end").into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue]).collect();
    let test = TestChat::open(vec![slow]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    let (chunks, ()) = futures::join!(read(sent.frames), test.chat.shutdown(Duration::from_secs(5)));
    assert!(matches!(chunks.last(), Some(Chunk::Finish { .. })));
    let refused = test.send(message("m2", "more?")).await.err().unwrap();
    assert_eq!((refused.code, refused.retry_after.is_some()), (ErrorCode::Unavailable, true));
}

#[tokio::test]
async fn late_watchers_read_a_long_reply_from_the_journal() {
    let long: Vec<_> = std::iter::once(Cue::Part(Part::TextStart { id: "t".to_owned() }))
        .chain((0..4000).map(|n| Cue::Part(Part::TextDelta { id: "t".to_owned(), delta: format!("{n:0>100} ") })))
        .chain([Cue::Pause(Duration::from_millis(500))])
        .chain(text_reply("end"))
        .collect();
    let test = TestChat::open(vec![long]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let late = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let (first, late) = futures::join!(read(sent.frames), read(late));
    assert_eq!(first, late);
    assert!(first.len() > 4000);
    let view = test.view().await;
    let outcome = view.messages[1]
        .metadata
        .clone()
        .and_then(|metadata| serde_json::from_value::<wire::api::MessageMetadata>(metadata).ok());
    assert_eq!(outcome.and_then(|metadata| metadata.outcome), Some(Outcome::Done));
}
