//! Downloads files that people have sent.

use super::ApiError;
use egress::{Egress, EgressError, EgressRequest, EgressResponse};
use http::{HeaderMap, Method};
use std::time::Duration;
use url::Url;

/// The largest file that is downloaded, in bytes: what Telegram lets bots download.
const MAX_DOWNLOAD: usize = 20 << 20;
/// The timeout of a download.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The mail that was fetched for one of its files and contains the other files as well.
#[derive(Debug, Default)]
pub(crate) struct OpenedMail(pub(crate) Option<(String, Vec<u8>)>);

/// Returns the largest size of a file, in bytes.
///
/// # Errors
/// The messenger says that the file is larger.
pub(crate) fn size_limit(most: u64, size: Option<u64>) -> Result<usize, ApiError> {
    let most = usize::try_from(most).unwrap_or(MAX_DOWNLOAD).min(MAX_DOWNLOAD);
    if size.is_some_and(|size| size > most as u64) { Err(ApiError::too_large()) } else { Ok(most) }
}

/// Gets a file of at most `most` bytes; the caller reads the status.
pub(crate) async fn get_file(
    egress: &Egress,
    url: Url,
    headers: HeaderMap,
    most: usize,
) -> Result<EgressResponse, ApiError> {
    let request = EgressRequest { method: Method::GET, url, headers, body: None, timeout: TIMEOUT, max_bytes: most };
    egress.send(request).await.map_err(|error| match error {
        EgressError::TooLarge(_) => ApiError::too_large(),
        error => ApiError::Unavailable(error.to_string()),
    })
}
