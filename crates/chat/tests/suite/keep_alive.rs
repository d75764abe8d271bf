//! Comments that keep the connection of an idle stream open.

use bytes::Bytes;
use chat::with_keep_alive;
use futures::StreamExt;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The comment.
const SIGN: &[u8] = b": keep-alive\n\n";
const SILENCE: Duration = Duration::from_secs(15);

/// Returns the times, in seconds, of the keep-alive comments within an idle period of the given
/// length.
async fn signs(seconds: u64) -> Vec<f64> {
    let frames = async_stream::stream! {
        yield Bytes::from_static(b"data: 1\n\n");
        sleep(Duration::from_secs(seconds)).await;
        yield Bytes::from_static(b"data: [DONE]\n\n");
    };
    let (begun, mut told, mut signs) = (Instant::now(), Vec::new(), Vec::new());
    let mut frames = with_keep_alive(frames.boxed(), SILENCE);
    while let Some(frame) = frames.next().await {
        if frame.as_ref() == SIGN { signs.push(begun.elapsed().as_secs_f64()) } else { told.push(frame) }
    }
    assert_eq!(told, [&b"data: 1\n\n"[..], b"data: [DONE]\n\n"]);
    signs
}

#[tokio::test(start_paused = true)]
async fn idle_stream_is_kept_alive() {
    assert_eq!(signs(11).await, [0.0; 0]);
    assert_eq!(signs(19).await.len(), 1);
    let signs = signs(200).await;
    assert!((11..=16).contains(&signs.len()), "{signs:?}");
    for pair in signs.windows(2) {
        assert!((11.9..=18.1).contains(&(pair[1] - pair[0])), "{signs:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn keep_alives_of_many_streams_are_spread() {
    let all = futures::future::join_all((0..200).map(|_| signs(19))).await;
    let first: Vec<_> = all.iter().map(|signs| signs[0]).collect();
    let within = |from: f64| first.iter().filter(|at| (from..from + 1.0).contains(*at)).count();
    let most = (12..18).map(|second| within(f64::from(second))).max().unwrap_or_default();
    assert!(most < 100, "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn frames_delay_the_next_keep_alive() {
    let frames = async_stream::stream! {
        for _ in 0..100 {
            sleep(Duration::from_secs(10)).await;
            yield Bytes::from_static(b"data: 1\n\n");
        }
    };
    assert_eq!(with_keep_alive(frames.boxed(), SILENCE).count().await, 100);
}
