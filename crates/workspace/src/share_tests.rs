//! Links to versions of files, on each kind of database.

use crate::SharedFile;
use crate::path::WorkspacePath;
use crate::store::{Conversation, NewShare, ShareOutcome, share, shares, unshare};
use crate::tests::{House, houses};
use crate::workspace::Change;
use ::store::{AuditEntry, MAX_SHARES};
use serde_json::json;
use wire::organize::ConversationChange;

fn audit(owner: &str, conversation: &str, path: &str, version: i64) -> AuditEntry {
    auth::audit_row(owner, "workspace:share", conversation, json!({ "path": path, "version": version }))
}

impl House {
    /// Makes a link to a version in the conversation of Ada, as a user.
    async fn share(&self, owner: &str, id: &str, version: i64) -> ShareOutcome {
        let of = Conversation { owner: owner.to_owned(), id: "c".to_owned() };
        let new = NewShare { id: id.to_owned(), version, path: String::new(), created_at: 7 };
        share(&self.store, &of, new, Some("Ada".to_owned()), audit(owner, "c", "", version)).await.unwrap()
    }

    /// Returns what anybody reads behind a link.
    async fn shared(&self, id: &str) -> Option<String> {
        let file = SharedFile::find(&self.store, id).await.unwrap()?;
        assert_eq!((file.shared_by(), file.shared_at()), (Some("Ada"), 7));
        Some(format!("{} {} {}", file.name(), file.size(), file.text(1 << 20).await.unwrap()))
    }

    async fn write(&self, path: &str, content: &str) {
        self.call("write_file", json!({ "path": path, "content": content })).await;
    }
}

#[tokio::test]
async fn a_link_shows_its_version_until_it_is_revoked() {
    for house in houses(json!({ "limits": { "versions": 2 } })).await {
        house.write("/outputs/a.md", "one").await;
        assert_eq!(house.share("ada", "first", 1).await, ShareOutcome::Stored);
        assert_eq!(house.share("ada", "second", 1).await, ShareOutcome::Stored);
        // The version is dropped for newer ones, and its content is kept for the links.
        for content in ["two", "three", "four"] {
            house.write("/outputs/a.md", content).await;
        }
        assert_eq!(house.count("workspace_versions").await, 2);
        assert_eq!(house.shared("first").await.as_deref(), Some("a.md 3 one"));
        // It is no file of the conversation any more.
        let listed = house.call("ls", json!({ "path": "/", "depth": 5 })).await;
        assert_eq!(listed.matches("a.md").count(), 1, "{listed}");
        assert!(listed.contains("uploads/ (0 files)"), "{listed}");
        assert!(unshare(&house.store, "ada", "first", audit).await.unwrap());
        assert_eq!(house.shared("first").await, None);
        assert_eq!(house.shared("second").await.as_deref(), Some("a.md 3 one"));
        assert_eq!(house.count("files").await, 3);
        // The content goes with its last link.
        assert!(unshare(&house.store, "ada", "second", audit).await.unwrap());
        assert!(!unshare(&house.store, "ada", "second", audit).await.unwrap());
        assert_eq!((house.count("files").await, house.count("file_uses").await), (2, 2));
        // A link to a version that is kept does not take its content along.
        assert_eq!(house.share("ada", "third", 4).await, ShareOutcome::Stored);
        assert!(unshare(&house.store, "ada", "third", audit).await.unwrap());
        assert_eq!(house.call("read_file", json!({ "path": "/outputs/a.md" })).await.trim(), "four");
        // One row for each link, and for each that was revoked.
        assert_eq!(house.count("audit").await, 6);
    }
}

#[tokio::test]
async fn only_the_owner_makes_sees_and_revokes_links() {
    for house in houses(json!({})).await {
        house.write("/outputs/a.md", "one").await;
        assert_eq!(house.share("ada", "link", 1).await, ShareOutcome::Stored);
        for (owner, version) in [("bob", 1), ("ada", 2), ("ada", 0)] {
            assert_eq!(house.share(owner, "other", version).await, ShareOutcome::Gone, "{owner} {version}");
        }
        assert!(!unshare(&house.store, "bob", "link", audit).await.unwrap());
        let links = async |owner: &str| {
            let of = Conversation { owner: owner.to_owned(), id: "c".to_owned() };
            let links = shares(&house.store, &of).await.unwrap().into_iter();
            links.map(|link| format!("{} {} {}", link.id, link.path, link.version)).collect::<Vec<_>>()
        };
        assert_eq!(links("ada").await, ["link /outputs/a.md 1"]);
        assert_eq!(links("bob").await, Vec::<String>::new());
        assert_eq!(house.shared("lin").await, None);
        for number in 1..MAX_SHARES {
            assert_eq!(house.share("ada", &format!("link-{number}"), 1).await, ShareOutcome::Stored);
        }
        assert_eq!(house.share("ada", "one-more", 1).await, ShareOutcome::TooMany);
    }
}

#[tokio::test]
async fn links_go_with_their_conversation() {
    for house in houses(json!({})).await {
        house.write("/outputs/a.md", "one").await;
        house.share("ada", "link", 1).await;
        // A file that was deleted is still behind its link.
        let path = WorkspacePath::parse_file("/outputs/a.md").unwrap();
        let change = Change { path, base: Some(1), content: None };
        house.workspace("ada", "c").apply(vec![change]).await.unwrap();
        assert_eq!(house.shared("link").await.as_deref(), Some("a.md 3 one"));
        // At once, although a deletion can be undone.
        let change = async |deleted| {
            let change = ConversationChange { deleted: Some(deleted), ..ConversationChange::default() };
            house.store.change_conversations("ada", vec!["c".to_owned()], change, 9).await.unwrap();
        };
        change(true).await;
        assert_eq!(house.shared("link").await, None);
        change(false).await;
        assert_eq!(house.shared("link").await.as_deref(), Some("a.md 3 one"));
        assert!(house.store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert_eq!(house.shared("link").await, None);
        assert_eq!((house.count("files").await, house.count("artifact_shares").await), (0, 0));
    }
}
