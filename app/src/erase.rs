//! Views whose type is forgotten, so that a component is compiled once whatever stands around it.
//!
//! On the server this is Leptos' own `AnyView`. In the browser it is a smaller one: `AnyView` keeps, for every view that it ever
//! holds, a second way to take over rendered HTML that waits between elements (for code that is loaded in parts, which this app
//! does not do). That was a seventh of the download.

use leptos::prelude::*;
use std::pin::Pin;

/// A view of some type.
#[cfg(feature = "ssr")]
pub type Erased = AnyView;

#[cfg(not(feature = "ssr"))]
pub use browser::Erased;

/// Forgets a view's type.
pub trait Erase {
    /// The view without its type.
    fn erase(self) -> Erased;
}

#[cfg(feature = "ssr")]
impl<T: RenderHtml + 'static> Erase for T {
    fn erase(self) -> Erased {
        self.into_any()
    }
}

/// What a closure returns, drawn again when that changes. As a plain closure in a view, but boxed: a view holds many of them, and
/// each type of closure would bring its own copy of what redraws it.
pub fn dynamic(view: impl FnMut() -> Erased + Send + 'static) -> Erased {
    (Box::new(view) as Box<dyn FnMut() -> Erased + Send>).erase()
}

/// As [`dynamic`], for something that is there or not.
pub fn optional(view: impl FnMut() -> Option<Erased> + Send + 'static) -> Erased {
    (Box::new(view) as Box<dyn FnMut() -> Option<Erased> + Send>).erase()
}

/// Views one after the other. One type of list, whatever it is made of.
pub fn list(views: impl IntoIterator<Item = Erased>) -> Erased {
    views.into_iter().collect::<Vec<_>>().erase()
}

/// One of [`each`].
pub struct Item {
    /// By which it is known again.
    pub key: Key,
    /// Called when it is new.
    pub view: Box<dyn FnOnce() -> Erased + Send>,
}

/// By what an item of a list is known again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A number.
    Number(usize),
    /// An id.
    Text(String),
}

/// A view for each item of a list that changes. The view of an item that stays is kept.
pub fn each(items: impl Fn() -> Vec<Item> + Send + Sync + 'static) -> Erased {
    each_of(Box::new(items))
}

/// A closure has a type for each type of what is around it, whatever it is made of.
fn each_of(items: Box<dyn Fn() -> Vec<Item> + Send + Sync>) -> Erased {
    let (key, view) = (|item: &Item| item.key.clone(), |item: Item| (item.view)());
    view! { <For each=items key=key children=view /> }.erase()
}

/// As [`dynamic`], for text.
pub fn text(text: impl FnMut() -> String + Send + 'static) -> Erased {
    (Box::new(text) as Box<dyn FnMut() -> String + Send>).erase()
}

/// As [`dynamic`], for an attribute.
pub fn attribute(value: impl FnMut() -> Option<String> + Send + 'static) -> Attribute {
    Box::new(value)
}

/// As [`dynamic`], for a class or an attribute that is there or not.
pub fn flag(value: impl FnMut() -> bool + Send + 'static) -> Flag {
    Box::new(value)
}

/// As [`dynamic`], for what a control holds.
pub fn property(value: impl FnMut() -> String + Send + 'static) -> Box<dyn FnMut() -> String + Send> {
    Box::new(value)
}

/// What is done whenever something that it reads changes, and once at first; in the browser only.
pub fn effect(run: impl FnMut() + 'static) {
    effect_of(Box::new(run));
}

fn effect_of(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_: Option<()>| run());
}

/// Runs something that waits, beside the rest.
pub fn spawn_local(task: impl Future<Output = ()> + 'static) {
    spawn_boxed(Box::pin(task));
}

fn spawn_boxed(task: Pin<Box<dyn Future<Output = ()>>>) {
    leptos::task::spawn_local(task);
}

/// What is done on an event.
pub fn handler<E: 'static>(run: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(run)
}

/// The value of an attribute that changes; `None` takes it away.
pub type Attribute = Box<dyn FnMut() -> Option<String> + Send>;

/// Whether a class or an attribute is there.
pub type Flag = Box<dyn FnMut() -> bool + Send>;

#[cfg(not(feature = "ssr"))]
mod browser {
    use super::Erase;
    use leptos::tachys::html::attribute::Attribute;
    use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
    use leptos::tachys::hydration::Cursor;
    use leptos::tachys::renderer::Rndr;
    use leptos::tachys::renderer::types::{Element, Node, Placeholder};
    use leptos::tachys::view::add_attr::AddAnyAttr;
    use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};

    /// A view of some type.
    pub struct Erased(Box<dyn AnyPiece>);

    impl<T: RenderHtml + 'static> Erase for T {
        fn erase(self) -> Erased {
            Erased(Box::new(self))
        }
    }

    /// What is needed of a view in the browser. As little as can be: it is compiled for each view.
    ///
    /// There is no `rebuild`: a view that comes to stand where another stood replaces it, also one of the same type. What
    /// changes within a view are its signals.
    trait AnyPiece: Send {
        /// Whether it is a node of the document.
        fn exists(&self) -> bool;
        fn build(self: Box<Self>) -> Box<dyn Mountable>;
        fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn Mountable>;
    }

    impl<T: RenderHtml + 'static> AnyPiece for T {
        fn exists(&self) -> bool {
            T::EXISTS
        }

        fn build(self: Box<Self>) -> Box<dyn Mountable> {
            Box::new((*self).build())
        }

        fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn Mountable> {
            Box::new((*self).hydrate::<true>(cursor, position))
        }
    }

    /// What stands in the document for a view.
    pub struct ErasedState {
        state: Box<dyn Mountable>,
        /// Marks the place of a view that is no node.
        placeholder: Option<Placeholder>,
    }

    impl Mountable for ErasedState {
        fn unmount(&mut self) {
            self.state.unmount();
            if let Some(placeholder) = &mut self.placeholder {
                placeholder.unmount();
            }
        }

        fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
            self.state.mount(parent, marker);
            if let Some(placeholder) = &mut self.placeholder {
                placeholder.mount(parent, marker);
            }
        }

        fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
            match &self.placeholder {
                Some(placeholder) => placeholder.insert_before_this(child),
                None => self.state.insert_before_this(child),
            }
        }

        fn elements(&self) -> Vec<Element> {
            self.state.elements()
        }
    }

    impl Render for Erased {
        type State = ErasedState;

        fn build(self) -> ErasedState {
            let placeholder = (!self.0.exists()).then(Rndr::create_placeholder);
            ErasedState { state: self.0.build(), placeholder }
        }

        fn rebuild(self, state: &mut ErasedState) {
            let mut new = self.build();
            state.insert_before_this(&mut new);
            state.unmount();
            *state = new;
        }
    }

    impl AddAnyAttr for Erased {
        type Output<NewAttr: Attribute> = Self;

        /// Attributes from outside are not passed on; components here take properties.
        fn add_any_attr<NewAttr: Attribute>(self, _attr: NewAttr) -> Self {
            self
        }
    }

    impl RenderHtml for Erased {
        type AsyncOutput = Self;
        type Owned = Self;

        const MIN_LENGTH: usize = 0;

        fn dry_resolve(&mut self) {}

        async fn resolve(self) -> Self {
            self
        }

        /// The browser renders no HTML.
        fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: bool, _: bool, _: Vec<AnyAttribute>) {}

        fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> ErasedState {
            let exists = self.0.exists();
            let state = self.0.hydrate(cursor, position);
            let placeholder = (!exists).then(|| cursor.next_placeholder(position));
            ErasedState { state, placeholder }
        }

        fn into_owned(self) -> Self {
            self
        }
    }
}
