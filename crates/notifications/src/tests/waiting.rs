//! Tests of items that wait for people: who gets notifications, and that they are sent for stored items only.

use super::{TABLES, browser, emails, on_each_database, store};
use crate::Paces;
use crate::waiting::{TELL, Teller};
use ::store::{Store, StoreError};
use capability::{TellOfWaiting, WaitingKind};
use jobs::{JobFilter, Jobs};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Returns what tells people with these paces.
pub(super) fn teller(store: &Store, pace: &Arc<RwLock<Paces>>) -> Arc<Teller> {
    Arc::new(Teller { jobs: Jobs::new(store.clone()), pace: pace.clone() })
}

/// Returns how many things people are going to be told of.
pub(super) async fn announced(store: &Store) -> usize {
    let filter = JobFilter { kind: Some(TELL.name().to_owned()), ..JobFilter::default() };
    Jobs::new(store.clone()).list(filter, 200).await.unwrap().len()
}

/// The paces with notifications in browsers.
pub(super) fn with_browsers() -> Paces {
    Paces { browsers: Some(Duration::from_secs(3_600)), email: None }
}

#[tokio::test]
async fn people_are_told_of_what_was_stored_if_there_are_notifications() {
    on_each_database(&[TABLES], async |store| {
        let pace = Arc::<RwLock<Paces>>::default();
        let teller = teller(store, &pace);
        let begin = async |id: &'static str, is_stored: bool| {
            let teller = teller.clone();
            let write = store.write(move |db| {
                Box::pin(async move {
                    teller.begins(db, WaitingKind::Task, id).await?;
                    if is_stored { Ok(()) } else { Err(StoreError::Invalid("undone")) }
                })
            });
            assert_eq!(write.await.is_ok(), is_stored);
            announced(store).await
        };
        assert_eq!(begin("t1", true).await, 0, "the config has no notifications");
        *pace.write().unwrap() = with_browsers();
        assert_eq!(begin("t1", false).await, 0);
        assert_eq!(begin("t1", true).await, 1);
        assert_eq!(begin("t1", true).await, 1);
        assert_eq!(begin("t2", true).await, 2);
    })
    .await;
}

#[tokio::test]
async fn users_with_notifications_are_found() {
    on_each_database(&[TABLES], async |database| {
        for id in ["b1", "b2"] {
            store::add(database, browser(id, "bob", &format!("https://push.test/{id}"), 1), 5).await.unwrap();
        }
        for (owner, token) in [("ada", "t1"), ("eve", "t2")] {
            let ask = database
                .write(move |db| Box::pin(async move { emails::ask(db, owner, "someone@a.test", token, 5).await }));
            assert!(ask.await.unwrap());
        }
        assert!(emails::confirm(database, "ada", "t1", 7).await.unwrap());
        assert_eq!(store::owners(database, 9).await.unwrap(), ["ada", "bob"], "eve has not confirmed her address");
        assert_eq!(store::owners(database, 1).await.unwrap(), ["ada"]);
    })
    .await;
}
