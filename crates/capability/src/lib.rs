#![doc = include_str!("../README.md")]

mod additions;
mod context;

pub use additions::{ConfigAdditions, StoredAdditions};
pub use context::{Context, CurrentConfig};

use config::{Language, SectionType};
use store::CapabilityTables;
use web::admin::Section;

/// What a capability brings.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The sections of the config that it reads.
    pub sections: &'static [SectionType],
    /// The tables that it stores its data in.
    pub tables: Option<CapabilityTables>,
    /// Entries of the config that it stores in the database.
    pub config_additions: Option<ConfigAdditions>,
    /// Returns its part of the admin console.
    pub console: Option<fn(Context) -> Section>,
}

impl Definition {
    /// Brings nothing: `..Definition::EMPTY` stands for the parts that a capability does not have.
    pub const EMPTY: Self = Self { sections: &[], tables: None, config_additions: None, console: None };
}

/// Returns the config language with the sections of these capabilities.
pub fn language(capabilities: &[Definition]) -> Language {
    let sections: Vec<_> = capabilities.iter().flat_map(|capability| capability.sections).copied().collect();
    Language::new(&sections)
}

/// Returns the tables of these capabilities.
pub fn tables(capabilities: &[Definition]) -> Vec<CapabilityTables> {
    capabilities.iter().filter_map(|capability| capability.tables).collect()
}
