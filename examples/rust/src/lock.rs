//! A lock that tells somebody before it is taken and after it was given back.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct Lock<T> {
    value: Mutex<T>,
    passed: Box<dyn Fn(&'static str) + Send + Sync>,
}

impl<T: Default> Lock<T> {
    pub fn new(passed: impl Fn(&'static str) + Send + Sync + 'static) -> Lock<T> {
        Lock { value: Mutex::default(), passed: Box::new(passed) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        (self.passed)("lock");
        self.lock_quietly()
    }

    pub fn lock_quietly(&self) -> Guard<'_, T> {
        let held = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        Guard { lock: self, held: Some(held) }
    }
}

pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
    held: Option<MutexGuard<'a, T>>,
}

impl<'a, T> Guard<'a, T> {
    /// Give the lock to something that waits and takes it again, such as a condition variable.
    pub fn during(&mut self, wait: impl FnOnce(MutexGuard<'a, T>) -> MutexGuard<'a, T>) {
        self.held = self.held.take().map(wait);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.as_ref().expect("it is held until it is dropped")
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("it is held until it is dropped")
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.held = None;
        (self.lock.passed)("unlock");
    }
}
