//! The versions of a remote agent's tools since this server first listed them, across changes of
//! the config. A server may exchange a harmless tool for a malicious one (a rug pull), so a tool
//! that has changed needs the user's approval, and so does a tool that once required one.

use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The maximum number of tools whose first version is remembered; further ones count as changed.
const MAX_TOOLS: usize = 10_000;
/// The maximum number of acceptances that are remembered. Beyond that all are forgotten, and users
/// are asked again.
const MAX_ACCEPTED: usize = 10_000;

/// The versions of a remote agent's tools. They are passed on when the source is recreated; see
/// [`RemoteSource::new`](super::RemoteSource::new).
#[derive(Default)]
pub struct ToolVersions(Mutex<VersionState>);

#[derive(Default)]
struct VersionState {
    /// By name: the first fingerprint, and whether any version required an approval.
    first: HashMap<String, (String, bool)>,
    /// Users, with the fingerprints that they have accepted.
    accepted: HashSet<(String, String)>,
}

/// Whether a tool needs the user's acceptance.
pub(crate) enum Version {
    /// The tool is unchanged, or the user has accepted it.
    Accepted,
    /// The tool has changed, so the user is asked.
    Changed(ChangedVersion),
}

/// A version that a user has not accepted yet.
pub(crate) struct ChangedVersion {
    versions: Arc<ToolVersions>,
    /// The user and the fingerprint; `None` if every call needs an approval.
    key: Option<(String, String)>,
}

impl ToolVersions {
    /// Records a tool as it is listed, and returns whether it needs the user's acceptance.
    pub(crate) fn record(self: &Arc<Self>, user_id: &str, tool: &ToolSpec) -> Version {
        let fingerprint = tool.fingerprint();
        let mut known = self.0.lock();
        let VersionState { first, accepted } = &mut *known;
        if first.len() >= MAX_TOOLS && !first.contains_key(&tool.name) {
            return Version::Changed(ChangedVersion { versions: self.clone(), key: None });
        }
        let (version, asked) = first.entry(tool.name.clone()).or_insert_with(|| (fingerprint.clone(), false));
        *asked |= tool.needs_approval;
        let key = (user_id.to_owned(), fingerprint);
        match () {
            () if tool.needs_approval => Version::Accepted,
            () if *asked => Version::Changed(ChangedVersion { versions: self.clone(), key: None }),
            () if *version == key.1 || accepted.contains(&key) => Version::Accepted,
            () => Version::Changed(ChangedVersion { versions: self.clone(), key: Some(key) }),
        }
    }

    /// Forgets what a user has accepted.
    pub(crate) fn forget_user(&self, user_id: &str) {
        self.0.lock().accepted.retain(|(user, _)| user != user_id);
    }

    fn accept(&self, key: (String, String)) {
        let accepted = &mut self.0.lock().accepted;
        if accepted.len() >= MAX_ACCEPTED {
            accepted.clear();
        }
        accepted.insert(key);
    }
}

/// A tool that has changed: each call needs the user's approval.
pub(crate) struct ChangedTool {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
    version: ChangedVersion,
}

impl ChangedTool {
    pub(crate) fn new(tool: Arc<dyn Tool>, version: ChangedVersion) -> Self {
        let spec = ToolSpec { needs_approval: true, ..tool.spec().clone() };
        Self { tool, spec, version }
    }
}

impl Tool for ChangedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        // A call runs only after the user's approval, or when an administrator tries the tool.
        if let Some(key) = self.version.key.clone() {
            self.version.versions.accept(key);
        }
        self.tool.call(input, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changed_tools_need_the_users_acceptance() {
        let versions = Arc::new(ToolVersions::default());
        let see = |user: &str, description: &str, needs_approval: bool| {
            let spec = ToolSpec::new("find", description, json!({ "type": "object" }));
            versions.record(user, &ToolSpec { needs_approval, ..spec })
        };
        let is_known = |user: &str, description: &str| matches!(see(user, description, false), Version::Accepted);
        assert!(is_known("ada", "Finds.") && is_known("bob", "Finds."));
        assert!(!is_known("ada", "Finds, and sends."));
        let Version::Changed(other) = see("ada", "Finds, and sends.", false) else { panic!("it is another one") };
        versions.accept(other.key.unwrap());
        assert!(is_known("ada", "Finds, and sends."), "ada has accepted it");
        assert!(!is_known("bob", "Finds, and sends."), "bob has not");
        assert!(is_known("ada", "Finds."), "the first version stays accepted");
        versions.forget_user("ada");
        assert!(!is_known("ada", "Finds, and sends."), "a deleted user's acceptance is gone");
        // The requirement of an approval cannot be withdrawn.
        assert!(matches!(see("ada", "Finds.", true), Version::Accepted));
        assert!(!is_known("ada", "Finds."));
    }
}
