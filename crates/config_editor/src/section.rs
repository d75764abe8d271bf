//! The section `configEditor` of the config: who may change the config in the console, and what of it.

use config::{Config, Diagnostic, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// The sections that can only be changed in the files: they decide who is an administrator, where data is stored and
/// who may change what.
const ONLY_IN_FILES: [&str; 6] = ["auth", "configEditor", "configVersion", "embed", "scim", "store"];

/// The config in the admin console at `/admin/config/files`: its files for reading and, for administrators with one of
/// the `roles`, changes of some sections while the server runs. Without this key the console shows no file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConfigEditor {
    /// The roles whose administrators may change the config, beside the role `admin`. Default: none; then the files are
    /// only shown, and changes that were published before are not in use.
    #[schemars(length(max = 20), inner(length(min = 1)))]
    pub(crate) roles: Vec<String>,
    /// The sections that they may change. With connections and endpoints, they reach whatever the server reaches.
    #[schemars(length(max = 50), inner(length(min = 1)))]
    pub(crate) sections: Vec<String>,
    /// Which changes are in use, once the config was built.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) state: Arc<OverlayState>,
}

/// Which changes are in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverlayState {
    /// The version in use. `None`: the files alone.
    pub(crate) used: Option<i64>,
    /// Newer changes that are not in use.
    pub(crate) rejected: Option<Rejected>,
    /// The warnings of the checker about the changes.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The newest changes, which cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// Their version. `None` if what was tried is not known.
    pub(crate) version: Option<i64>,
    /// Why.
    pub(crate) problems: String,
}

impl Default for ConfigEditor {
    fn default() -> Self {
        let sections = ["agents", "home", "models", "pages", "prices"].map(str::to_owned).to_vec();
        Self { roles: Vec::new(), sections, state: Arc::default() }
    }
}

impl ConfigEditor {
    /// Returns whether an administrator with these roles may change the config.
    pub(crate) fn allows(&self, roles: &[String]) -> bool {
        roles.iter().any(|role| self.roles.contains(role))
    }
}

impl Section for ConfigEditor {
    const KEY: &'static str = "configEditor";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, section) in self.sections.iter().enumerate() {
            let path = [PathStep::Key("sections"), PathStep::Index(index)];
            if ONLY_IN_FILES.contains(&section.as_str()) {
                let help = "it decides who may do what, or where data is".to_owned();
                problems.error(&path, format!("the section `{section}` can only be changed in the files"), Some(help));
            } else {
                problems.check_section_name(&path, section);
            }
        }
    }

    fn roles(&self) -> Vec<&str> {
        self.roles.iter().map(String::as_str).collect()
    }
}

/// Returns the problems of the published changes of a config in use, for operators.
pub fn warning(config: &Config) -> Option<&'static str> {
    config.section::<ConfigEditor>()?.state.rejected.as_ref().map(|_| {
        "the newest changes of the config that were published in the console cannot be used: see /admin/config/files or the server's log"
    })
}
