//! The capability: changes of the config in the admin console.

use crate::section::ConfigEditor;
use crate::{console, overlay, store};
use ::capability::{Capability, ConfigOverlay, Context, Definition};
use config::{Config, SectionType};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web::admin::{self, MenuEntry};

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<ConfigEditor>()],
    tables: Some(store::TABLES),
    config_overlay: Some(ConfigOverlay {
        version: |store| Box::pin(store::version(store)),
        apply: |store, language, config| Box::pin(overlay::apply(store, language, config)),
        leave_out: overlay::leave_out,
    }),
    start: Some(|_| Ok(Arc::new(Editor::default()))),
    ..Definition::new("config_editor")
};

/// The pages of the console, which the menu shows if the config has the section.
#[derive(Default)]
struct Editor {
    is_on: AtomicBool,
}

impl Capability for Editor {
    fn console(&self, context: &Context) -> Option<admin::Section> {
        Some(console::section(context.clone()))
    }

    fn console_link(&self) -> Option<MenuEntry> {
        self.is_on.load(Ordering::Relaxed).then_some(console::MENU)
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.is_on.store(config.section::<ConfigEditor>().is_some(), Ordering::Relaxed);
    }
}
