//! The imports of modules with views: Leptos' prelude, with the smaller [`AnyView`] of
//! [`crate::ui::any_view`] and [`Effect`] of [`crate::ui::effect`].

pub use crate::ui::any_view::{AnyView, IntoAny};
pub use crate::ui::effect::Effect;
pub use crate::ui::keyed_list::For;
pub use leptos::prelude::*;
