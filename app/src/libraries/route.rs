//! The view of the block as parameters of the page's URL: so that it can be linked to, and the browser's Back button
//! leads to the view before.

use crate::address::{Address, encode_component};
use crate::prelude::*;
use serde_json::Value;

/// Stands for the list of entities, in the place of an id.
pub(super) const ENTITIES: &str = "all";

/// The view of the block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The library; none for the list of all.
    pub(super) library: Option<String>,
    /// The document of the library.
    pub(super) document: Option<String>,
    /// The passage with which the document is opened, from 1.
    pub(super) passage: Option<u64>,
    /// The entity of the library; [`ENTITIES`] for the list of them.
    pub(super) entity: Option<String>,
    /// Whether the questions that were asked of the library are shown.
    pub(super) questions: bool,
}

impl Shown {
    /// Reads it from the URL. Tracked.
    pub(super) fn read(address: Address) -> Self {
        let parameters = address.parameters();
        let parameter = |key: &str| parameters.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            library: parameter("library"),
            document: parameter("document"),
            passage: parameter("passage").and_then(|number| number.parse().ok()),
            entity: parameter("entity"),
            questions: parameter("questions").is_some(),
        }
    }

    /// Shows a library.
    pub(super) fn library(id: &str) -> Self {
        Self { library: Some(id.to_owned()), ..Self::default() }
    }

    /// Shows a document.
    pub(super) fn document(library: &str, id: &str, passage: Option<u64>) -> Self {
        Self { document: Some(id.to_owned()), passage, ..Self::library(library) }
    }

    /// Shows an entity of a library, or the list of them.
    pub(super) fn entity(library: &str, id: &str) -> Self {
        Self { entity: Some(id.to_owned()), ..Self::library(library) }
    }

    /// Shows the questions that were asked of a library.
    pub(super) fn questions(library: &str) -> Self {
        Self { questions: true, ..Self::library(library) }
    }

    /// Returns the URL. Tracked.
    pub(super) fn url(&self, address: Address) -> String {
        let mut pairs = Vec::new();
        // Other parameters of the page, such as the conversation, stay.
        if let Value::Object(others) = address.parameters() {
            for (key, value) in others {
                if let (false, Some(value)) =
                    (["library", "document", "passage", "entity", "questions"].contains(&key.as_str()), value.as_str())
                {
                    pairs.push([&encode_component(&key), "=", &encode_component(value)].concat());
                }
            }
        }
        if let Some(library) = &self.library {
            pairs.push(["library=", &encode_component(library)].concat());
        }
        if let Some(document) = &self.document {
            pairs.push(["document=", &encode_component(document)].concat());
        }
        if let Some(passage) = self.passage {
            pairs.push(["passage=", &passage.to_string()].concat());
        }
        if let Some(entity) = &self.entity {
            pairs.push(["entity=", &encode_component(entity)].concat());
        }
        if self.questions {
            pairs.push("questions=all".to_owned());
        }
        let separator = if pairs.is_empty() { "" } else { "?" };
        [&address.path(), separator, &pairs.join("&")].concat()
    }
}

/// Shows something else.
pub(super) fn go(to: &Shown, replace: bool) {
    let address = expect_context::<Address>();
    address.navigate(&untrack(|| to.url(address)), replace);
}
