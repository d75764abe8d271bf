//! The capability: accounts of users at other services.

use crate::accounts::{Accounts, PATH};
use crate::routes::{self, RouteState};
use crate::secrets::Keys;
use crate::section::ConnectedAccounts;
use crate::sign_in::SignInProviders;
use crate::{pages, services, store};
use ::capability::{Capability, Context, Definition, Job};
use config::{Config, ProcessEnv, SectionType};
use settings::user_auth::UserAuth;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How often registered clients are deleted whose time is over.
const CLIENTS_INTERVAL: Duration = Duration::from_secs(86_400);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<ConnectedAccounts>()],
    tables: Some(store::TABLES),
    start: Some(|host| {
        let accounts = Accounts::new(host.store.clone(), Keys::read(&[], &ProcessEnv));
        host.tokens.provide(Arc::new(accounts.clone()));
        Ok(Arc::new(ConnectedAccountsCapability { accounts, is_used: AtomicBool::new(false) }))
    }),
    ..Definition::new("connected_accounts")
};

/// The capability of a running server.
struct ConnectedAccountsCapability {
    accounts: Accounts,
    /// Whether users can connect accounts with the config in use.
    is_used: AtomicBool,
}

impl Capability for ConnectedAccountsCapability {
    fn needs_user_tokens(&self, config: &Config) -> bool {
        services::all(config).any(|service| matches!(service.auth, UserAuth::Exchange(_)))
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(RouteState { accounts: self.accounts.clone(), current: context.current.clone() }))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.is_used.load(Ordering::Relaxed).then_some(AccountPage {
            group: AccountGroup::Connections,
            path: PATH,
            title: pages::TITLE,
            about: "Services that agents use in your name",
        })
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let names = config.section::<ConnectedAccounts>().map(|section| section.keys.clone()).unwrap_or_default();
        let agents = config.agents.keys().map(String::as_str);
        let variables = services::variables(config, agents.clone());
        let providers = SignInProviders::needed(config, services::all(config));
        let has_accounts = !services::with_accounts(config, agents, |_| true).is_empty() || !providers.is_empty();
        self.accounts.set_providers(providers);
        let is_used = has_accounts || !variables.is_empty();
        if is_used || !names.is_empty() {
            let keys = Keys::read(&names, &ProcessEnv);
            keys.warn();
            self.accounts.set_keys(keys);
        }
        self.is_used.store(is_used, Ordering::Relaxed);
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let store = context.store.clone();
        let delete = move || {
            let store = store.clone();
            async move {
                store::delete_old_clients(&store, now_millis()).await?;
                Ok(())
            }
        };
        vec![Job::recurring("connected_accounts.delete_clients", CLIENTS_INTERVAL, delete)]
    }
}
