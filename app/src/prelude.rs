//! The imports of modules with views: Leptos' prelude, with the smaller [`AnyView`] of
//! [`crate::any_view`].

pub use crate::any_view::{AnyView, IntoAny};
pub use leptos::prelude::*;
