//! What there is about an element: attributes that stay or change, classes, listeners, properties.

use crate::erase::{Attribute, Flag};
use leptos::tachys::html::attribute::{self, AttributeValue};
use leptos::tachys::html::class::{IntoClass, class};
use leptos::tachys::renderer::Rndr;
use leptos::tachys::renderer::types::Element as DomElement;
use std::any::Any;

/// Something about an element. What changes by itself keeps what it is changed by.
pub enum Part {
    /// An attribute with a value that stays.
    Fixed(&'static str, &'static str),
    /// The same, made at runtime.
    Made(&'static str, String),
    /// An attribute that changes.
    Changing(&'static str, Attribute),
    /// An attribute without a value that is there or not.
    Flag(&'static str, Flag),
    /// Listeners, properties, classes that come and go.
    Other(Box<dyn AnyPart>),
    /// Nothing.
    None,
}

/// What is kept as long as the element is there.
pub(super) type Kept = Box<dyn Any>;

/// What is needed of an attribute of Leptos.
pub trait AnyPart: Send {
    /// Adds it to an element that is new.
    fn build(self: Box<Self>, element: &DomElement) -> Kept;
    /// Takes it over with an element that the server has rendered.
    fn hydrate(self: Box<Self>, element: &DomElement) -> Kept;
}

impl<T: attribute::Attribute + 'static> AnyPart for T {
    fn build(self: Box<Self>, element: &DomElement) -> Kept {
        Box::new(attribute::Attribute::build(*self, element))
    }

    fn hydrate(self: Box<Self>, element: &DomElement) -> Kept {
        Box::new(attribute::Attribute::hydrate::<true>(*self, element))
    }
}

impl Part {
    pub(super) fn build(self, element: &DomElement) -> Option<Kept> {
        match self {
            Self::Fixed(name, value) => Rndr::set_attribute(element, name, value),
            Self::Made(name, value) => Rndr::set_attribute(element, name, &value),
            Self::Changing(name, value) => return Some(Box::new(AttributeValue::build(value, element, name))),
            Self::Flag(name, value) => return Some(Box::new(AttributeValue::build(value, element, name))),
            Self::Other(part) => return Some(part.build(element)),
            Self::None => {}
        }
        None
    }

    pub(super) fn hydrate(self, element: &DomElement) -> Option<Kept> {
        Some(match self {
            Self::Changing(name, value) => Box::new(AttributeValue::hydrate::<true>(value, name, element)),
            Self::Flag(name, value) => Box::new(AttributeValue::hydrate::<true>(value, name, element)),
            Self::Other(part) => part.hydrate(element),
            Self::Fixed(..) | Self::Made(..) | Self::None => return None,
        })
    }
}

/// The value of an attribute.
pub trait Value {
    /// The attribute of this name.
    fn named(self, name: &'static str) -> Part;
}

impl Value for &'static str {
    fn named(self, name: &'static str) -> Part {
        Part::Fixed(name, self)
    }
}

impl Value for String {
    fn named(self, name: &'static str) -> Part {
        Part::Made(name, self)
    }
}

impl Value for bool {
    fn named(self, name: &'static str) -> Part {
        if self { Part::Fixed(name, "") } else { Part::None }
    }
}

impl<V: Value> Value for Option<V> {
    fn named(self, name: &'static str) -> Part {
        self.map_or(Part::None, |value| value.named(name))
    }
}

impl Value for Attribute {
    fn named(self, name: &'static str) -> Part {
        Part::Changing(name, self)
    }
}

impl Value for Flag {
    fn named(self, name: &'static str) -> Part {
        Part::Flag(name, self)
    }
}

/// A value of the attribute `class`.
pub trait Class {
    /// The attribute.
    fn part(self) -> Part;
}

impl Class for &'static str {
    fn part(self) -> Part {
        Part::Fixed("class", self)
    }
}

impl Class for String {
    fn part(self) -> Part {
        Part::Made("class", self)
    }
}

impl Class for Attribute {
    fn part(self) -> Part {
        Part::Changing("class", self)
    }
}

impl<T> Class for (&'static str, T)
where
    Self: IntoClass + 'static,
{
    fn part(self) -> Part {
        Part::Other(Box::new(class(self)))
    }
}
