//! Kills the process at many moments while browsers subscribe.

use super::*;
use test_process::KillTest;

const KILLS: KillTest = KillTest {
    variable: "NOTIFICATIONS_KILL_URL",
    test: "tests::kill::a_browser_is_never_lost_or_known_twice_however_often_the_server_is_killed",
};
const TIMES: i64 = 60;
/// The most browsers of the user.
const MOST: u32 = 5;

async fn open(url: &str) -> Store {
    Schema::new(&[TABLES]).open(url, "", Duration::from_secs(10)).await.unwrap()
}

/// Subscribes with seven browsers in turn; each time, one of them is new or known.
async fn serve(url: &str) {
    let store = open(url).await;
    for at in 0..TIMES {
        let new =
            browser(&uuid::Uuid::now_v7().simple().to_string(), "ada", &format!("https://push.test/{}", at % 7), at);
        store::add(&store, new, MOST).await.unwrap();
    }
    store.close().await;
}

/// Checks the invariants; returns the number of browsers.
async fn check(url: &str) -> usize {
    let store = open(url).await;
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
