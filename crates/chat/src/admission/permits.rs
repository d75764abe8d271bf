//! Permits for runs and other costly work of users, limited for the process and for each user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits for one kind of work. A single user can hold only some of them.
pub struct RunPermits {
    all: Arc<Semaphore>,
    /// The number of permits by user; users without a permit are absent.
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// A permit, such as that of a run; released when dropped.
pub struct RunPermit {
    _of_all: OwnedSemaphorePermit,
    taken: Arc<Mutex<HashMap<String, usize>>>,
    user_id: String,
}

/// The reason why there is no permit.
#[derive(Debug, PartialEq, Eq)]
pub enum PermitError {
    /// All permits are in use.
    Full,
    /// The user holds the maximum number of permits.
    UserFull,
    /// Memory is short, and other runs are active.
    NoMemory,
}

impl RunPermits {
    /// Creates as many permits for the whole process.
    pub fn new(most: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(most)), taken: Arc::default() }
    }

    /// Returns whether a permit is free.
    pub(crate) fn has_free(&self) -> bool {
        self.all.available_permits() > 0
    }

    /// Returns whether any permit is in use.
    pub(crate) fn is_any_taken(&self) -> bool {
        !self.taken.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns a permit for a user, who may hold `most`; with `alone`, only if no other permit is
    /// in use.
    ///
    /// # Errors
    /// See [`PermitError`].
    pub fn acquire(&self, user_id: &str, most: usize, alone: bool) -> Result<RunPermit, PermitError> {
        let of_all = self.all.clone().try_acquire_owned().map_err(|_| PermitError::Full)?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if alone && !taken.is_empty() {
            return Err(PermitError::NoMemory);
        }
        let count = taken.get(user_id).copied().unwrap_or_default();
        if count >= most {
            return Err(PermitError::UserFull);
        }
        taken.insert(user_id.to_owned(), count + 1);
        drop(taken);
        Ok(RunPermit { _of_all: of_all, taken: self.taken.clone(), user_id: user_id.to_owned() })
    }
}

impl Drop for RunPermit {
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
    fn permits_are_limited_in_total_and_per_user() {
        let places = RunPermits::new(3);
        let take = |user: &str| places.acquire(user, 2, false);
        let (first, second) = (take("ada").ok(), take("ada").ok());
        assert!(first.is_some() && second.is_some(), "below it and at it");
        assert_eq!(take("ada").err(), Some(PermitError::UserFull));
        assert!(places.has_free(), "what is refused takes nothing");
        let third = take("bob").ok();
        assert!(third.is_some() && !places.has_free());
        assert_eq!(take("bob").err(), Some(PermitError::Full));
        drop(first);
        assert!(take("ada").is_ok(), "a place came back");
        assert_eq!(places.acquire("eve", 2, true).err(), Some(PermitError::NoMemory), "not alone");
        drop((second, third));
        assert!(!places.is_any_taken() && places.acquire("eve", 2, true).is_ok());
        assert!(places.taken.lock().unwrap().is_empty(), "nothing is kept of those who have none");
    }
}
