//! Places for runs: of the process, and of each user among them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for runs. A user has at most some of it, so that nobody takes all.
pub(crate) struct Places {
    all: Arc<Semaphore>,
    /// How many each user has, of those who have one.
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// One place; it is free again when this is dropped.
pub(crate) struct Place {
    _of_all: OwnedSemaphorePermit,
    taken: Arc<Mutex<HashMap<String, usize>>>,
    user_id: String,
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All are taken.
    Full,
    /// The user has as many as he may.
    UserFull,
}

impl Places {
    /// Places of the whole process.
    pub(crate) fn new(most: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(most)), taken: Arc::default() }
    }

    /// Whether anybody would get one now.
    pub(crate) fn has_room(&self) -> bool {
        self.all.available_permits() > 0
    }

    /// A place for a user, who has at most `most`.
    pub(crate) fn take(&self, user_id: &str, most: usize) -> Result<Place, Refusal> {
        let of_all = self.all.clone().try_acquire_owned().map_err(|_| Refusal::Full)?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.get(user_id).copied().unwrap_or_default();
        if count >= most {
            return Err(Refusal::UserFull);
        }
        taken.insert(user_id.to_owned(), count + 1);
        drop(taken);
        Ok(Place { _of_all: of_all, taken: self.taken.clone(), user_id: user_id.to_owned() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.user_id) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.user_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_below_and_above() {
        let places = Places::new(3);
        let take = |user: &str| places.take(user, 2);
        let (first, second) = (take("ada").ok(), take("ada").ok());
        assert!(first.is_some() && second.is_some(), "below it and at it");
        assert_eq!(take("ada").err(), Some(Refusal::UserFull));
        assert!(places.has_room(), "what is refused takes nothing");
        let third = take("bob").ok();
        assert!(third.is_some() && !places.has_room());
        assert_eq!(take("bob").err(), Some(Refusal::Full));
        drop(first);
        assert!(take("ada").is_ok(), "a place came back");
        drop((second, third));
        assert!(places.taken.lock().unwrap().is_empty(), "nothing is kept of those who have none");
    }
}
