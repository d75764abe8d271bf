//! Keys that are published at an address (RFC 7517): kept, and asked for again when they get old or a token names one that is not
//! there. How often they are asked for does not depend on what tokens say.

use super::keys::{SigningKey, matching, of_set};
use anyhow::{Context, anyhow, ensure};
use arc_swap::ArcSwap;
use egress::{Egress, Request};
use http::{HeaderMap, HeaderValue, Method, header};
use jsonwebtoken::Algorithm;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// The least time between two requests for the keys: a token with a made-up key's name costs nobody more.
pub(super) const FLOOR: Duration = Duration::from_secs(5);
/// After this, the keys are asked for again: one that was taken away must end some time.
const FRESH: Duration = Duration::from_secs(600);
/// For as long, they are used although nobody can be asked.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// For one request.
const TIME: Duration = Duration::from_secs(5);
/// Bytes of a set of keys.
const MAX_BYTES: usize = 256 * 1024;

/// The keys at an address.
pub(super) struct Published {
    url: Url,
    egress: Egress,
    held: ArcSwap<Held>,
    /// When they were asked for last; held while they are.
    asked: Mutex<Option<Instant>>,
}

/// The keys as they were when they came.
#[derive(Default)]
struct Held {
    keys: Vec<SigningKey>,
    /// None: never yet.
    came: Option<Instant>,
}

impl Held {
    fn is_younger_than(&self, age: Duration) -> bool {
        self.came.is_some_and(|came| came.elapsed() < age)
    }
}

impl Published {
    pub(super) fn new(url: &Url, allow_private: bool) -> anyhow::Result<Self> {
        let egress = Egress::new(allow_private).map_err(|error| anyhow!(error))?;
        Ok(Self { url: url.clone(), egress, held: ArcSwap::default(), asked: Mutex::default() })
    }

    /// As [`super::keys::Keys::find`].
    pub(super) async fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<Vec<SigningKey>> {
        let held = self.held.load_full();
        let found = matching(&held.keys, algorithm, id);
        if !found.is_empty() && held.is_younger_than(FRESH) {
            return Some(found);
        }
        self.ask(&held).await;
        let held = self.held.load_full();
        held.is_younger_than(STALE).then(|| matching(&held.keys, algorithm, id))
    }

    /// Asks for the keys, unless that was done a moment ago: also by somebody else while this one waited.
    async fn ask(&self, seen: &Arc<Held>) {
        let mut asked = self.asked.lock().await;
        let is_changed = !Arc::ptr_eq(&self.held.load_full(), seen);
        if is_changed || asked.is_some_and(|at| at.elapsed() < FLOOR) {
            return;
        }
        *asked = Some(Instant::now());
        match self.load().await {
            Ok(keys) => self.held.store(Arc::new(Held { keys, came: Some(Instant::now()) })),
            Err(error) => tracing::error!(%error, "the keys that sign tokens (`jwksUrl`) could not be read"),
        }
    }

    async fn load(&self) -> anyhow::Result<Vec<SigningKey>> {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/json"))]);
        let (url, body) = (self.url.clone(), None);
        let request = Request { method: Method::GET, url, headers, body, time: TIME, max_bytes: MAX_BYTES };
        let answer = self.egress.send(request).await?;
        ensure!(answer.status == 200, "the answer has the status {}", answer.status);
        let keys = of_set(&answer.body).context("the answer is no set of keys")?;
        ensure!(!keys.is_empty(), "there is no key for RS256, ES256 or EdDSA");
        Ok(keys)
    }
}
