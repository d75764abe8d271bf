//! Rate limits of the config, per user and per client address.

use super::Credentials;
use super::forwarded::Forwarded;
use axum::http::Method;
use config::{AuthMode, Config, RateLimit, RateLimitKey, RateLimitTarget};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use metrics::counter;
use parking_lot::RwLock;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The limit on clients that a rate limit tracks. Beyond it, clients with a full budget are
/// removed; if that is not enough, all are.
const MAX_CLIENTS: usize = 50_000;

/// The rate limits of the config with their counts.
pub struct RateLimits {
    limiters: Vec<Arc<Limiter>>,
    forwarded: Forwarded,
}

/// A client that is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LimitedClient {
    /// A user, by id.
    User(String),
    /// A network address; see [`crate::client_network`].
    Address(IpAddr),
}

/// A rate limit with its counts.
pub(super) struct Limiter<C: Clock = DefaultClock> {
    rate: RateLimit,
    quota: Quota,
    clock: C,
    counts: RwLock<Counts<C>>,
}

type Counts<C> = RateLimiter<LimitedClient, HashMapStateStore<LimitedClient>, C, NoOpMiddleware<<C as Clock>::Instant>>;

impl RateLimits {
    /// Creates the rate limits of a config. A limit that existed `before` keeps its counts.
    pub fn new(config: &Config, before: Option<&Self>) -> Self {
        let known = |rate: &RateLimit| before?.limiters.iter().find(|limiter| limiter.rate == *rate).cloned();
        let limiter =
            |rate: &RateLimit| known(rate).unwrap_or_else(|| Arc::new(Limiter::new(rate, DefaultClock::default())));
        let mut proxies = config.trusted_proxies.clone();
        // A proxy that is trusted to name users is trusted to name addresses.
        if let AuthMode::Proxy(proxy) = &config.auth.mode {
            proxies.extend(&proxy.trusted_proxies);
        }
        Self { limiters: config.rate_limits.iter().map(limiter).collect(), forwarded: Forwarded::new(proxies) }
    }

    /// Returns the address that a request comes from: that of the peer, or the one that trusted
    /// proxies name.
    pub fn address(&self, sent: &Credentials) -> Option<IpAddr> {
        self.forwarded.address(sent.peer(), &sent.forwarded_for())
    }

    /// Returns whether a trusted proxy recently sent an unreadable `X-Forwarded-For`.
    pub fn has_unreadable_proxy(&self) -> bool {
        self.forwarded.is_unreadable()
    }

    /// Counts a request of a user whom only the route identifies.
    ///
    /// # Errors
    /// The number of seconds after which to try again.
    pub fn count_user(&self, method: &Method, path: &str, user_id: &str) -> Result<(), u32> {
        self.count(method, path, &LimitedClient::User(user_id.to_owned())).inspect_err(|_| count_refusal(path))
    }

    /// Whether the config has no rate limit.
    pub fn is_empty(&self) -> bool {
        self.limiters.is_empty()
    }

    /// Counts a request in all limits that apply to it.
    ///
    /// # Errors
    /// The number of seconds after which to try again.
    pub fn count(&self, method: &Method, path: &str, counted: &LimitedClient) -> Result<(), u32> {
        let what = targets_of(method, path);
        let per = match counted {
            LimitedClient::User(_) => RateLimitKey::User,
            LimitedClient::Address(_) => RateLimitKey::Address,
        };
        let fits = |rate: &RateLimit| rate.per == per && what.contains(&rate.target);
        let fitting = self.limiters.iter().filter(|limiter| fits(&limiter.rate));
        fitting.filter_map(|limiter| limiter.count(counted).err()).max().map_or(Ok(()), Err)
    }
}

impl<C: Clock + Clone> Limiter<C> {
    pub(super) fn new(rate: &RateLimit, clock: C) -> Self {
        // The config guarantees at least one request and one second.
        let requests = NonZeroU32::new(rate.requests).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(rate.window / requests.get());
        let quota = quota.unwrap_or(Quota::per_second(requests)).allow_burst(requests);
        let counts = RwLock::new(RateLimiter::hashmap_with_clock(quota, clock.clone()));
        Self { rate: rate.clone(), quota, clock, counts }
    }

    pub(super) fn count(&self, counted: &LimitedClient) -> Result<(), u32> {
        if self.counts.read().len() >= MAX_CLIENTS {
            self.evict();
        }
        let refused = self.counts.read().check_key(counted).err();
        let Some(refused) = refused else { return Ok(()) };
        let wait = refused.wait_time_from(self.clock.now());
        Err(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1))
    }

    fn evict(&self) {
        let mut counts = self.counts.write();
        counts.retain_recent();
        if counts.len() >= MAX_CLIENTS {
            *counts = RateLimiter::hashmap_with_clock(self.quota, self.clock.clone());
        }
    }
}

/// Returns whether the path is that of a static file, which needs no identity and counts for no
/// rate limit.
pub fn is_static_file(path: &str) -> bool {
    path.starts_with("/pkg/") || path.starts_with("/assets/")
}

/// Returns the targets of rate limits that a request counts for; none for static files.
fn targets_of(method: &Method, path: &str) -> &'static [RateLimitTarget] {
    if is_static_file(path) || path == "/embed.js" {
        return &[];
    }
    if method == Method::GET && is_provider_sign_in(path) {
        return &[RateLimitTarget::All, RateLimitTarget::SignIn];
    }
    // The server may send such a message later, without a request.
    if method == Method::PUT && path.starts_with("/api/message-queues/") {
        return &[RateLimitTarget::All, RateLimitTarget::Chat];
    }
    if method != Method::POST {
        return &[RateLimitTarget::All];
    }
    match path.split('/').skip(1).collect::<Vec<_>>()[..] {
        // Each of them asks a model.
        ["api", "agent", _, _]
        | ["api", "runs", "invoke"]
        | ["api", "conversations", _, "suggestions"]
        | ["api", "transcriptions"]
        | ["v1", "chat", "completions"]
        | ["v1", "responses"]
        | ["ag-ui" | "a2a", _]
        | ["ui", "send"] => &[RateLimitTarget::All, RateLimitTarget::Chat],
        ["api", "endpoints", ..] | ["remote-agent", "tools", _] => &[RateLimitTarget::All, RateLimitTarget::Endpoints],
        // The operation of a message is in its body.
        ["mcp"] => &[RateLimitTarget::All, RateLimitTarget::Chat, RateLimitTarget::Endpoints],
        ["auth", "sign-in" | "sign-up" | "invitation" | "first-admin" | "password" | "new-password"] => {
            &[RateLimitTarget::All, RateLimitTarget::SignIn]
        }
        ["auth", "openid-connect", _, "link"] | ["auth", "second-step" | "two-step", ..] => {
            &[RateLimitTarget::All, RateLimitTarget::SignIn]
        }
        _ => &[RateLimitTarget::All],
    }
}

/// Returns whether a path leads to a provider or back, which asks the provider.
pub fn is_provider_sign_in(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/auth/openid-connect/") else { return false };
    matches!(rest.split_once('/'), None | Some((_, "callback")))
}

/// Counts and logs a refused request.
pub fn count_refusal(path: &str) {
    counter!("chatwright_rate_limited_total").increment(1);
    tracing::debug!(path, "a request exceeded a rate limit");
}

/// Returns the message for the client.
pub fn rate_limit_message(seconds: u32) -> String {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    format!("Too many requests. Try again in {seconds} {unit}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;
    use std::time::Duration;

    fn rate(requests: u32, seconds: u64) -> RateLimit {
        RateLimit {
            target: RateLimitTarget::Chat,
            per: RateLimitKey::User,
            requests,
            window: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn requests_over_the_limit_are_refused_until_refill() {
        let clock = FakeRelativeClock::default();
        let limiter = Limiter::new(&rate(3, 60), clock.clone());
        let one = |name: &str| limiter.count(&LimitedClient::User(name.to_owned()));
        let later = |seconds| clock.advance(Duration::from_secs(seconds));
        assert_eq!([one("ada"), one("ada"), one("ada")], [Ok(()); 3], "at it");
        assert!(one("ada").is_err_and(|wait| (20..=21).contains(&wait)), "above it");
        assert_eq!(one("bob"), Ok(()), "not others");
        later(19);
        assert!(one("ada").is_err_and(|wait| wait <= 2));
        later(2);
        assert_eq!(one("ada"), Ok(()), "one comes back after a third of the time");
        assert!(one("ada").is_err());
        for _ in 0..10 {
            later(20);
            assert_eq!(one("ada"), Ok(()), "below it");
        }
        later(60);
        assert_eq!([one("ada"), one("ada"), one("ada")], [Ok(()); 3], "all come back");
        assert!(one("ada").is_err());
    }

    #[test]
    fn number_of_tracked_clients_is_limited() {
        let clock = FakeRelativeClock::default();
        let limiter = Limiter::new(&rate(1, 60), clock.clone());
        for number in 0..MAX_CLIENTS as u32 + 10 {
            assert_eq!(limiter.count(&LimitedClient::Address(IpAddr::from(number.to_be_bytes()))), Ok(()));
        }
        assert!(limiter.counts.read().len() <= MAX_CLIENTS);
    }

    #[test]
    fn requests_map_to_rate_limit_targets() {
        let check = |method: Method, path: &str, expected: &[RateLimitTarget]| {
            assert_eq!(targets_of(&method, path), expected, "{path}")
        };
        check(Method::POST, "/api/agent/page/helper", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/api/agent/page/helper/c/stop", &[RateLimitTarget::All]);
        check(Method::GET, "/api/agent/page/helper/c/stream", &[RateLimitTarget::All]);
        check(Method::POST, "/ui/send", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::PUT, "/api/message-queues/c/m", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::DELETE, "/api/message-queues/c/m", &[RateLimitTarget::All]);
        check(Method::GET, "/api/message-queues/c", &[RateLimitTarget::All]);
        check(Method::POST, "/api/runs/invoke", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/api/conversations/c/suggestions", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/api/transcriptions", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        // A long answer is read in many parts, which its reading alone would make too many.
        check(Method::POST, "/api/conversations/c/speech", &[RateLimitTarget::All]);
        check(Method::POST, "/v1/chat/completions", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/v1/responses", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/ag-ui/helper", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/a2a/helper", &[RateLimitTarget::All, RateLimitTarget::Chat]);
        check(Method::POST, "/v1/responses/r/cancel", &[RateLimitTarget::All]);
        check(Method::POST, "/api/endpoints/page/save", &[RateLimitTarget::All, RateLimitTarget::Endpoints]);
        check(Method::POST, "/remote-agent/tools/search", &[RateLimitTarget::All, RateLimitTarget::Endpoints]);
        check(Method::GET, "/remote-agent/tools", &[RateLimitTarget::All]);
        check(Method::POST, "/mcp", &[RateLimitTarget::All, RateLimitTarget::Chat, RateLimitTarget::Endpoints]);
        check(Method::POST, "/auth/sign-in", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        // A change of the password asks for the old one, so it could be guessed there, too.
        check(Method::POST, "/auth/password", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::POST, "/auth/second-step", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::POST, "/auth/two-step/remove", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::GET, "/auth/sign-in", &[RateLimitTarget::All]);
        check(Method::GET, "/auth/openid-connect/a", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::GET, "/auth/openid-connect/a/callback", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::GET, "/auth/openid-connect/a/sign-out", &[RateLimitTarget::All]);
        check(Method::POST, "/auth/openid-connect/a/link", &[RateLimitTarget::All, RateLimitTarget::SignIn]);
        check(Method::GET, "/pkg/chatwright.css", &[]);
    }
}
