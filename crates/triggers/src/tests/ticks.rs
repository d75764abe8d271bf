//! Cron triggers.

use super::{TestServer, on_each_database};
use crate::ticks::Ticker;
use jiff::SignedDuration;
use serde_json::{Value, json};

fn hourly(missed: &str) -> Value {
    json!([{ "id": "tick", "type": "cron", "cron": "0 * * * *", "missed": missed, "runAs": { "roles": ["billing"] } }])
}

#[tokio::test]
async fn each_tick_starts_one_run_on_any_number_of_servers() {
    on_each_database(async |store| {
        let servers = [TestServer::new(store, hourly("once")), TestServer::new(store, hourly("once"))];
        let tickers = servers.each_ref().map(|server| Ticker::new(server.triggers.clone()));
        // Three hours, in which both look every ten minutes.
        for _ in 0..18 {
            for (server, ticker) in servers.iter().zip(&tickers) {
                server.pass(SignedDuration::from_mins(10));
                ticker.look().await.unwrap();
            }
        }
        let expected: Vec<_> = ["01", "02", "03"]
            .map(|hour| {
                let input = json!({ "scheduledAt": format!("2026-01-01T{hour}:00:00Z"), "late": false });
                json!({ "of": "trigger:invoices/tick", "roles": ["billing"], "input": input })
            })
            .into();
        assert_eq!(servers[0].runs().await, expected);
    })
    .await;
}

#[tokio::test]
async fn ticks_that_no_server_saw_are_made_up_for_by_policy() {
    let check = async |missed: &str, expected: &[&str]| {
        on_each_database(async |store| {
            let before = TestServer::new(store, hourly(missed));
            Ticker::new(before.triggers.clone()).look().await.unwrap();
            let after = TestServer::new(store, hourly(missed));
            after.set_clock("2026-01-01T03:30:00Z");
            let ticker = Ticker::new(after.triggers.clone());
            ticker.look().await.unwrap();
            ticker.look().await.unwrap();
            let late: Vec<_> = after.inputs().await.iter().map(|input| input["scheduledAt"].clone()).collect();
            assert_eq!(late, expected, "{missed}");
            assert!(after.inputs().await.iter().all(|input| input["late"] == true));
            after.set_clock("2026-01-01T04:00:01Z");
            ticker.look().await.unwrap();
            assert_eq!(after.runs().await.len(), expected.len() + 1, "{missed}");
        })
        .await;
    };
    check("skip", &[]).await;
    check("once", &["2026-01-01T03:00:00Z"]).await;
    check("all", &["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"]).await;
}

#[tokio::test]
async fn clock_that_jumps_runs_no_tick_twice() {
    on_each_database(async |store| {
        let server = TestServer::new(store, hourly("all"));
        let ticker = Ticker::new(server.triggers.clone());
        ticker.look().await.unwrap();
        let check = async |at: &str, runs: usize| {
            server.set_clock(at);
            ticker.look().await.unwrap();
            assert_eq!(server.runs().await.len(), runs, "{at}");
        };
        check("2026-01-01T02:00:00Z", 2).await;
        // A few hours ahead, back, and on from there.
        check("2026-01-01T05:00:00Z", 5).await;
        check("2026-01-01T02:30:00Z", 5).await;
        check("2026-01-01T03:00:00Z", 5).await;
        check("2026-01-01T06:00:00Z", 6).await;
    })
    .await;
}

#[tokio::test]
async fn changed_schedule_begins_anew() {
    on_each_database(async |store| {
        let server = TestServer::new(store, hourly("all"));
        let ticker = Ticker::new(server.triggers.clone());
        ticker.look().await.unwrap();
        server.set_clock("2026-01-01T00:50:00Z");
        let every_minute =
            json!([{ "id": "tick", "type": "cron", "cron": "* * * * *", "missed": "all", "runAs": { "roles": [] } }]);
        server.configure(every_minute);
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), 0, "the minutes before are not those of this schedule");
        server.set_clock("2026-01-01T00:52:00Z");
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), 2);
        server.configure(json!([]));
        server.set_clock("2026-01-01T03:00:00Z");
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), 2, "it is not in the config any more");
    })
    .await;
}

#[tokio::test]
async fn tick_that_is_left_out_is_shown() {
    on_each_database(async |store| {
        let servers = [TestServer::new(store, hourly("once")), TestServer::new(store, hourly("once"))];
        let tickers = servers.each_ref().map(|server| Ticker::new(server.triggers.clone()));
        for ticker in &tickers {
            ticker.look().await.unwrap();
        }
        for (server, ticker) in servers.iter().zip(&tickers) {
            *server.host.is_full.lock() = true;
            server.set_clock("2026-01-01T01:00:00Z");
            ticker.look().await.unwrap();
        }
        let expected =
            ["failed 2026-01-01T01:00:00Z The tick is left out: too many runs of the trigger have not ended."];
        assert_eq!(servers[0].outcomes("tick").await, expected);
    })
    .await;
}
