//! The imports of modules with views: Leptos' prelude, with the smaller [`AnyView`] of
//! [`crate::ui::any_view`].

pub use crate::ui::any_view::{AnyView, IntoAny};
pub use leptos::prelude::*;
