//! Kills the process at many moments while browsers subscribe.

use super::*;
use test_process::{command, run};

const URL: &str = "NOTIFICATIONS_KILL_URL";
const TEST: &str = "tests::kill::a_browser_is_never_lost_or_known_twice_however_often_the_server_is_killed";
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

/// Checks what holds at each moment; returns the number of browsers.
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

#[test]
fn a_browser_is_never_lost_or_known_twice_however_often_the_server_is_killed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(url) = std::env::var_os(URL) {
        return runtime.block_on(serve(url.to_str().unwrap()));
    }
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    let took = run(command(TEST, URL, url("whole.db")), None).unwrap();
    let killed = url("killed.db");
    let (mut kills, mut least) = (0, 0);
    for moment in 1..8 {
        kills += u32::from(run(command(TEST, URL, &killed), Some(took * moment / 8)).is_none());
        let count = runtime.block_on(check(&killed));
        assert!(count >= least, "a browser is lost");
        least = count;
    }
    run(command(TEST, URL, &killed), None).unwrap();
    assert_eq!(runtime.block_on(check(&killed)), MOST as usize);
    assert!(kills > 0, "each process was done before it was to be killed");
}
