//! Limits how often each user and each address may ask, by the config's rates.

use super::Credentials;
use super::account_log::{AccountAction, recorded};
use super::forwarded::{Forwarded, network};
use super::password::Subject;
use crate::error::HttpError;
use crate::router::AppState;
use crate::routes::accounts::too_many;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat::Caller;
use config::{AuthMode, Config, Rate, RateOf, RatePer};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use metrics::counter;
use parking_lot::RwLock;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use wire::{ErrorCode, UserError};

/// Who is counted at once by one rate. Beyond it, those who have all their requests again are forgotten; if that is not enough, all are.
const MAX_COUNTED: usize = 50_000;

/// The config's rates, with what they have counted.
pub(crate) struct Rates {
    limiters: Vec<Arc<Limiter>>,
    forwarded: Forwarded,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    User(String),
    Address(IpAddr),
}

/// One rate.
pub(super) struct Limiter<C: Clock = DefaultClock> {
    rate: Rate,
    quota: Quota,
    clock: C,
    counts: RwLock<Counts<C>>,
}

type Counts<C> = RateLimiter<Counted, HashMapStateStore<Counted>, C, NoOpMiddleware<<C as Clock>::Instant>>;

impl Rates {
    /// A rate that was there `before` goes on counting.
    pub(crate) fn new(config: &Config, before: Option<&Self>) -> Self {
        let known = |rate: &Rate| before?.limiters.iter().find(|limiter| limiter.rate == *rate).cloned();
        let limiter =
            |rate: &Rate| known(rate).unwrap_or_else(|| Arc::new(Limiter::new(rate, DefaultClock::default())));
        let mut proxies = config.trusted_proxies.clone();
        // Who may say who a user is may say from where he comes.
        if let AuthMode::Proxy(proxy) = &config.auth.mode {
            proxies.extend(&proxy.trusted);
        }
        Self { limiters: config.rates.iter().map(limiter).collect(), forwarded: Forwarded::new(proxies) }
    }

    /// The address that a request comes from: the other end of the connection, or what trusted proxies name.
    pub(super) fn address(&self, sent: &Credentials) -> Option<IpAddr> {
        self.forwarded.address(sent.peer(), &sent.forwarded())
    }

    /// Whether the `X-Forwarded-For` of a trusted proxy could not be read a short while ago.
    pub(crate) fn has_unreadable_proxy(&self) -> bool {
        self.forwarded.is_unreadable()
    }

    /// Counts a request of a user who is named by what only its route looks at.
    ///
    /// # Errors
    /// In how many seconds to come again.
    pub(crate) fn count_user(&self, method: &Method, path: &str, user_id: &str) -> Result<(), u32> {
        self.count(asked(method, path), &Counted::User(user_id.to_owned())).inspect_err(|_| told(path))
    }

    /// Counts a request.
    ///
    /// # Errors
    /// In how many seconds to come again.
    fn count(&self, what: &[RateOf], counted: &Counted) -> Result<(), u32> {
        let per = match counted {
            Counted::User(_) => RatePer::User,
            Counted::Address(_) => RatePer::Address,
        };
        let fits = |rate: &Rate| rate.per == per && what.contains(&rate.what);
        let fitting = self.limiters.iter().filter(|limiter| fits(&limiter.rate));
        fitting.filter_map(|limiter| limiter.count(counted).err()).max().map_or(Ok(()), Err)
    }
}

impl<C: Clock + Clone> Limiter<C> {
    pub(super) fn new(rate: &Rate, clock: C) -> Self {
        // The config has checked that there is one request and one second or more.
        let requests = NonZeroU32::new(rate.requests).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(rate.span / requests.get());
        let quota = quota.unwrap_or(Quota::per_second(requests)).allow_burst(requests);
        let counts = RwLock::new(RateLimiter::hashmap_with_clock(quota, clock.clone()));
        Self { rate: rate.clone(), quota, clock, counts }
    }

    pub(super) fn count(&self, counted: &Counted) -> Result<(), u32> {
        if self.counts.read().len() >= MAX_COUNTED {
            self.make_room();
        }
        let refused = self.counts.read().check_key(counted).err();
        let Some(refused) = refused else { return Ok(()) };
        let wait = refused.wait_time_from(self.clock.now());
        Err(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1))
    }

    fn make_room(&self) {
        let mut counts = self.counts.write();
        counts.retain_recent();
        if counts.len() >= MAX_COUNTED {
            *counts = RateLimiter::hashmap_with_clock(self.quota, self.clock.clone());
        }
    }
}

/// What a request asks for; nothing for the files of the site.
fn asked(method: &Method, path: &str) -> &'static [RateOf] {
    if super::is_file(path) || path == "/embed.js" {
        return &[];
    }
    if method != Method::POST {
        return &[RateOf::All];
    }
    match path.split('/').skip(1).collect::<Vec<_>>()[..] {
        ["api", "agent", _, _] | ["api", "runs", "invoke"] | ["ui", "send"] => &[RateOf::All, RateOf::Chat],
        ["api", "endpoints", ..] | ["remote-agent", "tools", _] => &[RateOf::All, RateOf::Endpoints],
        ["auth", "sign-in" | "sign-up" | "first-admin"] => &[RateOf::All, RateOf::SignIn],
        _ => &[RateOf::All],
    }
}

/// Answers 429 when an address asks too often: before anybody is named, so that a key that is no good counts, too.
pub(crate) async fn bound_address(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let rates = state.composition.current.rates();
    if rates.limiters.is_empty() {
        return next.run(request).await;
    }
    let sent = Credentials::of(&request);
    let path = request.uri().path();
    let counted = rates.address(&sent).and_then(network).map(Counted::Address);
    match counted.map(|counted| rates.count(asked(request.method(), path), &counted)) {
        Some(Err(seconds)) => {
            record(&state, &sent, request.method(), path, None);
            too_often(seconds, path)
        }
        _ => next.run(request).await,
    }
}

/// Answers 429 when a user asks too often.
pub(crate) async fn bound_user(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let rates = state.composition.current.rates();
    let caller = request.extensions().get::<Caller>();
    let (Some(caller), false) = (caller, rates.limiters.is_empty()) else { return next.run(request).await };
    let path = request.uri().path();
    match rates.count(asked(request.method(), path), &Counted::User(caller.user_id.clone())) {
        Err(seconds) => {
            let user = Some(caller).filter(|caller| caller.is_authenticated);
            record(&state, &Credentials::of(&request), request.method(), path, user);
            too_often(seconds, path)
        }
        Ok(()) => next.run(request).await,
    }
}

/// Records in the audit log that an attempt to sign in, to sign up or to change a password was
/// refused.
fn record(state: &AppState, sent: &Credentials, method: &Method, path: &str, user: Option<&Caller>) {
    let action = match path {
        "/auth/sign-in" => AccountAction::SignIn,
        "/auth/sign-up" => AccountAction::SignUp,
        "/auth/first-admin" => AccountAction::FirstAccount,
        "/auth/password" => AccountAction::ChangePassword,
        _ => return,
    };
    let authentication = state.composition.current.authentication();
    let Some(accounts) = authentication.accounts().filter(|_| method == Method::POST) else { return };
    let address = state.composition.current.rates().address(sent);
    let address = address.and_then(|address| recorded(address, authentication.audit_addresses));
    let subject = match user {
        Some(user) => Subject::User(user.user_id.clone()),
        None => Subject::Client(address.clone()),
    };
    accounts.record_limited(action, ("rates", subject), address.as_deref());
}

fn too_often(seconds: u32, path: &str) -> Response {
    told(path);
    let mut response = match super::is_of_program(path) {
        true => refusal(seconds, path),
        false => too_many(),
    };
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// For the operator.
fn told(path: &str) {
    counter!("chatwright_rate_limited_total").increment(1);
    tracing::debug!(path, "asked too often");
}

/// For who asks too often.
pub(crate) fn too_often_text(seconds: u32) -> String {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    format!("There are too many requests. Try again in {seconds} {unit}.")
}

fn refusal(seconds: u32, path: &str) -> Response {
    let message = too_often_text(seconds);
    let error = UserError { retry_after: Some(seconds), ..UserError::new(ErrorCode::RateLimited, message) };
    match path.starts_with("/ui/") {
        true => super::refusal(error, path),
        false => HttpError(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;
    use std::time::Duration;

    fn rate(requests: u32, seconds: u64) -> Rate {
        Rate { what: RateOf::Chat, per: RatePer::User, requests, span: Duration::from_secs(seconds) }
    }

    #[test]
    fn at_below_and_above() {
        let clock = FakeRelativeClock::default();
        let limiter = Limiter::new(&rate(3, 60), clock.clone());
        let one = |name: &str| limiter.count(&Counted::User(name.to_owned()));
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
    fn what_is_counted_is_bounded() {
        let clock = FakeRelativeClock::default();
        let limiter = Limiter::new(&rate(1, 60), clock.clone());
        for number in 0..MAX_COUNTED as u32 + 10 {
            assert_eq!(limiter.count(&Counted::Address(IpAddr::from(number.to_be_bytes()))), Ok(()));
        }
        assert!(limiter.counts.read().len() <= MAX_COUNTED);
    }

    #[test]
    fn what_a_request_asks_for() {
        let check =
            |method: Method, path: &str, expected: &[RateOf]| assert_eq!(asked(&method, path), expected, "{path}");
        check(Method::POST, "/api/agent/page/helper", &[RateOf::All, RateOf::Chat]);
        check(Method::POST, "/api/agent/page/helper/c/stop", &[RateOf::All]);
        check(Method::GET, "/api/agent/page/helper/c/stream", &[RateOf::All]);
        check(Method::POST, "/ui/send", &[RateOf::All, RateOf::Chat]);
        check(Method::POST, "/api/runs/invoke", &[RateOf::All, RateOf::Chat]);
        check(Method::POST, "/api/endpoints/page/save", &[RateOf::All, RateOf::Endpoints]);
        check(Method::POST, "/remote-agent/tools/search", &[RateOf::All, RateOf::Endpoints]);
        check(Method::GET, "/remote-agent/tools", &[RateOf::All]);
        check(Method::POST, "/auth/sign-in", &[RateOf::All, RateOf::SignIn]);
        check(Method::GET, "/auth/sign-in", &[RateOf::All]);
        check(Method::GET, "/pkg/chatwright.css", &[]);
    }
}
