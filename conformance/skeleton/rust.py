"""The skeleton of an adapter in Rust. It takes JSON from the crate that nearly every program has: one of its own would not fit here."""

from __future__ import annotations

import json
from typing import Final

from conformance.skeleton.facts import Outline
from conformance.skeleton.listed import Style, plain, written

_TEMPLATE: Final = """\
//! An adapter for $name: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//!     conformance run $called --against "stdio:target/release/adapter"
//! It is `src/main.rs` of a package called adapter, and needs one dependency: `cargo add serde_json`.
//! A call gives plain values back; it refuses with `Err(Refused("$code"))`. A panic counts as a crash.
//! stdout is for messages only: log with eprintln.
#![allow(dead_code, unused_variables)] // until it is filled in
use serde_json::{json, Value};
use std::sync::{atomic::AtomicI64, atomic::Ordering::SeqCst, mpsc, Arc, Mutex};
use std::{cell::Cell, collections::HashMap, panic};

/// What your system says of itself; leave a word out where its default fits.$choices
fn declares() -> Value { json!({
    "limits": $limits,
    "policies": $policies,
    "lacks": $lacks, // optional operations, those that only look, test controls, and signals: "signal NAME"$parts
    "deviates": {}, // known failures, by row or clause: {"N1": {"reason": "…"}}
    "clock": "none", // "virtual" with "wait" below, which moves it; "running": time does, too; "real": only time does
    "concurrency": "none", // "threads" when several calls may come at once: each is made on a thread of its own
    "settles": 0, // milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
}) }
const POINTS: bool = false; // true when calls tell of points, below

enum Fault { Refused(&'static str), Missing } // with a code of the life cycle
use Fault::{Missing, Refused};

#[derive(Default)] struct MyJobs {} // your system, a fresh one for every case
impl MyJobs {
    /// Numbers are `asked["ms"].as_i64()`, texts `asked["task"].as_str()`; what is left out is null.
    fn result(&self, method: &str, asked: &Value) -> Result<Value, Fault> {
        match method {
            // ── Observers and test controls: they are this adapter's, and no part of your product
            // What your system did beside its replies since the last call of signals, and what may cause it:$signals
            "signals" => Ok(json!([])),
            // "wait": moves the clock that your system reads, for "clock": "virtual"; it is 0 at first. Takes ms: number.
$controls            // ── The operations of your product
$product            _ => Err(Missing),
        }
    }
}

// ── Points: before a call touches what it shares with others, `point("get")`: the kit chooses which call goes on.
// Before it blocks on a virtual clock, `waits_until(instant)`: the kit moves the clock.
thread_local!(static CALL: Cell<Option<i64>> = const { Cell::new(None) }); // of a thread that you start, none
static TOLD: AtomicI64 = AtomicI64::new(0);
static HELD: Mutex<Option<HashMap<i64, mpsc::Sender<()>>>> = Mutex::new(None);
fn point(at: &str) {
    if !POINTS { return }
    let (id, (go, going)) = (TOLD.fetch_add(1, SeqCst), mpsc::channel());
    HELD.lock().unwrap().get_or_insert_with(HashMap::new).insert(id, go);
    tell(id, json!({"call": CALL.get(), "at": at}));
    going.recv().unwrap();
}
fn waits_until(ms: i64) { tell(TOLD.fetch_add(1, SeqCst), json!({"call": CALL.get(), "until": ms})) }
fn tell(id: i64, params: Value) { println!("{}", json!({"jsonrpc": "2.0", "id": id, "method": "point", "params": params})) }

// ── Lines
fn answer(id: i64, result: Value) { println!("{}", json!({"jsonrpc": "2.0", "id": id, "result": result})) }
fn fault(id: Option<i64>, code: i64, message: &str, data: Value) {
    println!("{}", json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}}));
}
fn call(jobs: Arc<MyJobs>, id: i64, message: Value) {
    CALL.set(Some(id));
    let method = message["method"].as_str().unwrap();
    match panic::catch_unwind(panic::AssertUnwindSafe(|| jobs.result(method, &message["params"]))) {
        Ok(Ok(given)) => answer(id, given),
        Ok(Err(Refused(code))) => fault(Some(id), 1, code, json!({"refused": code})),
        Ok(Err(Missing)) => fault(Some(id), -32601, "this is not written yet", json!({})),
        Err(_) => fault(Some(id), 1, "it panicked", json!({})),
    }
}
fn main() {
    let mut jobs = Arc::<MyJobs>::default();
    for line in std::io::stdin().lines() {
        let Ok::<Value, _>(message) = serde_json::from_str(&line.unwrap()) else { fault(None, -32700, "no JSON", json!({})); continue };
        let (id, of_jobs) = (message["id"].as_i64().unwrap_or_default(), jobs.clone());
        match message["method"].as_str() {
            None => drop(HELD.lock().unwrap().as_mut().and_then(|held| held.remove(&id)).map(|go| go.send(()))),
            Some("hello") => answer(id, json!({"protocol": 1, "declares": declares(), "points": POINTS})),
            Some("close") => return answer(id, Value::Null),
            Some("reset") => { jobs = Arc::default(); answer(id, Value::Null) }
            Some(_) => drop(std::thread::spawn(move || call(of_jobs, id, message))),
        }
    }
}
"""


def rust(said: Outline) -> str:
    """Write the skeleton of an adapter in Rust."""
    template = _TEMPLATE.replace("$parts", '\n    "parts": $parts, // which of them it has' if said.parts else "")
    return written(template, _STYLE, said)


_STYLE: Final = Style(
    comment="//",
    null="null",
    entry=lambda name: f'            "{name}" => Err(Missing),',
    fields=lambda values: "{" + ", ".join(f"{json.dumps(k)}: {plain(v, 'null')}" for k, v in values.items()) + "}",
    texts=lambda texts: "[" + ", ".join(map(json.dumps, texts)) + "]",
)
