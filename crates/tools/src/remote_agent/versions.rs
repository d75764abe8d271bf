//! What a remote agent has said of its tools since this server began to ask it, over changes of the config. What was harmless once may be exchanged (a rug pull), so
//! the user is asked about a tool that says something else than before, and about one that once wanted to be asked about.

use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Tools whose first version is known; of more, each is another one.
const MAX_TOOLS: usize = 10_000;
/// Users' yeses that are known; beyond it all are forgotten, and the users are asked again.
const MAX_ACCEPTED: usize = 10_000;

/// The versions of a remote agent's tools. Whoever makes the source anew hands them on; see [`RemoteSource::new`](super::RemoteSource::new).
#[derive(Default)]
pub struct Versions(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By name: the first fingerprint, and whether a version of it wanted a confirmation.
    first: HashMap<String, (String, bool)>,
    /// Users and fingerprints that they have said yes to.
    accepted: HashSet<(String, String)>,
}

/// What a tool is to a user.
pub(super) enum Version {
    /// As it was, or as he has taken it.
    Known,
    /// Another one: he is asked.
    Another(Unaccepted),
}

/// A version that a user has not taken yet.
pub(super) struct Unaccepted {
    versions: Arc<Versions>,
    /// He, and its fingerprint; none where every call is asked about.
    key: Option<(String, String)>,
}

impl Versions {
    /// Takes note of a tool as it is listed.
    pub(super) fn see(self: &Arc<Self>, user_id: &str, tool: &ToolSpec) -> Version {
        let fingerprint = tool.fingerprint();
        let mut known = self.0.lock();
        let Known { first, accepted } = &mut *known;
        if first.len() >= MAX_TOOLS && !first.contains_key(&tool.name) {
            return Version::Another(Unaccepted { versions: self.clone(), key: None });
        }
        let (version, asked) = first.entry(tool.name.clone()).or_insert_with(|| (fingerprint.clone(), false));
        *asked |= tool.needs_approval;
        let key = (user_id.to_owned(), fingerprint);
        match () {
            () if tool.needs_approval => Version::Known,
            () if *asked => Version::Another(Unaccepted { versions: self.clone(), key: None }),
            () if *version == key.1 || accepted.contains(&key) => Version::Known,
            () => Version::Another(Unaccepted { versions: self.clone(), key: Some(key) }),
        }
    }

    fn accept(&self, key: (String, String)) {
        let accepted = &mut self.0.lock().accepted;
        if accepted.len() >= MAX_ACCEPTED {
            accepted.clear();
        }
        accepted.insert(key);
    }
}

/// A tool that is another one than before: the user is asked before it is called.
pub(super) struct OtherTool {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
    version: Unaccepted,
}

impl OtherTool {
    pub(super) fn new(tool: Arc<dyn Tool>, version: Unaccepted) -> Self {
        let spec = ToolSpec { needs_approval: true, ..tool.spec().clone() };
        Self { tool, spec, version }
    }
}

impl Tool for OtherTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        // It is only called when the user agreed, or an administrator tries it.
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
    fn what_a_tool_is_to_a_user() {
        let versions = Arc::new(Versions::default());
        let see = |user: &str, description: &str, needs_approval: bool| {
            let spec = ToolSpec::new("find", description, json!({ "type": "object" }));
            versions.see(user, &ToolSpec { needs_approval, ..spec })
        };
        let is_known = |user: &str, description: &str| matches!(see(user, description, false), Version::Known);
        assert!(is_known("ada", "Finds.") && is_known("bob", "Finds."));
        assert!(!is_known("ada", "Finds, and sends."));
        let Version::Another(other) = see("ada", "Finds, and sends.", false) else { panic!("it is another one") };
        versions.accept(other.key.unwrap());
        assert!(is_known("ada", "Finds, and sends."), "she has taken it");
        assert!(!is_known("bob", "Finds, and sends."), "he has not");
        assert!(is_known("ada", "Finds."), "it is as it was");
        // What wanted to be asked about once, cannot take that back.
        assert!(matches!(see("ada", "Finds.", true), Version::Known));
        assert!(!is_known("ada", "Finds."));
    }
}
