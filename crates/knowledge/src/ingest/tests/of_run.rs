//! Libraries that a conversation has of its own, such as those of its project.

use super::*;
use crate::section::{KnowledgeOptions, LibraryChoice};
use ::store::StoreError;
use capability::{FindLibraries, Libraries};
use contract::RunScope;
use futures::future::BoxFuture;
use settings::{Text, UserSwitch};
use std::sync::Arc;
use test_postgres::database_files_of_each_kind;

/// Finds the same libraries for each run.
struct Fixed(Vec<String>);

impl FindLibraries for Fixed {
    fn of_run<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_of_a_conversation_are_searched_with_the_rights_of_its_user() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let (own, other) = (server.library().await, server.library().await);
        let libraries = Libraries::default();
        libraries.provide_find(Arc::new(Fixed(vec![own.clone(), "gone".to_owned()])));
        server.knowledge.use_libraries(libraries);
        let check = async |user: &str, options: &KnowledgeOptions, chosen: Option<&[&String]>, expected: &[&String]| {
            let (user_id, role) = user.split_once(' ').unwrap_or((user, "none"));
            let chosen = chosen.map(|ids| ids.iter().map(|id| (*id).clone()).collect());
            let scope = RunScope {
                user_id: user_id.to_owned(),
                roles: vec![role.to_owned()],
                is_authenticated: true,
                conversation_id: "c".to_owned(),
                libraries: chosen,
                ..RunScope::default()
            };
            let found = server.knowledge.searched(&scope, options).await.unwrap();
            let found: Vec<_> = found.iter().map(|library| &library.id).collect();
            assert_eq!(found, expected, "{user} {options:?} {:?}", scope.libraries);
        };
        let none = KnowledgeOptions::default();
        let all = KnowledgeOptions { choose: Some(LibraryChoice::All), ..none.clone() };
        let named = KnowledgeOptions { libraries: vec![Text(other.clone())], ..none.clone() };
        let listed = KnowledgeOptions { choose: Some(LibraryChoice::Listed), ..named.clone() };
        let off = KnowledgeOptions { documents: Some(UserSwitch::OptIn), ..named.clone() };
        check("ada", &none, None, &[&own]).await;
        check("bob", &none, None, &[]).await;
        check("bob staff", &none, None, &[&own]).await;
        check("ada", &all, None, &[&own]).await;
        check("ada", &all, Some(&[&other]), &[&other]).await;
        check("ada", &all, Some(&[]), &[]).await;
        check("ada", &named, None, &[&own, &other]).await;
        check("bob", &named, None, &[]).await;
        check("ada", &listed, Some(&[]), &[&own]).await;
        check("ada", &listed, Some(&[&other, &own]), &[&own, &other]).await;
        check("ada", &off, None, &[]).await;
        server.close().await;
    }
}
