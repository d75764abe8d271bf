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
use config::SectionType;
use section::Docs;
use std::sync::Arc;
use web::admin::{ADMINISTRATION, MenuEntry, MenuGroup, Section};
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Docs>()],
    start: Some(|_| Ok(Arc::new(Manual))),
    ..Definition::new("manual")
};

struct Manual;

impl Capability for Manual {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn console(&self, _: &Context) -> Option<Section> {
        let entry = MenuEntry { group: MenuGroup::System, path: routes::PATH, title: "Documentation" };
        Some(Section { menu: vec![entry], actions: Vec::new(), routes: ApiRouter::new(&ADMINISTRATION) })
    }
}
