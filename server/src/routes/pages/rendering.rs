//! Bounds how many pages are rendered at once. Rendering is computation on the async workers, and a
//! page with a long conversation takes a good part of a second, so the workers must not all do it.

use crate::workers;
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// Half of the workers: the others go on with everything else.
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(workers() / 2));

/// Renders a page when there is room for it. Requests wait in the order of their arrival; a client that
/// leaves gives up its place.
pub(in crate::routes) async fn render<R: IntoResponse>(rendering: impl Future<Output = R>) -> Response {
    // The semaphore is never closed.
    let _permit = PERMITS.acquire().await;
    rendering.await.into_response()
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::workers;
    use futures::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[tokio::test]
    async fn half_of_the_workers_render_at_once() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let page = || {
            render(async {
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, SeqCst);
            })
        };
        join_all(std::iter::repeat_with(page).take(50)).await;
        assert_eq!(most.load(SeqCst), workers() / 2);
    }
}
