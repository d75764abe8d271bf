//! The stored projects and their instructions, on SQLite and, if it is installed, on PostgreSQL.

mod files;
mod instructions;
mod kill;

use crate::project::{Color, ProjectSettings, Role};
use crate::store::*;
use ::store::{AuditEntry, BeginRun, BeginRunOutcome, NewUser, Schema, Store, StoreError};
use auth::audit_row;
use capability::Libraries;
use serde_json::Value;
use std::time::Duration;
use test_store::on_each_database;
use wire::UiMessage;
use wire::organize::{ConversationChange, Folder, MoveTo};

fn audit(user: &str, what: &str) -> AuditEntry {
    audit_row(user, &format!("projects:{what}"), "", Value::Null)
}

fn settings(name: &str, instructions: &str) -> ProjectSettings {
    let (name, instructions) = (name.to_owned(), instructions.to_owned());
    ProjectSettings { name, instructions, color: Color::Red, ..ProjectSettings::default() }
}

/// Creates a project of a user who may own two, with a folder of the same id.
async fn new(store: &Store, owner: &str, id: &str, settings: ProjectSettings) -> CreateOutcome {
    let folder = ProjectFolder::New(format!("f-{owner}-{id}"));
    let create_project =
        CreateProject { id: id.to_owned(), owner: owner.to_owned(), settings, folder, most: 2, now: 1 };
    create(store, create_project, audit(owner, "create")).await.unwrap()
}

/// Adds a user to a project that may have three.
async fn join(store: &Store, owner: &str, id: &str, user: &str, role: Role) -> AddOutcome {
    let add = AddMember {
        project_id: id.to_owned(),
        owner: owner.to_owned(),
        user_id: user.to_owned(),
        role,
        folder_id: format!("f-{user}-{id}"),
        most: 3,
        now: 2,
    };
    add_member(store, add, audit(owner, "add_member")).await.unwrap()
}

async fn change(store: &Store, user: &str, id: &str, after: i64, settings: ProjectSettings) -> SaveOutcome {
    let change = SaveProject { id: id.to_owned(), user_id: user.to_owned(), settings, after, now: 3 };
    save(store, change, audit(user, "change")).await.unwrap()
}

async fn remove(store: &Store, by: &str, id: &str, user: &str) -> RemoveOutcome {
    remove_member(store, &Libraries::default(), by, (id, user), audit(by, "remove_member")).await.unwrap()
}

/// Stores the next message of a conversation of a user, with a run that answers it; the run before
/// has ended.
async fn begin(store: &Store, user: &str, conversation: &str, number: u32) {
    let end = ::store::sql::query("UPDATE runs SET status = 'done', ended_at = 1, events_until = 0");
    store.write(move |db| Box::pin(async move { Ok(end.execute(db).await.map(drop)?) })).await.unwrap();
    let key = format!("m-{conversation}-{number}");
    let (answer, run) = (format!("a-{conversation}-{number}"), format!("r-{conversation}-{number}"));
    let begin = test_store::begin_run(conversation, None, UiMessage::user(key, "Hello"), (&answer, &run));
    let begin = BeginRun { now: 10, lease_until: 15_000, ..begin };
    assert!(matches!(store.begin_run(user, begin).await.unwrap(), BeginRunOutcome::Started { .. }));
}

/// Moves a conversation to a folder, or out of its folder.
async fn file(store: &Store, user: &str, conversation: &str, folder: Option<&str>) {
    let change =
        ConversationChange { folder_id: Some(MoveTo(folder.map(str::to_owned))), ..ConversationChange::default() };
    store.change_conversations(user, vec![conversation.to_owned()], change, 100).await.unwrap();
}

/// Returns a user's folders, each as `name color`.
async fn folders(store: &Store, user: &str) -> Vec<String> {
    let all = store.folders(user).await.unwrap();
    all.into_iter().map(|folder| format!("{} {}", folder.name, folder.color.unwrap_or_default())).collect()
}

#[tokio::test]
async fn a_project_is_a_folder_with_settings() {
    on_each_database(&[TABLES], async |store| {
        assert_eq!(new(store, "ada", "p", settings("Sales", "Briefly.")).await, CreateOutcome::Created);
        assert_eq!(folders(store, "ada").await, ["Sales red"]);
        let found = find(store, "ada", "p").await.unwrap().unwrap();
        assert_eq!((found.settings, found.role, found.version), (settings("Sales", "Briefly."), Role::Owner, 1));
        assert_eq!((found.written_by.as_str(), found.folder_id.as_deref()), ("ada", Some("f-ada-p")));
        assert_eq!(find(store, "bob", "p").await.unwrap(), None);
        assert_eq!(project_of_folder(store, "ada", "f-ada-p").await.unwrap().as_deref(), Some("p"));
        assert_eq!(project_of_folder(store, "bob", "f-ada-p").await.unwrap(), None);

        // A folder that is there becomes a project once, and only by its owner.
        assert!(store.add_folder("ada", Folder::new("old", "Old"), 1).await.unwrap());
        let known = async |owner: &str, id: &str| {
            let folder = ProjectFolder::Known("old".to_owned());
            let (id, owner) = (id.to_owned(), owner.to_owned());
            let create_project =
                CreateProject { id, owner: owner.clone(), settings: settings("New", ""), folder, most: 2, now: 1 };
            create(store, create_project, audit(&owner, "create")).await.unwrap()
        };
        assert_eq!(known("bob", "q").await, CreateOutcome::UnknownFolder);
        assert_eq!(known("ada", "q").await, CreateOutcome::Created);
        assert_eq!(known("ada", "r").await, CreateOutcome::Full);
        assert_eq!(known("bob", "r").await, CreateOutcome::UnknownFolder);
        assert_eq!(folders(store, "ada").await, ["Old red", "Sales red"], "it keeps its name");

        begin(store, "ada", "c", 1).await;
        file(store, "ada", "c", Some("f-ada-p")).await;
        let listed = list(store, "ada").await.unwrap();
        let listed: Vec<_> =
            listed.iter().map(|one| (one.name.as_str(), one.conversations, one.members, one.used_at)).collect();
        assert_eq!(listed, [("New", 0, 1, 1), ("Sales", 1, 1, 10)]);

        // Deleting the folder keeps the project, which gets another one when it is needed.
        assert!(store.delete_folder("ada", "f-ada-p").await.unwrap());
        assert_eq!(find(store, "ada", "p").await.unwrap().unwrap().folder_id, None);
        let ensure = async |id: &str| ensure_folder(store, "ada", "p", id.to_owned(), 1).await.unwrap();
        assert_eq!(ensure("g").await.as_deref(), Some("g"));
        assert_eq!(ensure("h").await.as_deref(), Some("g"));
        assert_eq!(folders(store, "ada").await, ["Old red", "Sales red"]);
        assert!(!delete(store, &Libraries::default(), "bob", "p", audit("bob", "delete")).await.unwrap());
        assert!(delete(store, &Libraries::default(), "ada", "p", audit("ada", "delete")).await.unwrap());
        assert_eq!(folders(store, "ada").await, ["Old red", "Sales "], "the folder stays");
        let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
        let rows: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
        assert_eq!(rows, ["projects:create", "projects:create", "projects:delete"]);
    })
    .await;
}

#[tokio::test]
async fn members_do_what_their_roles_allow() {
    on_each_database(&[TABLES], async |store| {
        new(store, "ada", "p", settings("Sales", "Briefly.")).await;
        assert_eq!(join(store, "eve", "p", "eve", Role::Editor).await, AddOutcome::Unknown);
        assert_eq!(join(store, "ada", "p", "bob", Role::Viewer).await, AddOutcome::Added);
        assert_eq!(join(store, "ada", "p", "bob", Role::Editor).await, AddOutcome::Known);
        assert_eq!(join(store, "bob", "p", "eve", Role::Viewer).await, AddOutcome::Unknown, "he does not own it");
        assert_eq!(join(store, "ada", "p", "cid", Role::Editor).await, AddOutcome::Added);
        assert_eq!(join(store, "ada", "p", "dan", Role::Viewer).await, AddOutcome::Full);
        let all = members(store, "bob", "p").await.unwrap();
        let all: Vec<_> = all.iter().map(|member| (member.user_id.as_str(), member.role)).collect();
        assert_eq!(all, [("ada", Role::Owner), ("bob", Role::Viewer), ("cid", Role::Editor)]);
        assert_eq!(members(store, "eve", "p").await.unwrap(), []);
        assert_eq!(folders(store, "bob").await, ["Sales red"]);

        // Cid renames the folder, so it is not renamed with the project.
        assert!(store.rename_folder("cid", "f-cid-p", "Mine").await.unwrap());
        let blue = |name: &str, text: &str| ProjectSettings { color: Color::Blue, ..settings(name, text) };
        let check = async |user: &str, after: i64, sent: ProjectSettings, expected: SaveOutcome| {
            assert_eq!(change(store, user, "p", after, sent).await, expected, "{user} {after}");
        };
        check("bob", 1, blue("Trade", "Briefly."), SaveOutcome::Forbidden).await;
        check("eve", 1, blue("Trade", "Briefly."), SaveOutcome::Unknown).await;
        check("cid", 1, blue("Trade", "Briefly."), SaveOutcome::Saved).await;
        check("ada", 1, blue("Trade", "At length."), SaveOutcome::Changed).await;
        check("ada", 2, blue("Trade", "Briefly."), SaveOutcome::Unchanged).await;
        assert_eq!(folders(store, "bob").await, ["Trade blue"]);
        assert_eq!(folders(store, "cid").await, ["Mine blue"]);
        assert_eq!(find(store, "bob", "p").await.unwrap().unwrap().written_by, "ada", "the text is the same");
        check("cid", 2, blue("Trade", "At length."), SaveOutcome::Saved).await;
        assert_eq!(find(store, "bob", "p").await.unwrap().unwrap().written_by, "cid");

        let promote = async |by: &str, user: &str, role: Role| {
            change_role(store, by, ("p", user), role, audit(by, "change_member")).await.unwrap()
        };
        assert!(!promote("cid", "bob", Role::Editor).await);
        assert!(!promote("ada", "ada", Role::Viewer).await, "the owner stays the owner");
        assert!(promote("ada", "bob", Role::Editor).await);
        check("bob", 3, blue("Trade", "Politely."), SaveOutcome::Saved).await;

        for (by, user, expected) in [
            ("bob", "cid", RemoveOutcome::Unknown),
            ("eve", "cid", RemoveOutcome::Unknown),
            ("ada", "eve", RemoveOutcome::Unknown),
            ("ada", "ada", RemoveOutcome::IsOwner),
            ("ada", "cid", RemoveOutcome::Removed),
            ("bob", "bob", RemoveOutcome::Removed),
            ("bob", "bob", RemoveOutcome::Unknown),
        ] {
            assert_eq!(remove(store, by, "p", user).await, expected, "{by} {user}");
        }
        assert_eq!(
            (folders(store, "bob").await, folders(store, "cid").await),
            (vec!["Trade ".into()], vec!["Mine ".into()])
        );
        assert_eq!(find(store, "bob", "p").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn limits_of_folders_and_projects_are_enforced() {
    on_each_database(&[TABLES], async |store| {
        for number in 0..::store::MAX_FOLDERS {
            assert!(store.add_folder("bob", Folder::new(format!("x{number}"), "x"), 1).await.unwrap());
        }
        assert_eq!(new(store, "bob", "b", settings("B", "")).await, CreateOutcome::TooManyFolders);
        assert_eq!(new(store, "ada", "p", settings("Sales", "")).await, CreateOutcome::Created);
        assert_eq!(join(store, "ada", "p", "bob", Role::Viewer).await, AddOutcome::Added);
        assert_eq!(find(store, "bob", "p").await.unwrap().unwrap().folder_id, None, "he has no room");
        assert_eq!(ensure_folder(store, "bob", "p", "y".to_owned(), 1).await.unwrap(), None);
        assert!(store.delete_folder("bob", "x1").await.unwrap());
        assert_eq!(ensure_folder(store, "bob", "p", "y".to_owned(), 1).await.unwrap().as_deref(), Some("y"));
        assert_eq!(ensure_folder(store, "eve", "p", "z".to_owned(), 1).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn data_of_a_user_is_deleted_with_them() {
    on_each_database(&[TABLES], async |store| {
        let ada = NewUser {
            id: "ada".to_owned(),
            name: "Ada".to_owned(),
            name_key: "ada".to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: Vec::new(),
            now: 1,
        };
        store.add_user(ada, false, None).await.unwrap();
        new(store, "ada", "p", settings("Sales", "Briefly.")).await;
        new(store, "bob", "q", settings("Trade", "")).await;
        join(store, "ada", "p", "bob", Role::Editor).await;
        join(store, "bob", "q", "ada", Role::Viewer).await;
        begin(store, "bob", "b", 1).await;
        file(store, "bob", "b", Some("f-bob-p")).await;
        let mark = ::store::sql::query("UPDATE users SET deleted_at = 1 WHERE id = 'ada'");
        store.write(move |db| Box::pin(async move { Ok(mark.execute(db).await.map(drop)?) })).await.unwrap();
        assert!(store.delete_user("ada").await.unwrap());
        assert_eq!(list(store, "ada").await.unwrap(), []);
        let of_bob: Vec<_> = list(store, "bob").await.unwrap().into_iter().map(|one| (one.id, one.members)).collect();
        assert_eq!(of_bob, [("q".to_owned(), 1)]);
        let kept = store.conversation("bob", "b").await.unwrap().unwrap().summary;
        assert_eq!(kept.folder_id.as_deref(), Some("f-bob-p"), "his conversation and his folder are his");
        assert_eq!(project_of_conversation(store, "bob", "b").await.unwrap(), None);
    })
    .await;
}

/// SQLite has no statistics here, as in a real server.
#[tokio::test]
async fn conversations_of_a_project_are_counted_by_its_folder() {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let explain = store.read(|db| {
        Box::pin(async move {
            let rows = explain_list("ada").fetch_all(db).await?;
            let lines = rows.iter().map(|row| Ok(row.try_get::<String>("detail")?));
            Ok(lines.collect::<Result<Vec<_>, StoreError>>()?.join("\n"))
        })
    });
    let plan = explain.await.unwrap();
    assert!(plan.contains("conversations_in_folder") && !plan.contains("conversations_of_owner"), "{plan}");
}
