//! What modules with views import: Leptos' prelude, and in the browser the elements of [`crate::element`] instead of Leptos'.

pub use leptos::prelude::*;

#[cfg(not(feature = "ssr"))]
pub use crate::element::Build;

/// Stands for what adds to Leptos' elements, and adds nothing: what is named here hides what is named alike above.
#[cfg(not(feature = "ssr"))]
pub trait Hidden {}
#[cfg(not(feature = "ssr"))]
pub use Hidden as AddAnyAttr;
#[cfg(not(feature = "ssr"))]
pub use Hidden as AriaAttributes;
#[cfg(not(feature = "ssr"))]
pub use Hidden as ClassAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as CustomAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as ElementChild;
#[cfg(not(feature = "ssr"))]
pub use Hidden as GlobalAttributes;
#[cfg(not(feature = "ssr"))]
pub use Hidden as InnerHtmlAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as NodeRefAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as OnAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as PropAttribute;
#[cfg(not(feature = "ssr"))]
pub use Hidden as StyleAttribute;
