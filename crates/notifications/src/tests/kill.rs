//! Kills the process at many moments while browsers subscribe, and while addresses are asked for and confirmed.

use super::waiting::{announced, teller, with_browsers};
use super::*;
use capability::{TellOfWaiting, WaitingKind};
use std::sync::{Arc, RwLock};
use test_process::KillTest;
use test_store::open;

const KILLS: KillTest = KillTest {
    variable: "NOTIFICATIONS_KILL_URL",
    test: "tests::kill::a_browser_is_never_lost_or_known_twice_however_often_the_server_is_killed",
};
const TIMES: i64 = 60;
/// The most browsers of the user.
const MOST: u32 = 5;

/// Subscribes with seven browsers in turn; each time, one of them is new or known.
async fn serve(url: &str) {
    let store = open(&[TABLES], url).await;
    for at in 0..TIMES {
        let new =
            browser(&uuid::Uuid::now_v7().simple().to_string(), "ada", &format!("https://push.test/{}", at % 7), at);
        store::add(&store, new, MOST).await.unwrap();
    }
    store.close().await;
}

/// Checks the invariants; returns the number of browsers.
async fn check(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let browsers = store::list(&store, "ada").await.unwrap();
    let mut endpoints: Vec<_> = browsers.iter().map(|browser| browser.endpoint.as_str()).collect();
    endpoints.sort_unstable();
    endpoints.dedup();
    assert_eq!(endpoints.len(), browsers.len());
    assert!(browsers.len() <= MOST as usize);
    store.close().await;
    browsers.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_never_lost_or_known_twice_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(MOST as usize, check).await;
}

const EMAIL_KILLS: KillTest = KillTest {
    variable: "NOTIFICATIONS_EMAIL_KILL_URL",
    test: "tests::kill::an_address_is_confirmed_only_with_its_own_token_however_often_the_server_is_killed",
};

/// Asks for addresses of ten users on different days, and confirms each second one.
async fn serve_emails(url: &str) {
    let store = open(&[TABLES], url).await;
    // No process asks twice on a day, also if the one before it worked on the same database.
    for at in (0..TIMES).map(|at| at + i64::from(std::process::id()) * TIMES) {
        let (owner, token) = (format!("user{}", at % 10), uuid::Uuid::now_v7().simple().to_string());
        let (asker, asked) = (owner.clone(), token.clone());
        let ask = store.write(move |db| {
            Box::pin(async move { emails::ask(db, &asker, &format!("{asked}@a.test"), &asked, day(at)).await })
        });
        assert!(ask.await.unwrap());
        if at % 2 == 0 {
            assert!(emails::confirm(&store, &owner, &token, day(at)).await.unwrap());
        }
    }
    store.close().await;
}

/// Checks the invariants; returns the number of users with an address.
async fn check_emails(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let mut known = 0;
    for at in 0..10 {
        let Some(found) = emails::find(&store, &format!("user{at}")).await.unwrap() else { continue };
        assert_eq!(found.address, Some(format!("{}@a.test", found.token)));
        known += 1;
    }
    store.close().await;
    known
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_confirmed_only_with_its_own_token_however_often_the_server_is_killed() {
    if let Some(url) = EMAIL_KILLS.url() {
        return serve_emails(&url).await;
    }
    EMAIL_KILLS.run(10, check_emails).await;
}

const WAITING_KILLS: KillTest = KillTest {
    variable: "NOTIFICATIONS_WAITING_KILL_URL",
    test: "tests::kill::people_are_told_of_all_that_is_stored_however_often_the_server_is_killed",
};

/// Stores things that begin to wait, each in one transaction with what tells people of it.
async fn serve_waiting(url: &str) {
    let store = open(&[TABLES], url).await;
    let teller = teller(&store, &Arc::new(RwLock::new(with_browsers())));
    for at in 0..TIMES {
        let (owner, teller) = (format!("user{at}"), teller.clone());
        if emails::find(&store, &owner).await.unwrap().is_some() {
            continue;
        }
        let begin = store.write(move |db| {
            Box::pin(async move {
                emails::ask(db, &owner, "someone@a.test", &owner, day(at)).await?;
                teller.begins(db, WaitingKind::Task, &owner).await
            })
        });
        begin.await.unwrap();
    }
    store.close().await;
}

/// Checks that people are notified of exactly the stored items; returns their number.
async fn check_waiting(url: &str) -> usize {
    let store = open(&[TABLES], url).await;
    let mut known = 0;
    for at in 0..TIMES {
        known += usize::from(emails::find(&store, &format!("user{at}")).await.unwrap().is_some());
    }
    assert_eq!(announced(&store).await, known);
    store.close().await;
    known
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_told_of_all_that_is_stored_however_often_the_server_is_killed() {
    if let Some(url) = WAITING_KILLS.url() {
        return serve_waiting(&url).await;
    }
    WAITING_KILLS.run(TIMES as usize, check_waiting).await;
}
