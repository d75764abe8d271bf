//! What a view loads while the page is rendered, and again in the browser.

#[cfg(not(feature = "ssr"))]
mod browser;
#[cfg(feature = "ssr")]
mod server;

#[cfg(not(feature = "ssr"))]
use browser as half;
#[cfg(feature = "ssr")]
use server as half;

use super::ApiError;
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

/// Which one is loaded: when it changes, it is loaded anew. The number tells apart what has the same id or none.
pub type Key = (u32, Option<String>);

/// Something of type `T` from a server function. The server's answer comes with the page.
///
/// All of them are one type of resource, of JSON: with a type for each, the browser would have to download the code of resources for each.
pub struct Loaded<T> {
    resource: half::Resource,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Loaded<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Loaded<T> {}

type Source = Box<dyn Fn() -> Key + Send + Sync>;
type Load = Box<dyn Fn(Option<String>) -> Loading + Send + Sync>;
type View = Box<dyn Fn(Content) -> AnyView + Send + Sync>;
type Loading = Pin<Box<dyn Future<Output = Content> + Send>>;

/// What was loaded: as it came with the page, as a server function returned it in the browser, or why there is nothing.
#[derive(Clone)]
enum Content {
    Json(Value),
    #[cfg(not(feature = "ssr"))]
    Read(std::sync::Arc<dyn std::any::Any + Send + Sync>),
    Refused(ApiError),
}

impl Content {
    #[cfg(feature = "ssr")]
    fn new<T: Serialize>(content: T) -> Self {
        serde_json::to_value(content).map_or_else(|_| Self::Refused(unreadable()), Self::Json)
    }

    #[cfg(not(feature = "ssr"))]
    fn new<T: Send + Sync + 'static>(content: T) -> Self {
        Self::Read(std::sync::Arc::new(content))
    }

    fn read<T: DeserializeOwned + Clone + 'static>(self) -> Result<T, ApiError> {
        match self {
            Self::Json(content) => serde_json::from_value(content).map_err(|_| unreadable()),
            #[cfg(not(feature = "ssr"))]
            Self::Read(content) => content.downcast_ref().cloned().ok_or_else(unreadable),
            Self::Refused(error) => Err(error),
        }
    }
}

/// The keys under which content and error go with the page.
const CONTENT: &str = "content";
const REFUSED: &str = "refused";

impl Serialize for Content {
    /// Only what the server loaded goes anywhere.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Json(content) => map.serialize_entry(CONTENT, content)?,
            Self::Refused(error) => map.serialize_entry(REFUSED, error)?,
            #[cfg(not(feature = "ssr"))]
            Self::Read(_) => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        Ok(match (value.get_mut(CONTENT).map(Value::take), value.get_mut(REFUSED).map(Value::take)) {
            (Some(content), _) => Self::Json(content),
            (None, Some(error)) => Self::Refused(serde_json::from_value(error).unwrap_or_else(|_| unreadable())),
            (None, None) => Self::Refused(unreadable()),
        })
    }
}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Loaded<T> {
    /// Loads by `key`. When it is `blocking`, the rendered page waits for it with its first byte.
    pub fn new<F>(
        key: impl Fn() -> Key + Send + Sync + 'static,
        load: impl Fn(Option<String>) -> F + Send + Sync + 'static,
        blocking: bool,
    ) -> Self
    where
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        let load = move |id| -> Loading {
            let content = load(id);
            Box::pin(async move { content.await.map_or_else(Content::Refused, Content::new) })
        };
        Self { resource: half::Resource::new(Box::new(key), Box::new(load), blocking), of: PhantomData }
    }

    /// What is shown of it once it is there, and anew whenever it was loaded anew; until then what was there before. On the server the page
    /// waits for it.
    pub fn view(self, view: impl Fn(Result<T, ApiError>) -> AnyView + Send + Sync + 'static) -> AnyView {
        // Only the content is waited for: what the view reads while it is made must not make it anew.
        self.resource.view(Box::new(move |content| untrack(|| view(content.read()))))
    }

    /// Loads it again.
    pub fn refetch(self) {
        self.resource.refetch();
    }
}

/// Cannot happen between a server and a browser of the same build.
fn unreadable() -> ApiError {
    UserError::new(ErrorCode::Internal, t(Text::ServerUnreadable)).into()
}
