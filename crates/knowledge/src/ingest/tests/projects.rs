//! The files of a project.

use super::*;
use crate::section::{KnowledgeOptions, LibraryChoice};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{FindLibraries, Libraries, ListLibraries, Membership, NewProjectFile, ProjectFiles, ProjectMembers};
use chat::Caller;
use contract::RunScope;
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use test_postgres::database_files_of_each_kind;
use test_process::KillTest;
use wire::ErrorCode;

/// The users of Ada's projects, each with whether they may add files. The ids of the projects begin with `p`; the
/// conversation `c` is in the project `p`.
#[derive(Clone, Default)]
struct ProjectStandIn(Arc<Mutex<HashMap<&'static str, bool>>>);

impl ProjectStandIn {
    fn of(&self, user_id: &str, project_id: &str) -> Option<Membership> {
        let may_write = self.0.lock().get(user_id).copied().filter(|_| project_id.starts_with('p'))?;
        let [project_id, name, owner] = [project_id, "Sales", "ada"].map(str::to_owned);
        Some(Membership { project_id, name, owner, may_write })
    }
}

impl ProjectMembers for ProjectStandIn {
    fn membership<'a>(
        &'a self,
        _: &'a mut Db,
        user_id: &'a str,
        project_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Membership>, StoreError>> {
        Box::pin(std::future::ready(Ok(self.of(user_id, project_id))))
    }

    fn memberships<'a>(
        &'a self,
        _: &'a mut Db,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Membership>, StoreError>> {
        let found: Vec<Membership> = self.of(user_id, "p").into_iter().collect();
        Box::pin(std::future::ready(Ok(found)))
    }
}

impl FindLibraries for ProjectStandIn {
    fn of_run<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let ids = if scope.conversation_id == "c" { vec!["p".to_owned()] } else { Vec::new() };
        Box::pin(std::future::ready(Ok(ids)))
    }
}

/// Opens a server with the projects of Ada, of whose users Bob may add files, too, and Cid may not.
async fn open(url: &str) -> (Server, ProjectStandIn) {
    let (server, project) = (Server::open(url).await, ProjectStandIn::default());
    *project.0.lock() = HashMap::from([("ada", true), ("bob", true), ("cid", false)]);
    let libraries = Libraries::default();
    libraries.provide_members(Arc::new(project.clone()));
    libraries.provide_find(Arc::new(project.clone()));
    server.knowledge.use_libraries(libraries);
    (server, project)
}

/// Adds a file as a user; returns why it was refused.
async fn add(server: &Server, user: &str, text: &'static str) -> Option<ErrorCode> {
    let content = futures::stream::iter([Ok(Bytes::from_static(text.as_bytes()))]).boxed();
    let file = NewProjectFile { name: "plan.md".to_owned(), media_type: None, content };
    ProjectFiles::add(&server.knowledge, &Caller::signed_in(user), "p", file).await.err().map(|error| error.code)
}

/// Returns what a user may do, and what they find.
async fn rights(server: &Server, user: &str) -> Option<(Access, Vec<String>)> {
    let viewer = viewer(user);
    let library = server.knowledge.library(&viewer, "p", Access::Read).await.ok()?;
    assert_eq!(server.knowledge.libraries(&viewer).await.unwrap(), std::slice::from_ref(&library));
    Some((server.knowledge.access(&viewer, &library)?, server.found(&viewer, "p", "pumps").await.unwrap()))
}

/// Returns the ids of the libraries that an agent with `choose: all` searches for a user.
async fn searched(server: &Server, user: &str, conversation: &str) -> Vec<String> {
    let scope = RunScope {
        user_id: user.to_owned(),
        is_authenticated: true,
        conversation_id: conversation.to_owned(),
        ..RunScope::default()
    };
    let options = KnowledgeOptions { choose: Some(LibraryChoice::All), ..KnowledgeOptions::default() };
    let found = server.knowledge.searched(&scope, &options).await.unwrap();
    found.into_iter().map(|library| library.id).collect()
}

async fn used(server: &Server, user: &str) -> i64 {
    store::used_bytes(server.knowledge.store(), user).await.unwrap()
}

const TEXT: &str = "The pumps run at night.";

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_project_are_for_its_members_and_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let (server, project) = open(&url).await;
        // The library is created with the first file.
        assert_eq!(rights(&server, "ada").await, None);
        assert_eq!(add(&server, "cid", TEXT).await, Some(ErrorCode::Forbidden));
        assert_eq!(add(&server, "eve", TEXT).await, Some(ErrorCode::NotFound));
        assert_eq!(server.rows("knowledge_libraries").await, 0);
        assert_eq!(add(&server, "bob", TEXT).await, None);
        assert_eq!(add(&server, "cid", TEXT).await, Some(ErrorCode::Forbidden));
        let documents = server.settled("p").await;
        let found = vec!["plan.md".to_owned()];
        assert_eq!(rights(&server, "ada").await, Some((Access::Manage, found.clone())));
        assert_eq!(rights(&server, "bob").await, Some((Access::Write, found.clone())));
        assert_eq!(rights(&server, "cid").await, Some((Access::Read, found.clone())));
        assert_eq!(rights(&server, "eve").await, None);

        // It counts as the file of who has added it, is searched in the project only, and is in no list of choices.
        let bytes = i64::try_from(TEXT.len()).unwrap();
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (0, bytes));
        for (user, conversation, expected) in [("cid", "c", &["p"][..]), ("cid", "d", &[]), ("eve", "c", &[])] {
            assert_eq!(searched(&server, user, conversation).await, expected, "{user} {conversation}");
        }
        assert_eq!(server.knowledge.readable(&Caller::signed_in("cid")).await.unwrap(), []);

        // Its name and its members are those of the project.
        let roles = LibraryChange { readers: Some(vec!["staff".to_owned()]), ..LibraryChange::default() };
        let refused = server.knowledge.change(&viewer("ada"), "p", roles).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden);
        let same =
            LibraryChange { name: Some("Sales".to_owned()), readers: Some(Vec::new()), ..LibraryChange::default() };
        assert_eq!(server.knowledge.change(&viewer("ada"), "p", same).await.unwrap().name, "Sales");

        // When Bob leaves, the file stays in the project and counts towards Ada's quota.
        project.0.lock().remove("bob");
        let knowledge = server.knowledge.clone();
        let leave = server
            .knowledge
            .store()
            .write(move |db| Box::pin(async move { knowledge.forget_member(db, "p", "bob").await }));
        leave.await.unwrap();
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (bytes, 0));
        let read = async |user: &str| server.knowledge.document(&viewer(user), &documents[0].id, Access::Read).await;
        assert_eq!(read("bob").await.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(read("cid").await.unwrap().file_name, "plan.md");
        assert_eq!((rights(&server, "bob").await, searched(&server, "bob", "c").await), (None, Vec::new()));

        let knowledge = server.knowledge.clone();
        let delete =
            server.knowledge.store().write(move |db| Box::pin(async move { knowledge.forget_project(db, "p").await }));
        delete.await.unwrap();
        let tables = ["knowledge_libraries", "knowledge_documents", "knowledge_versions", "knowledge_pieces"];
        for table in tables.into_iter().chain(["knowledge_parts", "knowledge_chunks"]) {
            assert_eq!(server.rows(table).await, 0, "{table}");
        }
        assert_eq!(rights(&server, "ada").await, None);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_count_for_members_and_are_refused_from_those_who_leave_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let (server, project) = open(&url).await;
        assert_eq!(add(&server, "bob", TEXT).await, None);
        let longer = "The pumps run at night and in the morning.";
        server.add("p", "plan.md", longer, true).await.unwrap();
        let bytes = i64::try_from(longer.len()).unwrap();
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (bytes, 0));
        server.settled("p").await;
        assert_eq!(add(&server, "bob", "Green").await, None);
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (bytes, 5));
        server.settled("p").await;

        let leaving = project.clone();
        let content = futures::stream::once(async move {
            leaving.0.lock().remove("bob");
            Ok(Bytes::from_static(b"The pumps are green."))
        });
        let file = NewProjectFile { name: "green.md".to_owned(), media_type: None, content: content.boxed() };
        let added = ProjectFiles::add(&server.knowledge, &Caller::signed_in("bob"), "p", file).await;
        assert_eq!(added.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!((server.rows("knowledge_documents").await, server.rows("knowledge_versions").await), (2, 2));
        server.close().await;
    }
}

/// Deletes a user as the job does, without what follows the transaction: the server may be killed there.
async fn delete_user(server: &Server, id: &str) {
    let store = server.knowledge.store();
    let user = ::store::NewUser {
        id: id.to_owned(),
        name: id.to_owned(),
        name_key: id.to_owned(),
        password: String::new(),
        must_change_password: false,
        roles: Vec::new(),
        now: 0,
    };
    store.add_user(user, false, None).await.unwrap();
    let mark = ::store::sql::query("UPDATE users SET deleted_at = 1 WHERE id = $1").bind(id);
    store.write(move |db| Box::pin(async move { Ok(mark.execute(db).await.map(drop)?) })).await.unwrap();
    assert!(store.delete_user(id).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_deleted_user_count_for_the_owner_although_the_server_ends_with_the_deletion() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let (server, _) = open(&url).await;
        assert_eq!(add(&server, "bob", TEXT).await, None);
        server.settled("p").await;
        let bytes = i64::try_from(TEXT.len()).unwrap();
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (0, bytes));
        delete_user(&server, "bob").await;
        server.close().await;

        let (server, _) = open(&url).await;
        assert_eq!((used(&server, "ada").await, used(&server, "bob").await), (bytes, 0));
        assert_eq!((server.rows("knowledge_documents").await, server.rows("knowledge_versions").await), (1, 1));
        // The owner's libraries are deleted with them.
        delete_user(&server, "ada").await;
        assert_eq!((server.rows("knowledge_libraries").await, server.rows("knowledge_documents").await), (0, 0));
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_of_projects_are_listed_after_all_others() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        // Their ids are before those of the other libraries, and they fill the list.
        let projects: Vec<String> = (0..500).map(|number| format!("0-{number:03}")).collect();
        let ids = projects.clone();
        let insert = server.knowledge.store().write(move |db| {
            Box::pin(async move {
                for project_id in ids {
                    let [name, owner] = ["Sales", "ada"].map(str::to_owned);
                    let project = Membership { project_id, name, owner, may_write: true };
                    store::insert_project_library(db, &project, 1).await?;
                }
                Ok(())
            })
        });
        insert.await.unwrap();
        let of_ada = server.library().await;
        let request = LibraryRequest {
            name: "Library".to_owned(),
            description: None,
            readers: Vec::new(),
            writers: Vec::new(),
            graph: false,
        };
        let of_bob = server.knowledge.create(&viewer("bob"), request).await.unwrap().id;
        for (user, roles, others) in [
            ("ada", Vec::new(), vec![of_ada.as_str()]),
            ("bob", vec!["staff".to_owned()], vec![of_bob.as_str(), of_ada.as_str()]),
            ("cid", Vec::new(), Vec::new()),
        ] {
            let listed = store::libraries(server.knowledge.store(), user, roles, projects.clone()).await.unwrap();
            let listed: Vec<_> = listed.iter().map(|library| library.id.as_str()).collect();
            let of_projects = projects.iter().map(String::as_str);
            let expected: Vec<_> = others.into_iter().chain(of_projects).take(500).collect();
            assert_eq!(listed, expected, "{user}");
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_in_a_library_that_was_deleted_on_another_server_and_created_anew() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let (server, _) = open(&url).await;
        let found = async |query: &str| server.found(&viewer("ada"), "p", query).await.unwrap();
        assert_eq!(add(&server, "ada", TEXT).await, None);
        server.settled("p").await;
        assert_eq!(found("pumps").await, ["plan.md"]);

        // Deleted in the database only, so that the index stays in memory, as it does on other servers.
        let write =
            server.knowledge.store().write(|db| Box::pin(async move { store::delete_project_library(db, "p").await }));
        write.await.unwrap();
        assert_eq!(add(&server, "ada", "The mill is closed.").await, None);
        server.settled("p").await;
        assert_eq!(found("mill").await, ["plan.md"]);
        server.close().await;
    }
}

const KILLS: KillTest = KillTest {
    variable: "KNOWLEDGE_PROJECTS_KILL_URL",
    test: "ingest::tests::projects::each_library_of_a_project_is_stored_whole_however_often_the_server_is_killed",
};
const PROJECTS: usize = 60;

/// Creates the libraries that are not there.
async fn serve(url: &str) {
    let (server, _) = open(url).await;
    let created = created(&server).await;
    for number in created..PROJECTS {
        server.knowledge.library_for_upload(&viewer("ada"), &format!("p{number}")).await.unwrap();
    }
    server.close().await;
}

/// Returns how many libraries were created, according to the audit log.
async fn created(server: &Server) -> usize {
    let rows = server.knowledge.store().audit_rows(i64::MIN, i64::MIN).await.unwrap();
    rows.iter().filter(|row| row.tool == "library:create").count()
}

/// Checks that each library has its row in the audit log; returns how many there are.
async fn check(url: &str) -> usize {
    let (server, _) = open(url).await;
    let created = created(&server).await;
    assert_eq!(usize::try_from(server.rows("knowledge_libraries").await).unwrap(), created);
    server.close().await;
    created
}

#[tokio::test(flavor = "multi_thread")]
async fn each_library_of_a_project_is_stored_whole_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(PROJECTS, check).await;
}
