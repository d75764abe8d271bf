//! Parts of an agent that the user switches on and off.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whether the user switches something of an agent on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UserSwitch {
    /// Off until the user switches it on.
    OptIn,
    /// On until the user switches it off.
    OptOut,
}

impl UserSwitch {
    /// Returns whether it is on; `chosen` is `None` if the user has not chosen.
    pub fn is_on(self, chosen: Option<bool>) -> bool {
        chosen.unwrap_or(self == Self::OptOut)
    }
}
