//! Receives a page over HTTP.

use super::content;
use super::document::{BUSY, DocumentReader, MAX_DOCUMENT};
use super::hosts::Hosts;
use crate::urls;
use egress::{Egress, EgressError, EgressRequest, EgressResponse};
use http::Method;
use http::header::{ACCEPT, HeaderMap, HeaderValue, LOCATION};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use url::Url;

/// The largest page that is no document, in bytes after decompression.
const MAX_PAGE: usize = 5 << 20;
/// The most redirects.
const MAX_REDIRECTS: usize = 5;
/// The accepted media types. Some servers have Markdown for programs.
const ACCEPTED: &str =
    "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";

/// A page that was received.
#[derive(Debug)]
pub(crate) struct Received {
    /// The URL after all redirects.
    pub(crate) url: Url,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
    /// The place of a document, which may be larger than a page.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// Requests a page and follows redirects to hosts that are allowed. No cookies are kept or sent.
///
/// # Errors
/// A message for the model.
pub(super) async fn receive(
    egress: &Egress,
    hosts: &Hosts,
    documents: &DocumentReader,
    mut url: Url,
    time: Duration,
) -> Result<Received, String> {
    let end = Instant::now() + time;
    for _ in 0..=MAX_REDIRECTS {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(ACCEPTED))]);
        let timeout = end.saturating_duration_since(Instant::now());
        let (method, url_of, body) = (Method::GET, url.clone(), None);
        let request = EgressRequest { method, url: url_of, headers, body, timeout, max_bytes: MAX_DOCUMENT };
        let place = OnceLock::new();
        // More than a page is received only with a place.
        let limit =
            |content_type: Option<&str>| match content_type {
                Some(of_type) if content::may_be_document(of_type) => {
                    if place.get_or_init(|| documents.place()).is_some() { MAX_DOCUMENT } else { MAX_PAGE }
                }
                _ => MAX_PAGE,
            };
        let answer = egress.send_within(request, limit).await;
        let answer = answer.map_err(|error| match (&error, place.get()) {
            (EgressError::TooLarge(_), Some(None)) => BUSY.to_owned(),
            _ => describe(&error, time),
        })?;
        match redirect(&url, &answer)? {
            Some(next) => {
                hosts.check(&next)?;
                url = next;
            }
            None if (200..300).contains(&answer.status) => {
                let place = place.into_inner().flatten();
                return Ok(Received { url, content_type: answer.content_type, body: answer.body, place });
            }
            None => return Err(format!("The server answered with the status {}.", answer.status)),
        }
    }
    Err(format!("The page redirects more than {MAX_REDIRECTS} times."))
}

/// Returns where an answer redirects to.
fn redirect(url: &Url, answer: &EgressResponse) -> Result<Option<Url>, String> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = answer.headers.get(LOCATION).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let next = location.and_then(|location| url.join(location).ok()).ok_or("The page redirects to nowhere.")?;
    Ok(Some(urls::parse(next.as_str())?))
}

fn describe(error: &EgressError, time: Duration) -> String {
    match error {
        EgressError::TooLarge(most) => format!("The page is larger than {} MB.", most >> 20),
        EgressError::TimedOut(_) => format!("The page was not received within {} s.", time.as_secs()),
        EgressError::NotPublic => "The page has no public address.".to_owned(),
        EgressError::Unreachable => "The server cannot be reached.".to_owned(),
        EgressError::InvalidUrl | EgressError::Redirected => "The page cannot be fetched.".to_owned(),
    }
}
