//! The background tasks of a session: how each stands, and what became of those that have ended.
//!
//! A task has two sides that live apart. Its row tells how it stands, from when it is spawned until enough others have ended
//! after it. Its outcome is queued when it ends, and somebody drains it, once. Every clone of a table is the same table.

use crate::lock::{Guard, Lock};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Ids count up, and are never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "task-{}", self.0)
    }
}

impl FromStr for Id {
    type Err = ();

    fn from_str(text: &str) -> Result<Id, ()> {
        let id = Id(text.strip_prefix("task-").and_then(|number| number.parse().ok()).ok_or(())?);
        if id.to_string() == text { Ok(id) } else { Err(()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    Completed,
    Failed,
    Canceled,
}

/// What a body returned: that it has done its work, or that it could not.
pub type Returned = Result<String, String>;

#[derive(Clone, Debug)]
pub struct Row {
    pub label: String,
    pub status: Status,
    /// The task's own token: it is asked to end.
    pub cancelled: bool,
    history: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub task: Id,
    pub label: String,
    pub returned: Returned,
}

pub struct Peek {
    pub blocks: Vec<String>,
    pub total: usize,
}

#[derive(Clone, Copy)]
pub struct Limits {
    /// Rows of ended tasks that stay.
    pub retained: usize,
    /// Blocks of a history that are shown where nobody says how many.
    pub recent: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { retained: 64, recent: 10 }
    }
}

/// What surrounds a table.
pub trait Host: Send + Sync {
    /// The instant, in milliseconds.
    fn now(&self) -> u64;

    /// A task is asked to end: its body should hear of it.
    fn cancelled(&self, task: Id);

    /// Somebody is about to take the lock of the table, or has given it back.
    fn passes(&self, _at: &'static str) {}

    /// Block until `changed` is notified, or the instant has come.
    fn block<'a>(&self, changed: &Condvar, state: MutexGuard<'a, State>, until: u64) -> MutexGuard<'a, State> {
        let left = Duration::from_millis(until.saturating_sub(self.now()));
        changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// All that the lock of a table guards.
#[derive(Default)]
pub struct State {
    pub last: u64,
    pub rows: BTreeMap<Id, Row>,
    /// Tasks whose rows stay although they have ended, in the order of their ends.
    ended: VecDeque<Id>,
    pub outcomes: Vec<Outcome>,
    /// Whoever waits for a completion, first come first; one that is woken stands there no more.
    line: VecDeque<u64>,
    tickets: u64,
    /// A completion that nobody waited for.
    pub permit: bool,
    cancelled: bool,
}

struct Shared {
    host: Arc<dyn Host>,
    limits: Limits,
    state: Lock<State>,
    changed: Condvar,
}

#[derive(Clone)]
pub struct TaskTable(Arc<Shared>);

impl TaskTable {
    pub fn new(host: Arc<dyn Host>, limits: Limits) -> TaskTable {
        let passes = host.clone();
        let state = Lock::new(move |at| passes.passes(at));
        TaskTable(Arc::new(Shared { host, limits, state, changed: Condvar::new() }))
    }

    pub fn lock(&self) -> Guard<'_, State> {
        self.0.state.lock()
    }

    // ── Tasks

    /// Begin a task. Its row is there when this returns; of a cancelled session it is asked to end at once.
    pub fn spawn(&self, label: &str) -> Id {
        let mut state = self.lock();
        let id = Id(state.last + 1);
        self.enter(&mut state, id, label);
        id
    }

    pub fn enter(&self, state: &mut State, id: Id, label: &str) {
        state.last = id.0;
        let row = Row { label: label.to_owned(), status: Status::Running, cancelled: false, history: None };
        state.rows.insert(id, row);
        if state.cancelled {
            self.ask(state, id);
        }
    }

    /// The body of a task returns; of one that does not run any more nobody wants to know.
    pub fn finish(&self, task: Id, returned: Returned) {
        self.end(&mut self.lock(), task, returned);
    }

    /// The body of a task panics.
    pub fn crash(&self, task: Id) {
        self.finish(task, Err("the body panicked".to_owned()));
    }

    pub fn end(&self, state: &mut State, task: Id, returned: Returned) {
        let Some(row) = state.rows.get_mut(&task).filter(|row| row.status == Status::Running) else { return };
        row.status = match returned {
            _ if row.cancelled => Status::Canceled,
            Ok(_) => Status::Completed,
            Err(_) => Status::Failed,
        };
        state.outcomes.push(Outcome { task, label: row.label.clone(), returned });
        state.ended.push_back(task);
        while state.ended.len() > self.0.limits.retained {
            let first = state.ended.pop_front().expect("there are some");
            state.rows.remove(&first);
        }
        state.permit |= state.line.pop_front().is_none();
        self.0.changed.notify_all();
    }

    // ── Cancellation: it asks, and bodies end when they see fit

    /// Ask a task to end. False where it has ended already, none where there is no such task.
    pub fn cancel(&self, task: Id) -> Option<bool> {
        let mut state = self.lock();
        let runs = state.rows.get(&task)?.status == Status::Running;
        self.ask(&mut state, task);
        Some(runs)
    }

    /// Cancel the session: all of its tasks, and those that begin later.
    pub fn cancel_all(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        for task in state.rows.keys().copied().collect::<Vec<_>>() {
            self.ask(&mut state, task);
        }
    }

    pub fn ask(&self, state: &mut State, task: Id) {
        let Some(row) = state.rows.get_mut(&task).filter(|row| row.status == Status::Running) else { return };
        if !row.cancelled {
            row.cancelled = true;
            self.0.host.cancelled(task);
        }
    }

    // ── Completions

    /// Take all outcomes that are queued, in the order of their ends.
    pub fn drain(&self) -> Vec<Outcome> {
        std::mem::take(&mut self.lock().outcomes)
    }

    pub fn has_completed(&self) -> bool {
        !self.lock().outcomes.is_empty()
    }

    /// Wait until a task ends, for so many milliseconds at most; a completion that nobody waited for counts. Whether one came.
    pub fn wait(&self, timeout: u64) -> bool {
        let mut state = self.lock();
        if std::mem::take(&mut state.permit) {
            return true;
        }
        self.stand_in_line(state, timeout)
    }

    pub fn stand_in_line(&self, mut state: Guard<'_, State>, timeout: u64) -> bool {
        let until = self.0.host.now() + timeout;
        state.tickets += 1;
        let ticket = state.tickets;
        state.line.push_back(ticket);
        while state.line.contains(&ticket) {
            if self.0.host.now() >= until {
                state.line.retain(|each| *each != ticket);
                return false;
            }
            state.during(|held| self.0.host.block(&self.0.changed, held, until));
        }
        true
    }

    /// Let whoever waits look at the clock: for hosts whose clock is moved by hand.
    pub fn clock_moved(&self) {
        let _held = self.0.state.lock_quietly(); // who has looked and does not wait yet would miss it
        self.0.changed.notify_all();
    }

    // ── Looks

    pub fn running(&self) -> usize {
        self.lock().rows.values().filter(|row| row.status == Status::Running).count()
    }

    /// The rows that are there, in the order of their ids.
    pub fn list(&self) -> Vec<(Id, Row)> {
        let without_history = |row: &Row| Row { label: row.label.clone(), history: None, ..*row };
        self.lock().rows.iter().map(|(id, row)| (*id, without_history(row))).collect()
    }

    /// The last blocks of a task's history, at least one, and how many there are.
    pub fn peek(&self, task: Id, recent: Option<usize>) -> Option<Peek> {
        let state = self.lock();
        let blocks = state.rows.get(&task)?.history.as_deref().unwrap_or_default();
        let shown = recent.unwrap_or(self.0.limits.recent).max(1);
        Some(Peek { blocks: blocks[blocks.len().saturating_sub(shown)..].to_vec(), total: blocks.len() })
    }

    /// Keep from now on what the body of a task says.
    pub fn attach_history(&self, task: Id) {
        if let Some(row) = self.lock().rows.get_mut(&task) {
            row.history.get_or_insert_with(Vec::new);
        }
    }

    pub fn append_history(&self, task: Id, blocks: impl IntoIterator<Item = String>) {
        if let Some(history) = self.lock().rows.get_mut(&task).and_then(|row| row.history.as_mut()) {
            history.extend(blocks);
        }
    }
}
