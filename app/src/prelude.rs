//! What modules with views import: Leptos' prelude, with the smaller [`AnyView`] of [`crate::any_view`] and [`Effect`] of
//! [`crate::effect`].

pub use crate::any_view::{AnyView, IntoAny};
pub use crate::effect::Effect;
pub use leptos::prelude::*;
