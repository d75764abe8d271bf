//! Attributes in a list. Each attribute in a view is a part of the type of its element, and each type brings code of its own; a
//! control has fifteen of them.

use crate::erase::Attribute;
use leptos::tachys::html::attribute::{self, AttributeValue, NextAttribute};
use leptos::tachys::renderer::Rndr;
use leptos::tachys::renderer::types::Element;
use std::sync::Arc;

/// The attributes of an element, by name.
#[derive(Clone, Default)]
pub struct Attributes(Vec<(&'static str, Content)>);

#[derive(Clone)]
enum Content {
    Fixed(String),
    Dynamic(Arc<dyn Fn() -> Option<String> + Send + Sync>),
}

/// What is kept of an attribute that changes.
type Kept = <Attribute as AttributeValue>::State;

impl Attributes {
    /// An attribute that stays as it is.
    #[must_use]
    pub fn fixed(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, Content::Fixed(value.into())));
        self
    }

    /// An attribute without a value that is there or not, and stays like that.
    #[must_use]
    pub fn fixed_flag(self, name: &'static str, is_there: bool) -> Self {
        if is_there { self.fixed(name, "") } else { self }
    }

    /// An attribute that changes.
    #[must_use]
    pub fn dynamic(mut self, name: &'static str, value: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.0.push((name, Content::Dynamic(Arc::new(value))));
        self
    }
}

fn boxed(value: Arc<dyn Fn() -> Option<String> + Send + Sync>) -> Attribute {
    Box::new(move || value())
}

impl attribute::Attribute for Attributes {
    const MIN_LENGTH: usize = 0;

    type State = Vec<Option<Kept>>;
    type AsyncOutput = Self;
    type Cloneable = Self;
    type CloneableOwned = Self;

    fn html_len(&self) -> usize {
        self.0.len() * 24
    }

    fn to_html(self, buf: &mut String, _: &mut String, _: &mut String, _: &mut String) {
        for (name, content) in self.0 {
            match content {
                Content::Fixed(value) => value.to_html(name, buf),
                Content::Dynamic(value) => boxed(value).to_html(name, buf),
            }
        }
    }

    fn hydrate<const FROM_SERVER: bool>(self, element: &Element) -> Self::State {
        let hydrate = |(name, content)| match content {
            Content::Fixed(_) => None,
            Content::Dynamic(value) => Some(AttributeValue::hydrate::<FROM_SERVER>(boxed(value), name, element)),
        };
        self.0.into_iter().map(hydrate).collect()
    }

    fn build(self, element: &Element) -> Self::State {
        let build = |(name, content)| match content {
            Content::Fixed(value) => {
                Rndr::set_attribute(element, name, &value);
                None
            }
            Content::Dynamic(value) => Some(AttributeValue::build(boxed(value), element, name)),
        };
        self.0.into_iter().map(build).collect()
    }

    /// A view with a list of attributes is not made a second time for the same element: those that change do so by themselves.
    fn rebuild(self, state: &mut Self::State) {
        for ((name, content), kept) in self.0.into_iter().zip(state) {
            if let (Content::Dynamic(value), Some(kept)) = (content, kept) {
                AttributeValue::rebuild(boxed(value), name, kept);
            }
        }
    }

    fn into_cloneable(self) -> Self {
        self
    }

    fn into_cloneable_owned(self) -> Self {
        self
    }

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }
}

impl NextAttribute for Attributes {
    type Output<NewAttr: attribute::Attribute> = (Self, NewAttr);

    fn add_any_attr<NewAttr: attribute::Attribute>(self, new: NewAttr) -> Self::Output<NewAttr> {
        (self, new)
    }
}
