//! The lines to the kit, and the points at which it decides who goes on.

use crate::json::{object, text, Json};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::{LazyLock, Mutex};

thread_local! {
    /// The request that this thread answers; 0 where it answers none.
    pub static CALL: Cell<i64> = const { Cell::new(0) };
}
static POINTS: AtomicI64 = AtomicI64::new(1);
static HELD: LazyLock<Mutex<HashMap<i64, SyncSender<()>>>> = LazyLock::new(Mutex::default);

/// Tell the kit that this call is about to take a lock, or has given it back, and wait until it may go on.
pub fn point(at: &str) {
    let (go, going) = sync_channel(1);
    let id = POINTS.fetch_add(1, Ordering::Relaxed);
    HELD.lock().unwrap().insert(id, go);
    tell(id, [("at", text(at))]);
    going.recv().expect("whoever reads the lines lets it go on");
}

/// Tell the kit that this call waits for the clock, until this instant at the latest.
pub fn waits(until: u64) {
    tell(POINTS.fetch_add(1, Ordering::Relaxed), [("until", Json::Int(until as i64))]);
}

fn tell(id: i64, [(name, value)]: [(&str, Json); 1]) {
    let call = match CALL.get() {
        0 => Json::Null,
        call => Json::Int(call),
    };
    say([("id", Json::Int(id)), ("method", text("point")), ("params", object([("call", call), (name, value)]))]);
}

/// The kit has answered a point. Who waits for the clock is not held.
pub fn go_on(id: i64) {
    if let Some(go) = HELD.lock().unwrap().remove(&id) {
        go.send(()).expect("it waits");
    }
}

pub fn say<const N: usize>(message: [(&str, Json); N]) {
    let Json::Object(mut fields) = object(message) else { unreachable!() };
    fields.push(("jsonrpc".to_owned(), text("2.0")));
    let mut out = std::io::stdout().lock();
    let line = format!("{}\n", Json::Object(fields));
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0); // nobody listens any more
    }
}
