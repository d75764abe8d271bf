//! Elements of the document that are compiled once.
//!
//! Leptos gives every element a type of its own: its tag, its attributes and its children, each with theirs. What draws it, takes it over,
//! mounts it and takes it away is compiled for each such type, and there are hundreds. An [`Element`] here has its tag, attributes and children
//! as data, so that a view leaves nothing in the download but what fills it in.
//!
//! It is written as ever: `view!` names an element of Leptos and calls methods on it, and the methods that [`crate::prelude`] brings are
//! those of [`Build`]. This is the browser's half; on the server the elements are Leptos'.

use crate::attributes::Attributes;
use crate::erase::{Attribute, Erase, Erased, Flag};
use leptos::prelude::{AddAnyAttr, AnyView, Mountable, Render, RenderHtml, View};
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::html::attribute::{self, AttributeValue};
use leptos::tachys::html::class::{IntoClass, class};
use leptos::tachys::html::element::{ElementType, HtmlElement, inner_html};
use leptos::tachys::html::event::{EventDescriptor, on};
use leptos::tachys::html::node_ref::{NodeRefContainer, node_ref};
use leptos::tachys::html::property::{IntoProperty, prop};
use leptos::tachys::html::{self, style};
use leptos::tachys::hydration::Cursor;
use leptos::tachys::renderer::types::{Element as DomElement, Event, Node};
use leptos::tachys::renderer::{CastFrom, Rndr};
use leptos::tachys::svg;
use leptos::tachys::view::{Position, PositionState};
use std::any::Any;

/// An element that is not drawn yet.
pub struct Element(Box<Parts>);

struct Parts {
    tag: &'static str,
    namespace: Option<&'static str>,
    attributes: Vec<Part>,
    children: Vec<Erased>,
}

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
type Kept = Box<dyn Any>;

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
    fn build(self, element: &DomElement) -> Option<Kept> {
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

    fn hydrate(self, element: &DomElement) -> Option<Kept> {
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

/// Attributes by the names of their methods.
macro_rules! attributes {
    ($($method:ident = $name:literal),* $(,)?) => {
        $(
            #[doc = concat!("With the attribute `", $name, "`.")]
            fn $method(self, value: impl Value) -> Element {
                self.attr($name, value)
            }
        )*
    };
}

/// What `view!` calls to make an element.
pub trait Build: Sized {
    /// The element so far.
    fn element(self) -> Element;

    /// With something about it.
    fn part(self, part: Part) -> Element {
        let mut element = self.element();
        element.0.attributes.push(part);
        element
    }

    /// With an attribute.
    fn attr(self, name: &'static str, value: impl Value) -> Element {
        self.part(value.named(name))
    }

    /// With something in it.
    fn child(self, content: impl Content) -> Element {
        let mut element = self.element();
        content.add_to(&mut element.0.children);
        element
    }

    /// With classes, or with one that comes and goes.
    fn class(self, value: impl Class) -> Element {
        self.part(value.part())
    }

    /// With a listener.
    fn on<E>(self, event: E, run: Box<dyn FnMut(E::EventType)>) -> Element
    where
        E: EventDescriptor + Send + 'static,
        E::EventType: From<Event> + 'static,
    {
        self.part(Part::Other(Box::new(on(event, run))))
    }

    /// With a property that changes.
    fn prop(self, name: &'static str, value: impl IntoProperty + 'static) -> Element {
        self.part(Part::Other(Box::new(prop(name, value))))
    }

    /// With a style.
    fn style<S: style::IntoStyle + 'static>(self, value: S) -> Element {
        self.part(Part::Other(Box::new(style::style(value))))
    }

    /// With HTML in it.
    fn inner_html(self, value: String) -> Element {
        self.part(Part::Other(Box::new(inner_html(value))))
    }

    /// Fills in where it is to be found.
    fn node_ref<E: ElementType, C: NodeRefContainer<E>>(self, container: C) -> Element {
        self.part(Part::Other(Box::new(node_ref(container))))
    }

    /// With a list of attributes.
    fn add_any_attr(self, attributes: Attributes) -> Element {
        self.part(Part::Other(Box::new(attributes)))
    }

    attributes! {
        accept = "accept",
        alt = "alt",
        aria_activedescendant = "aria-activedescendant",
        aria_busy = "aria-busy",
        aria_controls = "aria-controls",
        aria_current = "aria-current",
        aria_disabled = "aria-disabled",
        aria_haspopup = "aria-haspopup",
        aria_hidden = "aria-hidden",
        aria_label = "aria-label",
        aria_labelledby = "aria-labelledby",
        aria_live = "aria-live",
        aria_pressed = "aria-pressed",
        aria_required = "aria-required",
        aria_selected = "aria-selected",
        autocomplete = "autocomplete",
        autofocus = "autofocus",
        datetime = "datetime",
        dir = "dir",
        disabled = "disabled",
        download = "download",
        enterkeyhint = "enterkeyhint",
        r#for = "for",
        formnovalidate = "formnovalidate",
        hidden = "hidden",
        high = "high",
        href = "href",
        id = "id",
        inputmode = "inputmode",
        lang = "lang",
        loading = "loading",
        low = "low",
        max = "max",
        maxlength = "maxlength",
        method = "method",
        min = "min",
        multiple = "multiple",
        name = "name",
        novalidate = "novalidate",
        open = "open",
        optimum = "optimum",
        placeholder = "placeholder",
        popover = "popover",
        popovertarget = "popovertarget",
        popovertargetaction = "popovertargetaction",
        readonly = "readonly",
        referrerpolicy = "referrerpolicy",
        rel = "rel",
        role = "role",
        rows = "rows",
        selected = "selected",
        spellcheck = "spellcheck",
        src = "src",
        tabindex = "tabindex",
        target = "target",
        title = "title",
        r#type = "type",
        value = "value",
    }
}

impl Build for Element {
    fn element(self) -> Element {
        self
    }
}

impl<E: ElementType> Build for HtmlElement<E, (), ()> {
    fn element(self) -> Element {
        Element::new(E::TAG, E::NAMESPACE)
    }
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
        let Some(element) = DomElement::cast_from(cursor.current()) else {
            // The document is not the one that the server rendered: the view gets an element of its own.
            return self.build();
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
