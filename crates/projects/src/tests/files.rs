//! The files of projects: who may read them, in which conversations they are searched, and what ends them.

use super::instructions::config;
use super::*;
use crate::service::Projects;
use ::store::sql::Db;
use ::store::{MoveFolderOutcome, StoreError};
use capability::{
    Caller, FindLibraries, Libraries, Membership, NewProjectFile, ProjectFile, ProjectFiles, ProjectMembers,
};
use contract::RunScope;
use futures::future::{BoxFuture, ready};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use wire::UserError;

/// The ids of projects with files, and what was forgotten.
#[derive(Default)]
struct Files {
    projects: Mutex<HashSet<String>>,
    forgotten: Mutex<Vec<String>>,
}

impl ProjectFiles for Files {
    fn list<'a>(&'a self, _: &'a Caller, _: &'a str, _: u32) -> BoxFuture<'a, Result<Vec<ProjectFile>, UserError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn add<'a>(
        &'a self,
        _: &'a Caller,
        project_id: &'a str,
        _: NewProjectFile<'a>,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        self.projects.lock().insert(project_id.to_owned());
        Box::pin(ready(Ok(())))
    }

    fn delete<'a>(&'a self, _: &'a Caller, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), UserError>> {
        Box::pin(ready(Ok(())))
    }

    fn with_files(&self, project_ids: Vec<String>) -> BoxFuture<'_, Result<HashSet<String>, StoreError>> {
        let known = self.projects.lock();
        let found: HashSet<String> = project_ids.into_iter().filter(|id| known.contains(id)).collect();
        Box::pin(ready(Ok(found)))
    }

    fn forget_project<'a>(&'a self, _: &'a mut Db, project_id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.forgotten.lock().push(project_id.to_owned());
        Box::pin(ready(Ok(())))
    }

    fn forget_member<'a>(
        &'a self,
        _: &'a mut Db,
        project_id: &'a str,
        user_id: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.forgotten.lock().push(format!("{project_id} {user_id}"));
        Box::pin(ready(Ok(())))
    }
}

fn files_of(ids: &[&str]) -> (Arc<Files>, Libraries) {
    let files = Arc::new(Files::default());
    files.projects.lock().extend(ids.iter().map(|id| (*id).to_owned()));
    let libraries = Libraries::default();
    libraries.provide_files(files.clone());
    (files, libraries)
}

#[tokio::test]
async fn members_of_a_project_may_read_its_files_and_editors_change_them() {
    on_each_database(&[TABLES], async |store| {
        let projects = Projects::new(store.clone(), Libraries::default());
        new(store, "ada", "p", settings("Sales", "")).await;
        join(store, "ada", "p", "bob", Role::Editor).await;
        join(store, "ada", "p", "cid", Role::Viewer).await;
        let member = async |user: &str| {
            let (projects, user) = (projects.clone(), user.to_owned());
            let (one, all) = (projects.clone(), user.clone());
            let one = store.read(move |db| Box::pin(async move { one.membership(db, &user, "p").await }));
            let all = store.read(move |db| Box::pin(async move { projects.memberships(db, &all).await }));
            let (one, all): (Option<Membership>, Vec<Membership>) = (one.await.unwrap(), all.await.unwrap());
            assert_eq!(all, Vec::from_iter(one.clone()));
            one.map(|it| format!("{} {} {} {}", it.project_id, it.name, it.owner, it.may_write))
        };
        assert_eq!(member("ada").await, None, "there are no projects yet");
        projects.use_config(&config("projects: {}"));
        assert_eq!(member("ada").await.as_deref(), Some("p Sales ada true"));
        assert_eq!(member("bob").await.as_deref(), Some("p Sales ada true"));
        assert_eq!(member("cid").await.as_deref(), Some("p Sales ada false"));
        assert_eq!(member("eve").await, None);
        assert_eq!(remove(store, "ada", "p", "bob").await, RemoveOutcome::Removed);
        assert_eq!(member("bob").await, None);
    })
    .await;
}

#[tokio::test]
async fn files_are_searched_in_the_project_and_in_folders_without_libraries_in_it() {
    on_each_database(&[TABLES], async |store| {
        let (files, libraries) = files_of(&["p"]);
        let projects = Projects::new(store.clone(), libraries);
        projects.use_config(&config("projects: {}"));
        let with = ProjectSettings { libraries: vec!["papers".to_owned()], ..settings("Sales", "") };
        new(store, "ada", "p", with).await;
        new(store, "ada", "q", settings("May", "Briefly.")).await;
        assert_eq!(store.move_folder("ada", "f-ada-q", Some("f-ada-p")).await.unwrap(), MoveFolderOutcome::Moved);
        for (conversation, folder) in [("c", Some("f-ada-p")), ("d", Some("f-ada-q")), ("e", None)] {
            begin(store, "ada", conversation, 1).await;
            file(store, "ada", conversation, folder).await;
        }
        let found = async |conversation: &str| {
            let scope = RunScope {
                user_id: "ada".to_owned(),
                conversation_id: conversation.to_owned(),
                agent_id: "helper".to_owned(),
                is_authenticated: true,
                ..RunScope::default()
            };
            projects.of_run(&scope).await.unwrap().join(" ")
        };
        assert_eq!([found("c").await, found("d").await, found("e").await], ["p papers", "p papers", ""]);
        files.projects.lock().insert("q".to_owned());
        assert_eq!([found("c").await, found("d").await], ["p papers", "q"], "the files of the nearest count");
    })
    .await;
}

#[tokio::test]
async fn files_end_with_the_project_and_those_of_a_member_become_the_owners() {
    on_each_database(&[TABLES], async |store| {
        let (files, libraries) = files_of(&[]);
        new(store, "ada", "p", settings("Sales", "")).await;
        join(store, "ada", "p", "bob", Role::Editor).await;
        let leave = async |by: &str, user: &str| {
            remove_member(store, &libraries, by, ("p", user), audit(by, "remove_member")).await.unwrap()
        };
        assert_eq!(leave("eve", "bob").await, RemoveOutcome::Unknown);
        assert!(!delete(store, &libraries, "bob", "p", audit("bob", "delete")).await.unwrap());
        assert_eq!(*files.forgotten.lock(), [""; 0]);
        assert_eq!(leave("bob", "bob").await, RemoveOutcome::Removed);
        assert!(delete(store, &libraries, "ada", "p", audit("ada", "delete")).await.unwrap());
        assert_eq!(*files.forgotten.lock(), ["p bob", "p"]);
    })
    .await;
}
