//! Elements of the document that are compiled once.
//!
//! Leptos gives every element a type of its own: its tag, its attributes and its children, each with theirs. What draws it, takes it over,
//! mounts it and takes it away is compiled for each such type, and there are hundreds. An [`Element`] here has its tag, attributes and children
//! as data, so that a view leaves nothing in the download but what fills it in.
//!
//! It is written as ever: `view!` names an element of Leptos and calls methods on it, and the methods that [`crate::prelude`] brings are
//! those of [`Build`]. This is the browser's half; on the server the elements are Leptos'.

mod build;
mod content;
mod part;

pub use build::Build;
pub use content::Content;
pub use part::{AnyPart, Class, Part, Value};

use crate::erase::Erased;
use leptos::prelude::{AddAnyAttr, Mountable, Render, RenderHtml};
use leptos::tachys::html::attribute;
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::renderer::types::{Element as DomElement, Node};
use leptos::tachys::renderer::{CastFrom, Rndr};
use leptos::tachys::view::{Position, PositionState};
use part::Kept;

/// An element that is not drawn yet.
pub struct Element(Box<Parts>);

struct Parts {
    tag: &'static str,
    namespace: Option<&'static str>,
    attributes: Vec<Part>,
    children: Vec<Erased>,
}

impl Element {
    fn new(tag: &'static str, namespace: Option<&'static str>) -> Self {
        Self(Box::new(Parts { tag, namespace, attributes: Vec::new(), children: Vec::new() }))
    }
}

/// What stands in the document for an element.
pub struct ElementState {
    element: DomElement,
    /// Nothing is asked of it: it is what changes by itself.
    _kept: (Vec<Kept>, Vec<<Erased as Render>::State>),
}

impl Mountable for ElementState {
    fn unmount(&mut self) {
        self.element.unmount();
    }

    fn mount(&mut self, parent: &DomElement, marker: Option<&Node>) {
        self.element.mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.element.insert_before_this(child)
    }

    fn elements(&self) -> Vec<DomElement> {
        vec![self.element.clone()]
    }
}

impl Render for Element {
    type State = ElementState;

    fn build(self) -> ElementState {
        let Parts { tag, namespace, attributes, children } = *self.0;
        let element = Rndr::create_element(tag, namespace);
        let kept = attributes.into_iter().filter_map(|part| part.build(&element)).collect();
        let appended = |child: Erased| {
            let mut state = child.build();
            state.mount(&element, None);
            state
        };
        let children = children.into_iter().map(appended).collect();
        ElementState { element, _kept: (kept, children) }
    }

    fn rebuild(self, state: &mut ElementState) {
        let mut new = self.build();
        state.insert_before_this(&mut new);
        state.unmount();
        *state = new;
    }
}

impl AddAnyAttr for Element {
    type Output<NewAttr: attribute::Attribute> = Self;

    /// Attributes from outside are not passed on; components here take properties.
    fn add_any_attr<NewAttr: attribute::Attribute>(self, _attr: NewAttr) -> Self {
        self
    }
}

impl RenderHtml for Element {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    /// The browser renders no HTML.
    fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: bool, _: bool, _: Vec<AnyAttribute>) {}

    /// As Leptos' elements take over theirs: down into the first child, or on to the next sibling.
    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> ElementState {
        match position.get() {
            Position::FirstChild => cursor.child(),
            Position::Current => {}
            _ => cursor.sibling(),
        }
        let found = cursor.current();
        let Some(element) = DomElement::cast_from(found.clone()) else {
            // The document is not the one that the server rendered: an element of the view's own takes the place of what is there.
            let state = self.build();
            if let Some(parent) = found.parent_node() {
                // Fails only for what is no child of it.
                let _ = parent.replace_child(&state.element, &found);
            }
            cursor.set(state.element.clone().into());
            position.set(Position::NextChild);
            return state;
        };
        let Parts { attributes, children, .. } = *self.0;
        let kept = attributes.into_iter().filter_map(|part| part.hydrate(&element)).collect();
        position.set(Position::FirstChild);
        let children = children.into_iter().map(|child| child.hydrate::<true>(cursor, position)).collect();
        cursor.set(element.clone().into());
        position.set(Position::NextChild);
        ElementState { element, _kept: (kept, children) }
    }

    fn into_owned(self) -> Self {
        self
    }
}
