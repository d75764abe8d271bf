//! Renders pages outside the async workers, and bounds how many at once: rendering is computation, and a
//! page with a long conversation takes a good part of a second.

use crate::workers;
use axum::response::{IntoResponse, Response};
use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::Span;

/// Half of the processors: the others go on with everything else.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(workers() / 2)));

/// Renders a page when there is room for it, on a thread for blocking work. Requests wait in the order of their
/// arrival; a client that leaves before its page is begun gives up its place.
pub(in crate::routes) async fn render<R: IntoResponse>(
    rendering: impl Future<Output = R> + Send + 'static,
) -> Response {
    // The semaphore is never closed. A page that was begun keeps its place, also when the client leaves.
    let permit = PERMITS.clone().acquire_owned().await;
    let (runtime, span) = (Handle::current(), Span::current());
    let rendered = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        // I/O and spawned tasks still run on the workers; this thread only computes.
        span.in_scope(|| runtime.block_on(rendering).into_response())
    });
    // The task is never cancelled, so an error is a panic of the page: it is passed on to the request.
    rendered.await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::workers;
    use axum::http::StatusCode;
    use futures::future::{join, join_all};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[tokio::test]
    async fn half_of_the_workers_render_at_once() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let page = || {
            let (now, most) = (now.clone(), most.clone());
            render(async move {
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, SeqCst);
            })
        };
        join_all(std::iter::repeat_with(page).take(50)).await;
        assert!((1..=workers() / 2).contains(&most.load(SeqCst)), "{most:?}");
    }

    /// The only worker of this runtime would never get to the answers if it rendered the pages itself.
    #[tokio::test]
    async fn workers_go_on_while_pages_are_rendered() {
        let pages = (0..10).map(|page| {
            let (answer, wait) = channel();
            let rendered = render(async move {
                match wait.recv_timeout(Duration::from_secs(60)) {
                    Ok(()) => StatusCode::OK,
                    Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
                }
            });
            let other = async move {
                tokio::task::yield_now().await;
                answer.send(()).unwrap();
            };
            async move { (page, join(rendered, other).await.0.status()) }
        });
        let rendered = join_all(pages).await;
        assert!(rendered.iter().all(|(_, status)| status.is_success()), "{rendered:?}");
    }

    #[tokio::test]
    #[should_panic(expected = "the page is broken")]
    async fn panics_reach_the_request() {
        async fn broken() -> StatusCode {
            panic!("the page is broken")
        }
        render(broken()).await;
    }
}
