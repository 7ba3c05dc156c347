//! What may go wrong in a table, one thing at a time: `tasks --fault lost-outcome` is a table with one of them.
//! The first five show only where calls come at once: each takes the lock twice for what has to be one step.

use crate::table::{Id, Outcome, Returned, Row, Status, TaskTable};
use std::ops::Deref;

#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    LostOutcome,
    MissedWakeUp,
    CancelOverwrites,
    SameId,
    EndedTwice,
    OutcomeEvicted,
    OrderedAsText,
    GivesUpEarly,
}

pub const FAULTS: [(&str, Fault); 8] = [
    ("lost-outcome", Fault::LostOutcome),
    ("missed-wake-up", Fault::MissedWakeUp),
    ("cancel-overwrites", Fault::CancelOverwrites),
    ("same-id", Fault::SameId),
    ("ended-twice", Fault::EndedTwice),
    ("outcome-evicted", Fault::OutcomeEvicted),
    ("ordered-as-text", Fault::OrderedAsText),
    ("gives-up-early", Fault::GivesUpEarly),
];

/// A handle of a table, with a fault or none.
#[derive(Clone)]
pub struct Handle {
    pub table: TaskTable,
    pub fault: Option<Fault>,
}

impl Deref for Handle {
    type Target = TaskTable;

    fn deref(&self) -> &TaskTable {
        &self.table
    }
}

impl Handle {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// What ends between the copy and the clearing is gone.
    pub fn drain(&self) -> Vec<Outcome> {
        if !self.has(Fault::LostOutcome) {
            return self.table.drain();
        }
        let drained = self.lock().outcomes.clone();
        self.lock().outcomes.clear();
        drained
    }

    /// What ends after the look, and before the caller stands in line, wakes nobody. Or it waits a millisecond less.
    pub fn wait(&self, timeout: u64) -> bool {
        if !self.has(Fault::MissedWakeUp) {
            return self.table.wait(timeout - u64::from(self.has(Fault::GivesUpEarly) && timeout > 0));
        }
        let kept = std::mem::take(&mut self.lock().permit);
        kept || self.stand_in_line(self.lock(), timeout)
    }

    /// A cancel writes the row that it has read, whatever became of it meanwhile.
    pub fn cancel(&self, task: Id) -> Option<bool> {
        if !self.has(Fault::CancelOverwrites) {
            return self.table.cancel(task);
        }
        let row = self.lock().rows.get(&task).cloned()?;
        if row.status != Status::Running {
            return Some(false);
        }
        let mut state = self.lock();
        state.rows.insert(task, row);
        self.ask(&mut state, task);
        Some(true)
    }

    /// Two that look at once take one id.
    pub fn spawn(&self, label: &str) -> Id {
        if !self.has(Fault::SameId) {
            return self.table.spawn(label);
        }
        let id = Id(self.lock().last + 1);
        self.enter(&mut self.lock(), id, label);
        id
    }

    /// Two bodies that both see it running both end it. Or the outcome of a row that leaves goes with it.
    pub fn finish(&self, task: Id, returned: Returned) {
        if self.has(Fault::EndedTwice) {
            let row = self.lock().rows.get(&task).cloned();
            if let Some(row) = row.filter(|row| row.status == Status::Running) {
                let mut state = self.lock();
                state.rows.insert(task, row);
                return self.end(&mut state, task, returned);
            }
        }
        self.table.finish(task, returned);
        if self.has(Fault::OutcomeEvicted) {
            let state = &mut *self.lock();
            state.outcomes.retain(|outcome| state.rows.contains_key(&outcome.task));
        }
    }

    /// The tenth task comes before the second.
    pub fn list(&self) -> Vec<(Id, Row)> {
        let mut rows = self.table.list();
        if self.has(Fault::OrderedAsText) {
            rows.sort_by_key(|(id, _)| id.to_string());
        }
        rows
    }
}
