//! Bounds how many files are read at the same time: each is in memory several times until its client has received it.

use axum::body::Body;
use axum::response::Response;
use chat::{PermitError, RunPermit, RunPermits};
use futures::{StreamExt, stream};
use std::sync::LazyLock;
use web::busy;
use wire::{ErrorCode, UserError};

/// The most files that are read at the same time. Each takes up to 20 MB of memory.
const MAX_AT_ONCE: usize = 16;
/// The most files that one user reads at the same time.
const MAX_OF_USER: usize = 2;
/// After how many seconds a user who reads too many may try again.
const RETRY_AFTER: u32 = 5;

static PERMITS: LazyLock<RunPermits> = LazyLock::new(|| RunPermits::new(MAX_AT_ONCE));

/// Returns a permit to read a file.
///
/// # Errors
/// [`ErrorCode::RateLimited`] while the user reads two files, and [`busy`] while all users read too many.
pub(crate) fn permit(user_id: &str) -> Result<RunPermit, UserError> {
    PERMITS.acquire(user_id, MAX_OF_USER, false).map_err(|refusal| match refusal {
        PermitError::UserFull => {
            let message =
                format!("You are reading {MAX_OF_USER} files already. Try again when one of them is complete.");
            UserError { retry_after: Some(RETRY_AFTER), ..UserError::new(ErrorCode::RateLimited, message) }
        }
        PermitError::Full | PermitError::NoMemory => busy(),
    })
}

/// Holds a permit until a response is complete, or its client has disconnected.
pub(crate) fn holding(response: Response, permit: RunPermit) -> Response {
    response.map(|body| {
        let frames = stream::unfold((body.into_data_stream(), permit), |(mut frames, permit)| async move {
            let frame = frames.next().await?;
            Some((frame, (frames, permit)))
        });
        Body::from_stream(frames)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::response::IntoResponse;

    #[tokio::test]
    async fn a_user_reads_two_files_at_a_time() {
        let read = |user: &str| permit(user).map(|permit| holding("content".into_response(), permit));
        let (first, second) = (read("ada").unwrap(), read("ada").unwrap());
        let refused = read("ada").unwrap_err();
        assert_eq!((refused.code, refused.retry_after), (ErrorCode::RateLimited, Some(RETRY_AFTER)));
        assert!(read("bob").is_ok(), "another user");
        assert_eq!(to_bytes(first.into_body(), usize::MAX).await.unwrap(), "content");
        let third = read("ada").expect("one is complete");
        assert!(read("ada").is_err());
        drop((second, third));
        assert!(read("ada").is_ok(), "its client has disconnected");
    }
}
