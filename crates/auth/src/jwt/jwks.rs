//! A cache of the JSON Web Key Set at a URL (RFC 7517). It is refreshed when it gets old or when a
//! token names an unknown key, but only at a limited rate.

use super::keys::{SigningKey, keys_from_jwks, matching_keys};
use super::pace::RequestPace;
use anyhow::{Context, anyhow, ensure};
use arc_swap::ArcSwap;
use egress::{Egress, EgressRequest};
use http::{HeaderMap, HeaderValue, Method, header};
use jsonwebtoken::Algorithm;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// The keys are refreshed after this time, so that a removed key becomes invalid.
const MAX_AGE: Duration = Duration::from_secs(600);
/// How long old keys are used if the URL cannot be reached.
const MAX_STALE: Duration = Duration::from_secs(24 * 3600);
/// Timeout for a request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The limit on a key set in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The cached keys of a URL.
pub(super) struct JwksCache {
    url: Url,
    egress: Egress,
    cached: ArcSwap<CachedKeys>,
    /// Locked during a request.
    pace: Mutex<RequestPace>,
}

/// The keys of the last successful request.
#[derive(Default)]
struct CachedKeys {
    keys: Vec<SigningKey>,
    /// `None` if there was none yet.
    loaded_at: Option<Instant>,
}

impl CachedKeys {
    fn is_younger_than(&self, age: Duration) -> bool {
        self.loaded_at.is_some_and(|came| came.elapsed() < age)
    }
}

impl JwksCache {
    pub(super) fn new(url: &Url, allow_private: bool) -> anyhow::Result<Self> {
        let egress = Egress::new(allow_private).map_err(|error| anyhow!(error))?;
        Ok(Self { url: url.clone(), egress, cached: ArcSwap::default(), pace: Mutex::default() })
    }

    /// Returns the matching keys, see [`super::keys::KeySource::find`].
    pub(super) async fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<Vec<SigningKey>> {
        let held = self.cached.load_full();
        let found = matching_keys(&held.keys, algorithm, id);
        if !found.is_empty() && held.is_younger_than(MAX_AGE) {
            return Some(found);
        }
        // Only the request that begins a refresh waits for it. Otherwise all users would wait while the server of the keys
        // does not answer.
        if !found.is_empty() && held.is_younger_than(MAX_STALE) && self.pace.try_lock().is_err() {
            return Some(found);
        }
        self.refresh(&held).await;
        let held = self.cached.load_full();
        held.is_younger_than(MAX_STALE).then(|| matching_keys(&held.keys, algorithm, id))
    }

    /// Refreshes the keys, unless that was done recently, for example by another task while this
    /// one waited.
    async fn refresh(&self, seen: &Arc<CachedKeys>) {
        let mut pace = self.pace.lock().await;
        let is_changed = !Arc::ptr_eq(&self.cached.load_full(), seen);
        if is_changed || !pace.allows_request() {
            return;
        }
        match pace.run(self.fetch()).await {
            Ok(keys) => self.cached.store(Arc::new(CachedKeys { keys, loaded_at: Some(Instant::now()) })),
            Err(error) => tracing::error!(url = %self.url, %error, "cannot load the keys for verifying tokens"),
        }
    }

    async fn fetch(&self) -> anyhow::Result<Vec<SigningKey>> {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/json"))]);
        let (url, body) = (self.url.clone(), None);
        let request = EgressRequest { method: Method::GET, url, headers, body, timeout: TIMEOUT, max_bytes: MAX_BYTES };
        let answer = self.egress.send(request).await?;
        ensure!(answer.status == 200, "the response has status {}", answer.status);
        let keys = keys_from_jwks(&answer.body).context("the response is not a JSON Web Key Set")?;
        ensure!(!keys.is_empty(), "the set has no key for RS256, ES256 or EdDSA");
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::DecodingKey;
    use tokio::time::{advance, timeout};

    #[tokio::test(start_paused = true)]
    async fn tokens_with_known_keys_do_not_wait_for_the_refresh_of_another_request() {
        let cache = JwksCache::new(&Url::parse("https://keys.test/").unwrap(), false).unwrap();
        let key = DecodingKey::from_secret(b"key");
        let keys = vec![SigningKey { id: Some("known".to_owned()), algorithm: Algorithm::EdDSA, key }];
        cache.cached.store(Arc::new(CachedKeys { keys, loaded_at: Some(Instant::now()) }));
        let check = async |id: &str, expected: Option<usize>| {
            let found = timeout(TIMEOUT, cache.find(Algorithm::EdDSA, Some(id))).await;
            assert_eq!(found.ok().map(|keys| keys.map_or(0, |keys| keys.len())), expected, "{id}");
        };
        let _refresh = cache.pace.lock().await;
        advance(MAX_AGE).await;
        check("known", Some(1)).await;
        check("unknown", None).await;
        advance(MAX_STALE).await;
        check("known", None).await;
    }
}
