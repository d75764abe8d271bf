//! Tell, drop, wait: SIGTERM or Ctrl-C drains, a second one ends at once.

use tokio_util::sync::CancellationToken;

/// A token that is cancelled by the first signal; the second ends the process.
pub(crate) fn on_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let told = token.clone();
    tokio::spawn(async move {
        signal().await;
        tracing::info!("draining; signal again to end at once");
        told.cancel();
        signal().await;
        #[expect(clippy::exit, reason = "the operator asked twice")]
        std::process::exit(130);
    });
    token
}

async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}
