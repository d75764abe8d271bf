//! The service that routes and the page use.

use crate::deliver::{PushJob, SEND};
use crate::email::service::EmailStatus;
use crate::message::Receiver;
use crate::section::Notifications;
use crate::server_key::ServerKey;
use crate::store::{self, Subscription};
use capability::Context;
use chat::Caller;
use jobs::Jobs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::from_store_error;
use web::html::browser_name;
use web::signed_in;
use web::times::now_millis;
use wire::UserError;

/// The state of the routes.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) context: Context,
    pub(crate) jobs: Jobs,
}

/// The notifications of the caller.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationSettings {
    /// The key with which a browser subscribes (`applicationServerKey`), in Base64.
    pub(crate) public_key: String,
    /// The browsers that get them, the newest first.
    pub(crate) browsers: Vec<SubscribedBrowser>,
    /// The most browsers. With another one, the oldest is removed.
    pub(crate) most: u32,
    /// Notifications by e-mail; absent if the config has none. The page changes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<EmailStatus>,
}

/// A browser that gets the notifications of the caller.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscribedBrowser {
    /// The id.
    pub(crate) id: String,
    /// The browser and its system.
    pub(crate) name: String,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
    /// The time of the last message to it; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_at: Option<i64>,
    /// The address at its push service, by which the browser recognizes itself.
    pub(crate) endpoint: String,
}

/// A browser's subscription, as `PushSubscription.toJSON()` returns it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BrowserSubscription {
    /// The address at the browser's push service.
    pub(crate) endpoint: String,
    /// The time at which the browser expects it to end. Not used: a push service reports the end.
    #[serde(default)]
    #[expect(dead_code, reason = "browsers send it, and unknown fields are refused")]
    expiration_time: Option<f64>,
    /// The keys with which messages are encrypted.
    pub(crate) keys: BrowserKeys,
}

/// The keys of a subscription.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BrowserKeys {
    /// The public key, in Base64.
    pub(crate) p256dh: String,
    /// The secret, in Base64.
    pub(crate) auth: String,
}

impl Service {
    /// Returns the settings of the config.
    ///
    /// # Errors
    /// 404 without the section `notifications`.
    pub(crate) fn settings(&self) -> Result<Notifications, UserError> {
        self.context.current.config().section::<Notifications>().cloned().ok_or_else(UserError::not_found)
    }

    /// Returns the notifications of the caller.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are none here.
    pub(crate) async fn show(&self, caller: &Caller) -> Result<NotificationSettings, UserError> {
        let (owner, settings) = (signed_in(caller)?, self.settings()?);
        let store = &self.context.store;
        let key = ServerKey::load(store).await.map_err(from_store_error)?;
        let browsers = store::list(store, owner).await.map_err(from_store_error)?;
        let browsers = browsers.into_iter().map(|stored| SubscribedBrowser {
            id: stored.id,
            name: stored.browser,
            created_at: stored.created_at,
            sent_at: stored.sent_at,
            endpoint: stored.endpoint,
        });
        let (browsers, email) = (browsers.collect(), self.email(caller).await?);
        Ok(NotificationSettings { public_key: key.public(), browsers, most: settings.per_user, email })
    }

    /// Adds the caller's browser, or replaces its stored subscription. Returns its id.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are no notifications here, 422 if the subscription cannot be
    /// used.
    pub(crate) async fn subscribe(
        &self,
        caller: &Caller,
        sent: BrowserSubscription,
        user_agent: &str,
    ) -> Result<String, UserError> {
        let (owner, settings) = (signed_in(caller)?, self.settings()?);
        let BrowserKeys { p256dh, auth } = sent.keys;
        Receiver::read(&settings, &sent.endpoint, &p256dh, &auth)
            .map_err(|(field, problem)| UserError::invalid(field, format!("`{field}`: {problem}")))?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let new = Subscription {
            id: id.clone(),
            owner: owner.to_owned(),
            endpoint: sent.endpoint,
            p256dh,
            auth,
            browser: browser_name(user_agent),
            created_at: now_millis(),
            sent_at: None,
        };
        store::add(&self.context.store, new, settings.per_user).await.map_err(from_store_error)?;
        Ok(id)
    }

    /// Removes a browser of the caller.
    ///
    /// # Errors
    /// 401 for visitors, 404 if they have no such browser.
    pub(crate) async fn remove(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let owner = signed_in(caller)?;
        let removed = store::delete(&self.context.store, owner, id).await.map_err(from_store_error)?;
        if removed { Ok(()) } else { Err(UserError::not_found()) }
    }

    /// Sends a test to all browsers of the caller. Returns their number.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are no notifications here.
    pub(crate) async fn test(&self, caller: &Caller) -> Result<usize, UserError> {
        let owner = signed_in(caller)?;
        self.settings()?;
        let browsers = store::list(&self.context.store, owner).await.map_err(from_store_error)?;
        for browser in &browsers {
            let sending = PushJob { subscription_id: browser.id.clone(), about: None, waiting: None };
            let job = SEND.job(&sending).owner(owner).key(format!("{}:test", browser.id));
            self.jobs.enqueue(job).await.map_err(from_store_error)?;
        }
        Ok(browsers.len())
    }
}
