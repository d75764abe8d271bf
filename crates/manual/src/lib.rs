#![doc = include_str!("../README.md")]

mod export;
mod pages;
mod render;
mod routes;
mod search;
mod section;
mod view;

pub use export::{STYLES, write_site};

use capability::{Capability, Context, Definition};
use config::{Config, SectionType};
use section::{Audience, Docs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web::admin::{MenuEntry, MenuGroup};
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Docs>()],
    start: Some(|_| Ok(Arc::new(Manual::default()))),
    ..Definition::new("manual")
};

#[derive(Default)]
struct Manual {
    /// Whether administrators may not read it either.
    is_hidden: AtomicBool,
}

impl Capability for Manual {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn console_link(&self) -> Option<MenuEntry> {
        let entry = MenuEntry { group: MenuGroup::System, path: routes::PATH, title: "Documentation" };
        (!self.is_hidden.load(Ordering::Relaxed)).then_some(entry)
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let audience = config.section::<Docs>().map(|docs| docs.visible_to);
        self.is_hidden.store(audience == Some(Audience::Nobody), Ordering::Relaxed);
    }
}
