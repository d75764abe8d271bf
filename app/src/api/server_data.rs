//! Data that a view loads from a server function: on the server while the page is rendered, later
//! in the browser.

#[cfg(not(feature = "ssr"))]
mod browser;
#[cfg(feature = "ssr")]
mod server;

#[cfg(not(feature = "ssr"))]
use browser as half;
#[cfg(feature = "ssr")]
use server as half;

use super::transport::error::ApiError;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::prelude::untrack;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::marker::PhantomData;
use std::pin::Pin;
use wire::error::{ErrorCode, UserError};

/// The key of loaded data; a new key loads again. The number distinguishes keys with the same id or none.
pub type LoadKey = (u32, Option<String>);

/// A value of type `T` from a server function. The value that the server has loaded is sent with the page.
///
/// All values share one resource type, of JSON: with one type per value, the browser would download
/// the resource code once for each.
pub struct ServerData<T> {
    resource: half::Resource,
    marker: PhantomData<fn() -> T>,
}

impl<T> Clone for ServerData<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ServerData<T> {}

type KeySource = Box<dyn Fn() -> LoadKey + Send + Sync>;
type LoadFn = Box<dyn Fn(Option<String>) -> LoadFuture + Send + Sync>;
type ViewFn = Box<dyn Fn(LoadedContent) -> AnyView + Send + Sync>;
type LoadFuture = Pin<Box<dyn Future<Output = LoadedContent> + Send>>;

/// The loaded content: JSON that came with the page, the value that a server function returned in
/// the browser, or an error.
#[derive(Clone)]
enum LoadedContent {
    Json(Value),
    #[cfg(not(feature = "ssr"))]
    Decoded(std::sync::Arc<dyn std::any::Any + Send + Sync>),
    Failed(ApiError),
}

impl LoadedContent {
    #[cfg(feature = "ssr")]
    fn new<T: Serialize>(content: T) -> Self {
        serde_json::to_value(content).map_or_else(|_| Self::Failed(decode_error()), Self::Json)
    }

    #[cfg(not(feature = "ssr"))]
    fn new<T: Send + Sync + 'static>(content: T) -> Self {
        Self::Decoded(std::sync::Arc::new(content))
    }

    fn read<T: DeserializeOwned + Clone + 'static>(self) -> Result<T, ApiError> {
        match self {
            Self::Json(content) => serde_json::from_value(content).map_err(|_| decode_error()),
            #[cfg(not(feature = "ssr"))]
            Self::Decoded(content) => content.downcast_ref().cloned().ok_or_else(decode_error),
            Self::Failed(error) => Err(error),
        }
    }
}

/// The keys of content and error in the JSON that is sent with the page.
const CONTENT: &str = "content";
const REFUSED: &str = "refused";

impl Serialize for LoadedContent {
    /// Only content that was loaded on the server is serialized.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Json(content) => map.serialize_entry(CONTENT, content)?,
            Self::Failed(error) => map.serialize_entry(REFUSED, error)?,
            #[cfg(not(feature = "ssr"))]
            Self::Decoded(_) => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for LoadedContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        Ok(match (value.get_mut(CONTENT).map(Value::take), value.get_mut(REFUSED).map(Value::take)) {
            (Some(content), _) => Self::Json(content),
            (None, Some(error)) => Self::Failed(serde_json::from_value(error).unwrap_or_else(|_| decode_error())),
            (None, None) => Self::Failed(decode_error()),
        })
    }
}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> ServerData<T> {
    /// Loads the value for `key`, and again whenever the key changes. If `blocking`, the server
    /// does not start to send the page before it is loaded.
    pub fn new<F>(
        key: impl Fn() -> LoadKey + Send + Sync + 'static,
        load: impl Fn(Option<String>) -> F + Send + Sync + 'static,
        blocking: bool,
    ) -> Self
    where
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let load = move |id| -> LoadFuture {
            let content = load(id);
            Box::pin(async move { content.await.map_or_else(LoadedContent::Failed, LoadedContent::new) })
        };
        Self { resource: half::Resource::new(Box::new(key), Box::new(load), blocking), marker: PhantomData }
    }

    /// Renders the value once it is loaded, and again after each reload; until then the previous
    /// view stays. On the server, rendering waits for it.
    pub fn view(self, view: impl Fn(Result<T, ApiError>) -> AnyView + Send + Sync + 'static) -> AnyView {
        // Tracks the content only: signals that the view reads while it is created must not
        // recreate it.
        self.resource.view(Box::new(move |content| untrack(|| view(content.read()))))
    }

    /// Loads it again.
    pub fn refetch(self) {
        self.resource.refetch();
    }
}

/// The error of content that cannot be decoded, which cannot happen if server and browser have the
/// same build.
pub(super) fn decode_error() -> ApiError {
    UserError::new(ErrorCode::Internal, t(Text::ServerUnreadable)).into()
}
