//! Trees of nodes that are rendered from data as a whole and updated in place: Markdown, values,
//! tool calls, table rows. All elements have the same type.
//!
//! Leptos' own elements have a type for each tag and each list of attributes. That suits
//! handwritten views, in which signals say what changes. A renderer that chooses its tags at
//! runtime would need about thirty such types, each with its own code in the download.

use crate::prelude::*;
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::html::attribute::{Attribute, AttributeValue};
use leptos::tachys::hydration::Cursor;
use leptos::tachys::renderer::types::{Element, Node as DomNode};
use leptos::tachys::renderer::{CastFrom, Rndr};
use leptos::tachys::view::add_attr::AddAnyAttr;
use leptos::tachys::view::strings::StringState;
use leptos::tachys::view::{Mountable, Position, PositionState, Render, RenderHtml};

/// The void elements (without content and end tag) that are used here.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "link", "meta"];

/// The namespace of SVG elements; without it the browser does not recognize them.
const SVG: &str = "http://www.w3.org/2000/svg";
/// The namespace of MathML elements.
const MATHML: &str = "http://www.w3.org/1998/Math/MathML";

/// The elements of MathML Core that formulas consist of.
pub(crate) const MATHML_ELEMENTS: [&str; 27] = [
    "math",
    "merror",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "none",
];

/// A text or an element.
pub(crate) enum Node {
    Text(String),
    Element { tag: &'static str, attributes: Attributes, children: Vec<Node> },
}

/// Returns the namespace of an element; `None` for HTML.
fn namespace(tag: &str) -> Option<&'static str> {
    match tag {
        "svg" | "path" => Some(SVG),
        tag => MATHML_ELEMENTS.contains(&tag).then_some(MATHML),
    }
}

/// The attribute that identifies an element among its siblings across updates, so that the browser
/// keeps its state (such as an open menu) when it moves. Elements without a key are matched by
/// position.
pub(crate) const KEY: &str = "data-key";

/// Names and values.
type Attributes = Vec<(&'static str, String)>;

/// Renders the nodes that a closure returns, and updates them when something that it reads changes.
/// Unchanged parts of the document are left alone.
pub(crate) fn reactive_nodes(nodes: impl FnMut() -> Vec<Node> + Send + 'static) -> AnyView {
    (Box::new(nodes) as Box<dyn FnMut() -> Vec<Node> + Send>).into_any()
}

/// Creates an element without attributes or children.
pub(crate) fn element(tag: &'static str) -> Node {
    Node::Element { tag, attributes: Vec::new(), children: Vec::new() }
}

fn key(attributes: &Attributes) -> Option<&str> {
    attributes.iter().find(|(name, _)| *name == KEY).map(|(_, value)| value.as_str())
}

impl Node {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Element { attributes, .. } => key(attributes),
        }
    }

    /// Adds an attribute.
    pub(crate) fn attr(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.push_attr(name, value.into());
        self
    }

    /// A function of its own, so that it is not compiled into each of the many callers.
    #[inline(never)]
    fn push_attr(&mut self, name: &'static str, value: String) {
        if let Self::Element { attributes, .. } = self {
            attributes.push((name, value));
        }
    }

    /// Sets the children, replacing those that the element had.
    pub(crate) fn children(mut self, content: Vec<Self>) -> Self {
        if let Self::Element { children, .. } = &mut self {
            *children = content;
        }
        self
    }

    /// Sets a text as the only child. An empty text adds no node: the browser would not find it in
    /// the rendered page.
    pub(crate) fn text(self, text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() { self } else { self.children(vec![Self::Text(text)]) }
    }

    /// Appends the text that the reader sees.
    pub(crate) fn append_text(&self, to: &mut String) {
        match self {
            Self::Text(text) => to.push_str(text),
            Self::Element { children, .. } => children.iter().for_each(|child| child.append_text(to)),
        }
    }
}

/// The state of a node in the document.
pub(crate) enum NodeState {
    Text(StringState),
    Element { tag: &'static str, element: Element, attributes: Attributes, children: Vec<NodeState> },
}

impl NodeState {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Element { attributes, .. } => key(attributes),
        }
    }

    fn as_mountable(&self) -> &dyn Mountable {
        match self {
            Self::Text(text) => text,
            Self::Element { element, .. } => element,
        }
    }

    fn as_mountable_mut(&mut self) -> &mut dyn Mountable {
        match self {
            Self::Text(text) => text,
            Self::Element { element, .. } => element,
        }
    }
}

impl Mountable for NodeState {
    fn unmount(&mut self) {
        self.as_mountable_mut().unmount();
    }

    fn mount(&mut self, parent: &Element, marker: Option<&DomNode>) {
        self.as_mountable_mut().mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.as_mountable().insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        self.as_mountable().elements()
    }
}

impl Render for Node {
    type State = NodeState;

    fn build(self) -> NodeState {
        match self {
            Self::Text(text) => NodeState::Text(Render::build(text)),
            Self::Element { tag, attributes, children } => {
                let element = Rndr::create_element(tag, namespace(tag));
                for (name, value) in &attributes {
                    Rndr::set_attribute(&element, name, value);
                }
                let children = children.into_iter().map(|child| append_child(child, &element)).collect();
                NodeState::Element { tag, element, attributes, children }
            }
        }
    }

    fn rebuild(self, state: &mut NodeState) {
        match (self, &mut *state) {
            (Self::Text(text), NodeState::Text(before)) => Render::rebuild(text, before),
            (
                Self::Element { tag, attributes, children },
                NodeState::Element {
                    tag: tag_before,
                    element,
                    attributes: attributes_before,
                    children: children_before,
                },
            ) if tag == *tag_before => {
                update_attributes(element, attributes_before, attributes);
                update_children(element, children_before, children);
            }
            (other, _) => {
                let mut new = other.build();
                state.insert_before_this(&mut new);
                state.unmount();
                *state = new;
            }
        }
    }
}

fn append_child(child: Node, parent: &Element) -> NodeState {
    let mut state = child.build();
    state.mount(parent, None);
    state
}

fn update_attributes(element: &Element, before: &mut Attributes, now: Attributes) {
    if *before == now {
        return;
    }
    for (name, _) in before.iter().filter(|(name, _)| now.iter().all(|(other, _)| other != name)) {
        Rndr::remove_attribute(element, name);
    }
    for (name, value) in now.iter().filter(|attribute| !before.contains(attribute)) {
        Rndr::set_attribute(element, name, value);
    }
    *before = now;
}

fn update_children(parent: &Element, before: &mut Vec<NodeState>, now: Vec<Node>) {
    if now.iter().any(|child| child.key().is_some()) {
        return update_keyed_children(parent, before, now);
    }
    for mut surplus in before.drain(now.len().min(before.len())..) {
        surplus.unmount();
    }
    let mut now = now.into_iter();
    for (state, child) in before.iter_mut().zip(now.by_ref()) {
        child.rebuild(state);
    }
    before.extend(now.map(|child| append_child(child, parent)));
}

/// Updates children that have keys. Those that are gone are removed first, so that few of the
/// others have to be moved.
fn update_keyed_children(parent: &Element, before: &mut Vec<NodeState>, now: Vec<Node>) {
    // The order rarely changes, so the search for a key begins behind the key found last.
    let mut next = 0;
    before.retain_mut(|state| {
        let Some(key) = state.key() else { return true };
        let found = (next..now.len()).chain(0..next).find(|at| now[*at].key() == Some(key));
        match found {
            Some(at) => next = at + 1,
            None => state.unmount(),
        }
        found.is_some()
    });
    let count = now.len();
    for (at, child) in now.into_iter().enumerate() {
        let same = |state: &NodeState| state.key() == child.key();
        let found = before[at..].iter().position(same);
        let mut state = match found {
            Some(0) => {
                child.rebuild(&mut before[at]);
                continue;
            }
            Some(ahead) => {
                let mut state = before.remove(at + ahead);
                child.rebuild(&mut state);
                state
            }
            None => child.build(),
        };
        match before.get(at) {
            Some(next) => drop(next.insert_before_this(&mut state)),
            None => state.mount(parent, None),
        }
        before.insert(at, state);
    }
    for mut surplus in before.drain(count..) {
        surplus.unmount();
    }
}

impl AddAnyAttr for Node {
    type Output<NewAttr: Attribute> = Self;

    /// Does nothing: nodes take no attributes from outside.
    fn add_any_attr<NewAttr: Attribute>(self, _attr: NewAttr) -> Self {
        self
    }
}

impl RenderHtml for Node {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra: Vec<AnyAttribute>,
    ) {
        match self {
            Self::Text(text) => text.to_html_with_buf(buf, position, escape, mark_branches, extra),
            Self::Element { tag, attributes, children } => {
                buf.push('<');
                buf.push_str(tag);
                for (name, value) in attributes {
                    AttributeValue::to_html(value, name, buf);
                }
                buf.push('>');
                if !VOID.contains(&tag) {
                    *position = Position::FirstChild;
                    for child in children {
                        child.to_html_with_buf(buf, position, escape, mark_branches, Vec::new());
                    }
                    buf.push_str("</");
                    buf.push_str(tag);
                    buf.push('>');
                }
                *position = Position::NextChild;
            }
        }
    }

    /// Hydrates like Leptos' elements: goes down to the first child, or on to the next sibling.
    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> NodeState {
        match self {
            Self::Text(text) => NodeState::Text(RenderHtml::hydrate::<FROM_SERVER>(text, cursor, position)),
            Self::Element { tag, attributes, children } => {
                match position.get() {
                    Position::FirstChild => cursor.child(),
                    Position::Current => {}
                    _ => cursor.sibling(),
                }
                let Some(element) = Element::cast_from(cursor.current()) else {
                    // The document is not the one that the server rendered: a new element is
                    // created.
                    return Self::Element { tag, attributes, children }.build();
                };
                position.set(Position::FirstChild);
                let children =
                    children.into_iter().map(|child| child.hydrate::<FROM_SERVER>(cursor, position)).collect();
                cursor.set(element.clone().into());
                position.set(Position::NextChild);
                NodeState::Element { tag, element, attributes, children }
            }
        }
    }

    fn into_owned(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mathml_and_svg_elements_have_a_namespace() {
        for tag in ["mark", "main", "meta", "menu", "span", "p"] {
            assert_eq!(namespace(tag), None, "{tag}");
        }
        for tag in ["math", "mi", "msubsup", "none"] {
            assert_eq!(namespace(tag), Some(MATHML), "{tag}");
        }
        assert_eq!(namespace("path"), Some(SVG));
    }
}
