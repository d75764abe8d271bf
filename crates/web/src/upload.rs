//! Uploads of several files in one request.

use axum::extract::Multipart;
use std::time::Duration;
use tokio::time::timeout;

/// How long the rest of a refused upload is read.
const REST: Duration = Duration::from_secs(20);

/// Reads the rest of an upload that is refused, within the limit of the route: many clients read the answer only
/// after they have sent everything, and see a broken connection if it is closed before.
pub async fn read_rest(upload: &mut Multipart) {
    let rest = async { while let Ok(Some(_)) = upload.next_field().await {} };
    // A slow client learns from the closed connection that it was refused.
    let _ = timeout(REST, rest).await;
}
