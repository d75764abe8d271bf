//! Graceful shutdown: SIGTERM or Ctrl-C drains the server, a second signal exits at once.

use tokio_util::sync::CancellationToken;

/// Returns a token that the first signal cancels; the second signal ends the process.
pub(crate) fn on_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let stopping = token.clone();
    tokio::spawn(async move {
        wait_for_signal().await;
        tracing::info!("draining; send the signal again to exit at once");
        stopping.cancel();
        wait_for_signal().await;
        #[expect(clippy::exit, reason = "the operator asked twice")]
        std::process::exit(130);
    });
    token
}

async fn wait_for_signal() {
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
