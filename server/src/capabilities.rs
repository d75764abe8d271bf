//! The capabilities: crates that bring a part of the product with its own section of the config.

use config::{Language, SectionType};
use custom_agents::CustomAgents;
use std::sync::LazyLock;

/// The sections of the config that capabilities bring.
const SECTIONS: &[SectionType] = &[SectionType::of::<CustomAgents>()];

/// Returns the config language with the sections of all capabilities.
pub fn config_language() -> &'static Language {
    static LANGUAGE: LazyLock<Language> = LazyLock::new(|| Language::new(SECTIONS));
    &LANGUAGE
}
