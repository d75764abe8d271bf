//! The methods that `view!` calls.

use super::part::{Class, Part, Value};
use super::{Content, Element};
use crate::attributes::Attributes;
use leptos::tachys::html::element::{ElementType, HtmlElement, inner_html};
use leptos::tachys::html::event::{EventDescriptor, on};
use leptos::tachys::html::node_ref::{NodeRefContainer, node_ref};
use leptos::tachys::html::property::{IntoProperty, prop};
use leptos::tachys::html::style;
use leptos::tachys::renderer::types::Event;

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
        action = "action",
        alt = "alt",
        aria_activedescendant = "aria-activedescendant",
        aria_busy = "aria-busy",
        aria_controls = "aria-controls",
        aria_current = "aria-current",
        aria_describedby = "aria-describedby",
        aria_disabled = "aria-disabled",
        aria_expanded = "aria-expanded",
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
