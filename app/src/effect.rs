//! Effects whose closures are boxed. Used as Leptos' own, whose name [`Effect`] takes in [`crate::prelude`].
//!
//! Leptos compiles the task that runs an effect anew for each closure, some 1.5 KB of WASM for each of 55 effects.

/// An effect, see [`leptos::prelude::Effect`].
pub struct Effect;

impl Effect {
    /// Runs a closure at first and whenever something that it reads changes; in the browser only.
    #[expect(clippy::new_ret_no_self, reason = "called as Leptos' own; nothing here needs the handle")]
    pub fn new(run: impl FnMut(Option<()>) + 'static) {
        new_boxed(Box::new(run));
    }
}

fn new_boxed(run: Box<dyn FnMut(Option<()>)>) {
    leptos::prelude::Effect::new(run);
}
