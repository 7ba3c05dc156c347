//! An adapter for a table of background tasks: requests on stdin, answers on stdout, each on a thread of its own.
//!
//!     conformance run background-tasks --against "stdio:examples/rust/target/release/tasks"

mod adapter;
mod faults;
mod json;
mod kit;
mod lock;
mod table;

use adapter::Case;
use faults::{Fault, FAULTS};
use json::{object, text, Json};
use std::sync::{Arc, RwLock};

const NO_METHOD: i64 = -32601;

fn main() {
    let fault = fault_of(&std::env::args().skip(1).collect::<Vec<_>>());
    let case = Arc::new(RwLock::new(Arc::new(Case::new(fault))));
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let message = match json::parse(&line) {
            Ok(message) => message,
            Err(why) => {
                kit::say([("id", Json::Null), ("error", error(1, &why))]);
                continue;
            }
        };
        let id = message.get("id").as_int().unwrap_or_default();
        let Some(method) = message.get("method").as_text().map(str::to_owned) else {
            kit::go_on(id);
            continue;
        };
        match method.as_str() {
            "hello" => result(id, adapter::hello()),
            "reset" => {
                *case.write().unwrap() = Arc::new(Case::new(fault));
                result(id, Json::Null);
            }
            "close" => return result(id, Json::Null),
            _ => {
                let case = case.read().unwrap().clone();
                std::thread::spawn(move || {
                    kit::CALL.set(id);
                    match case.answer(&method, message.get("params")) {
                        Some(reply) => result(id, reply),
                        None => kit::say([("id", Json::Int(id)), ("error", error(NO_METHOD, &method))]),
                    }
                });
            }
        }
    }
}

fn result(id: i64, reply: Json) {
    kit::say([("id", Json::Int(id)), ("result", reply)]);
}

fn error(code: i64, message: &str) -> Json {
    object([("code", Json::Int(code)), ("message", text(message))])
}

fn fault_of(given: &[String]) -> Option<Fault> {
    match given {
        [] => return None,
        [option, name] if option == "--fault" => {
            if let Some((_, fault)) = FAULTS.iter().find(|(each, _)| each == name) {
                return Some(*fault);
            }
        }
        _ => {}
    }
    let names: Vec<_> = FAULTS.iter().map(|(name, _)| *name).collect();
    eprintln!("usage: tasks [--fault {}]", names.join(" | "));
    std::process::exit(2);
}
