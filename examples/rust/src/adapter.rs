//! Between a table and the kit: the operations of the life cycle as calls of the table.

use crate::faults::{Fault, Handle};
use crate::json::{object, text, Json};
use crate::kit;
use crate::table::{Host, Id, Limits, Outcome, State, Status, TaskTable};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Small numbers, so that short cases come to them.
const LIMITS: Limits = Limits { retained: 4, recent: 3 };

/// What the table says of itself: see docs/adapters.md.
pub fn hello() -> Json {
    let limits = [("retained", LIMITS.retained), ("recent", LIMITS.recent)];
    let policies = [
        ("cancelled_body", "canceled"),
        ("crash", "failed"),
        ("spawn_after_cancel", "canceled"),
        ("canceled_outcome", "as_returned"),
        ("id_order", "numeric"),
    ];
    let declares = object([
        ("limits", object(limits.map(|(name, limit)| (name, Json::Int(limit as i64))))),
        ("policies", object(policies.map(|(name, choice)| (name, text(choice))))),
        ("lacks", Json::List(["spawn_with", "spawn_from"].map(text).to_vec())),
        ("clock", text("virtual")),
        ("concurrency", text("threads")),
    ]);
    object([("protocol", Json::Int(1)), ("declares", declares), ("points", Json::Bool(true))])
}

/// A clock that only the kit moves, points round the lock, and what the bodies of tasks hear.
#[derive(Default)]
struct Surroundings {
    now: AtomicU64,
    signals: Mutex<Vec<Json>>,
}

impl Host for Surroundings {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn cancelled(&self, task: Id) {
        let signal = object([("signal", text("CancelSeen")), ("task_id", text(task.to_string()))]);
        self.signals.lock().unwrap().push(signal);
    }

    fn passes(&self, at: &'static str) {
        kit::point(at);
    }

    fn block<'a>(&self, changed: &Condvar, state: MutexGuard<'a, State>, until: u64) -> MutexGuard<'a, State> {
        kit::waits(until);
        changed.wait(state).unwrap()
    }
}

/// The table of one case.
pub struct Case {
    host: Arc<Surroundings>,
    handles: Mutex<Vec<Handle>>,
    calls: AtomicUsize,
}

impl Case {
    pub fn new(fault: Option<Fault>) -> Case {
        let host = Arc::new(Surroundings::default());
        let table = TaskTable::new(host.clone(), LIMITS);
        Case { host, handles: Mutex::new(vec![Handle { table, fault }]), calls: AtomicUsize::new(0) }
    }

    /// Calls go through all handles in turn.
    fn handle(&self) -> Handle {
        let handles = self.handles.lock().unwrap();
        handles[self.calls.fetch_add(1, Ordering::Relaxed) % handles.len()].clone()
    }

    /// The reply of a call; none where there is no such method.
    pub fn answer(&self, method: &str, params: &Json) -> Option<Json> {
        let table = self.handle();
        let word = |name| params.get(name).as_text().unwrap_or_default();
        let number = |name| params.get(name).as_int().map(|number| number.max(0) as u64);
        let task = word("task").parse::<Id>();
        let known = |call: &dyn Fn(Id)| task.into_iter().for_each(call);
        Some(match method {
            "spawn" => object([("task_id", text(table.spawn(word("label")).to_string()))]),
            "finish" => {
                let said = word("text").to_owned();
                let returned = if word("outcome") == "completed" { Ok(said) } else { Err(said) };
                done(known(&|id| table.finish(id, returned.clone())))
            }
            "crash" => done(known(&|id| table.crash(id))),
            "cancel_task" => task.ok().and_then(|id| table.cancel(id)).map_or(Json::Null, Json::Bool),
            "cancel_all" | "session_cancelled" => done(table.cancel_all()),
            "drain_completed" => Json::List(table.drain().into_iter().map(outcome).collect()),
            "has_completed" => Json::Bool(table.has_completed()),
            "wait_for_completion" => Json::Bool(table.wait(number("timeout")?)),
            "running_count" => Json::Int(table.running() as i64),
            "list" => Json::List(table.list().into_iter().map(|(id, row)| listed(id, &row.label, row.status)).collect()),
            "peek" => {
                let recent = number("recent").map(|count| count as usize);
                task.ok().and_then(|id| table.peek(id, recent)).map_or(Json::Null, |peek| {
                    let blocks = peek.blocks.into_iter().map(text).collect();
                    object([("blocks", Json::List(blocks)), ("total", Json::Int(peek.total as i64))])
                })
            }
            "attach_history" => done(known(&|id| table.attach_history(id))),
            "append_history" => {
                let blocks = params.get("blocks").items().iter().filter_map(Json::as_text).map(str::to_owned);
                done(known(&|id| table.append_history(id, blocks.clone())))
            }
            "clone" => done(self.handles.lock().unwrap().push(table.clone())),
            "signals" => Json::List(std::mem::take(&mut *self.host.signals.lock().unwrap())),
            "wait" => {
                self.host.now.fetch_add(number("ms")?, Ordering::SeqCst);
                done(table.clock_moved())
            }
            _ => return None,
        })
    }
}

fn done(_: ()) -> Json {
    Json::Null
}

fn word_of(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Canceled => "canceled",
    }
}

fn listed(id: Id, label: &str, status: Status) -> Json {
    object([
        ("task_id", text(id.to_string())),
        ("label", text(label)),
        ("status", text(word_of(status))),
        ("block_count", Json::Int(0)),
        ("recent", Json::List(Vec::new())),
    ])
}

fn outcome(outcome: Outcome) -> Json {
    let (status, said) = match outcome.returned {
        Ok(said) => (Status::Completed, said),
        Err(said) => (Status::Failed, said),
    };
    let result = object([("status", text(word_of(status))), ("text", text(said))]);
    object([("task_id", text(outcome.task.to_string())), ("label", text(outcome.label)), ("result", result)])
}
