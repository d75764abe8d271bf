//! Kills the process at many moments while messages are added to queues and sent.

use super::*;
use test_process::KillTest;

const KILLS: KillTest = KillTest {
    variable: "MESSAGE_QUEUE_KILL_URL",
    test: "tests::kill::each_queued_message_is_sent_once_however_often_the_server_is_killed",
};
const CONVERSATIONS: usize = 40;

async fn open(url: &str) -> Store {
    test_store::open(&[TABLES], url).await
}

/// Adds a message to the queue of each conversation, reserves and sends it. Continues where a killed process stopped.
async fn serve(url: &str) {
    let store = open(url).await;
    for number in 0..CONVERSATIONS {
        let (conversation, id) = (format!("c-{number}"), format!("q-{number}"));
        done(&store, &Turn { conversation: &conversation, key: "m", after: None, epoch: 1 }).await;
        match put(&store, "ada", &conversation, NewQueued { now: 10, ..new(&id, "Next") }).await.unwrap() {
            PutOutcome::Queued => {
                assert_eq!(due(&store, 10).await.as_ref(), Some(&id));
                // The reservation has ended by the time of the next attempt.
                assert!(claim(&store, &mut first_due(&store).await, 10, 10).await.unwrap());
            }
            outcome => assert_eq!(outcome, PutOutcome::Sent),
        }
        done(&store, &Turn { conversation: &conversation, key: &id, after: Some("a-m"), epoch: 2 }).await;
    }
    store.close().await;
}

/// Checks that a message is either in its queue or in its conversation; returns the number of those that were sent.
async fn check(url: &str) -> usize {
    let store = open(url).await;
    let mut sent = 0;
    for number in 0..CONVERSATIONS {
        let (conversation, id) = (format!("c-{number}"), format!("q-{number}"));
        let messages = store.messages("ada", &conversation).await.unwrap();
        let count = messages.iter().filter(|message| message.id == id).count();
        let waiting = list(&store, "ada", &conversation).await.unwrap().len();
        assert!(count + waiting <= 1, "{count} sent and {waiting} waiting in {conversation}");
        sent += count;
    }
    store.close().await;
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn each_queued_message_is_sent_once_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(CONVERSATIONS, check).await;
}
