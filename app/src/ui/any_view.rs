//! Type-erased views under Leptos' own names: [`AnyView`] and [`IntoAny`].
//!
//! On the server these are Leptos' types. In the browser [`AnyView`] is a smaller one: Leptos'
//! `AnyView` keeps a second, asynchronous way to hydrate for every type of view (for the lazy
//! loading of its router, which this app does not use). Measured on the release build: this saves
//! 64 KB of the demo page's download, about a sixth (285.7 KB instead of 349.8 KB).
//!
//! [`crate::prelude`] exports these names in place of Leptos'.

#[cfg(feature = "ssr")]
pub use leptos::prelude::{AnyView, IntoAny};

#[cfg(not(feature = "ssr"))]
pub use browser::{AnyView, IntoAny};

#[cfg(not(feature = "ssr"))]
mod browser {
    use leptos::prelude::View;
    use leptos::tachys::html::attribute::Attribute;
    use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
    use leptos::tachys::hydration::Cursor;
    use leptos::tachys::reactive_graph::OwnedView;
    use leptos::tachys::renderer::Rndr;
    use leptos::tachys::renderer::types::{Element, Node, Placeholder};
    use leptos::tachys::view::add_attr::AddAnyAttr;
    use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};

    /// A view whose type is erased.
    pub struct AnyView(Box<dyn ErasedView>);

    /// Erases the type of a view.
    pub trait IntoAny {
        /// Converts the view into an [`AnyView`].
        fn into_any(self) -> AnyView;
    }

    /// Closures are boxed, so that Leptos' code for them is compiled once for each type of view that
    /// they return, and not once for each closure: 2 KB of the demo page's download.
    impl<F, V> IntoAny for F
    where
        F: FnMut() -> V + Send + 'static,
        V: RenderHtml + 'static,
    {
        fn into_any(self) -> AnyView {
            AnyView(Box::new(Box::new(self) as Box<dyn FnMut() -> V + Send>))
        }
    }

    impl<T: RenderHtml + 'static> IntoAny for View<T> {
        fn into_any(self) -> AnyView {
            AnyView(Box::new(self.into_inner()))
        }
    }

    impl IntoAny for AnyView {
        fn into_any(self) -> AnyView {
            self
        }
    }

    /// Implements [`IntoAny`] for other views.
    macro_rules! into_any {
        ($([$($of:ident)*] $view:ty;)*) => {$(
            impl<$($of: RenderHtml + 'static),*> IntoAny for $view {
                fn into_any(self) -> AnyView {
                    AnyView(Box::new(self))
                }
            }
        )*};
    }

    into_any! {
        [] ();
        [] String;
        [] &'static str;
        [T] Option<T>;
        [T] Vec<T>;
        [T] OwnedView<T>;
        [A B] (A, B);
        [] leptos::prelude::AnyView;
    }

    /// The methods of a view that the browser needs. As few as possible, because each is compiled
    /// for each type of view.
    ///
    /// There is no `rebuild`: a new view replaces the previous one, even if both have the same
    /// type. Within a view, signals change the document.
    trait ErasedView: Send {
        /// Returns whether the view has a node in the document.
        fn exists(&self) -> bool;
        fn build(self: Box<Self>) -> Box<dyn Mountable>;
        fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn Mountable>;
    }

    impl<T: RenderHtml + 'static> ErasedView for T {
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

    /// The state of a view in the document.
    pub struct AnyViewState {
        state: Box<dyn Mountable>,
        /// Marks the position of a view that has no node.
        placeholder: Option<Placeholder>,
    }

    impl Mountable for AnyViewState {
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

    impl Render for AnyView {
        type State = AnyViewState;

        fn build(self) -> AnyViewState {
            let placeholder = (!self.0.exists()).then(Rndr::create_placeholder);
            AnyViewState { state: self.0.build(), placeholder }
        }

        fn rebuild(self, state: &mut AnyViewState) {
            let mut new = self.build();
            state.insert_before_this(&mut new);
            state.unmount();
            *state = new;
        }
    }

    impl AddAnyAttr for AnyView {
        type Output<NewAttr: Attribute> = Self;

        /// Does nothing: in this app components take properties, and no attributes are passed on to
        /// them.
        fn add_any_attr<NewAttr: Attribute>(self, _attr: NewAttr) -> Self {
            self
        }
    }

    impl RenderHtml for AnyView {
        type AsyncOutput = Self;
        type Owned = Self;

        const MIN_LENGTH: usize = 0;

        fn dry_resolve(&mut self) {}

        async fn resolve(self) -> Self {
            self
        }

        /// Does nothing: HTML is rendered on the server only.
        fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: bool, _: bool, _: Vec<AnyAttribute>) {}

        fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> AnyViewState {
            let exists = self.0.exists();
            let state = self.0.hydrate(cursor, position);
            let placeholder = (!exists).then(|| cursor.next_placeholder(position));
            AnyViewState { state, placeholder }
        }

        fn into_owned(self) -> Self {
            self
        }
    }
}
