//! What stands in an element, as `view!` hands it over: one view or several.

use super::{Build, Element};
use crate::erase::{Erase, Erased};
use leptos::prelude::{AnyView, RenderHtml, View};
use leptos::tachys::html::element::{ElementType, HtmlElement};
use leptos::tachys::{html, svg};

/// What stands in an element.
pub trait Content {
    /// Adds it to what stands there.
    fn add_to(self, children: &mut Vec<Erased>);
}

impl Content for Erased {
    fn add_to(self, children: &mut Vec<Erased>) {
        children.push(self);
    }
}

impl<T: Content> Content for View<T> {
    fn add_to(self, children: &mut Vec<Erased>) {
        self.into_inner().add_to(children);
    }
}

/// One view.
macro_rules! piece {
    ($($of:ty),*) => {
        $(impl Content for $of {
            fn add_to(self, children: &mut Vec<Erased>) {
                children.push(self.erase());
            }
        })*
    };
}

piece!(Element, AnyView, &'static str, String, html::InertElement, svg::InertElement);

impl<T> Content for Option<T>
where
    Self: RenderHtml + 'static,
{
    fn add_to(self, children: &mut Vec<Erased>) {
        children.push(self.erase());
    }
}

impl<T> Content for Vec<T>
where
    Self: RenderHtml + 'static,
{
    fn add_to(self, children: &mut Vec<Erased>) {
        children.push(self.erase());
    }
}

impl<T> Content for Box<dyn FnMut() -> T + Send>
where
    Self: RenderHtml + 'static,
{
    fn add_to(self, children: &mut Vec<Erased>) {
        children.push(self.erase());
    }
}

/// An element without anything.
impl<E: ElementType> Content for HtmlElement<E, (), ()> {
    fn add_to(self, children: &mut Vec<Erased>) {
        self.element().add_to(children);
    }
}

macro_rules! several {
    ($($name:ident)*) => {
        impl<$($name: Content),*> Content for ($($name,)*) {
            #[expect(non_snake_case, reason = "a type and its value have one name here")]
            fn add_to(self, children: &mut Vec<Erased>) {
                let ($($name,)*) = self;
                $($name.add_to(children);)*
            }
        }
    };
}

several!(A B);
several!(A B C);
several!(A B C D);
several!(A B C D F);
several!(A B C D F G);
several!(A B C D F G H);
several!(A B C D F G H I);
several!(A B C D F G H I J);
several!(A B C D F G H I J K);
several!(A B C D F G H I J K L);
several!(A B C D F G H I J K L M);
