//! Routes of the HTTP API with their OpenAPI entries. An [`ApiRouter`] mounts a handler together
//! with its summary and derives the rest of the entry from the handler's signature: query
//! parameters, request body, statuses and responses. So no route is without an entry, and the entry
//! cannot differ from the handler.

mod describe;
mod document;
mod responses;
mod schemas;

pub use describe::{Description, RouteHandler, RouteInput, RouteOutput};
pub use document::{About, Document};
pub use responses::{Accepted, Created, JsonFile, PlainText};

use crate::request::{require_key_scope, require_signed_in};
use auth::password::KeyScope;
use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn;
use axum::routing::{self, MethodRouter};
use std::borrow::Cow;

/// A group of routes in the document.
#[derive(Debug, PartialEq, Eq)]
pub struct Tag {
    /// The unique name.
    pub name: &'static str,
    /// The purpose of the routes, and the callers who may use them.
    pub description: &'static str,
    /// The credentials that the routes accept.
    pub access: Access,
}

/// The credentials that routes accept. [`ApiRouter`] refuses API keys and callers who are not signed
/// in; the server's gates do the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None are needed.
    Anyone,
    /// Credentials of a user: a session or a token and, with a scope, an API key. Whether anonymous callers are
    /// accepted depends on the config.
    Users {
        /// The scope that an API key needs; `None` if API keys cannot be used.
        scope: Option<KeyScope>,
    },
    /// Credentials of a signed-in user: a session, or a token of the auth mode. API keys and the tokens of embedded
    /// chats are refused.
    SignedIn,
    /// The key that the config sets for other agent platforms.
    Platforms,
    /// The signature or the key of a service that the config declares. The handler checks it.
    Senders,
}

/// The entry of one method of a path.
#[derive(Clone, Debug)]
pub struct Operation {
    tag: &'static Tag,
    /// The method in lower case.
    method: &'static str,
    path: Cow<'static, str>,
    summary: &'static str,
    describe: fn(&mut Description<'_>),
}

/// Builds a router together with the entries of its routes.
#[derive(Debug)]
pub struct ApiRouter<S = ()> {
    tag: &'static Tag,
    router: Router<S>,
    operations: Vec<Operation>,
}

/// Defines a function that mounts a handler, for each method.
macro_rules! methods {
    ($($name:ident)*) => {$(
        #[doc = concat!("Mounts a handler for `", stringify!($name), "` requests.")]
        #[must_use]
        pub fn $name<H, T>(self, path: impl Into<Cow<'static, str>>, handler: H, summary: &'static str) -> Self
        where
            H: RouteHandler<T> + Handler<T, S>,
            T: 'static,
        {
            let (tag, method) = (self.tag, stringify!($name));
            let operation = Operation { tag, method, path: path.into(), summary, describe: H::describe };
            self.mounted(operation, routing::$name(handler))
        }
    )*};
}

impl<S: Clone + Send + Sync + 'static> ApiRouter<S> {
    /// Creates a router without routes; those that are mounted on it have this tag.
    pub fn new(tag: &'static Tag) -> Self {
        Self { tag, router: Router::new(), operations: Vec::new() }
    }

    methods! { get post put patch delete }

    fn mounted(mut self, operation: Operation, route: MethodRouter<S>) -> Self {
        let route = match self.tag.access {
            Access::SignedIn => route.layer(from_fn(require_signed_in)),
            Access::Users { scope } => {
                route.layer(from_fn(move |request, next| require_key_scope(scope, request, next)))
            }
            Access::Anyone => route.layer(from_fn(|request, next| require_key_scope(None, request, next))),
            Access::Platforms | Access::Senders => route,
        };
        self.router = self.router.route(&operation.path, route);
        self.operations.push(operation);
        self
    }

    /// Adds routes for browsers, which the document leaves out.
    #[must_use]
    pub fn with_pages(mut self, pages: Router<S>) -> Self {
        self.router = self.router.merge(pages);
        self
    }

    /// Changes the plain router without changing its routes: adds layers, or gives it its state.
    #[must_use]
    pub fn map<T>(self, change: impl FnOnce(Router<S>) -> Router<T>) -> ApiRouter<T> {
        ApiRouter { tag: self.tag, router: change(self.router), operations: self.operations }
    }

    /// Adds the routes of another router.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self
    }

    /// Returns the plain router and adds its entries to `operations`, which are all that the
    /// document describes.
    pub fn mount(self, operations: &mut Vec<Operation>) -> Router<S> {
        operations.extend(self.operations);
        self.router
    }
}

#[cfg(test)]
mod tests;
