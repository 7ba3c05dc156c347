"""The skeleton of an adapter in Go, which has all that it needs in its own library."""

from __future__ import annotations

import json
from typing import Final

from conformance.skeleton.facts import Outline
from conformance.skeleton.listed import Style, plain, written

_TEMPLATE: Final = """\
// An adapter for $name: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//     go build -o adapter THIS_FILE && conformance run $called --against "stdio:./adapter"
// A call gives plain values back; it refuses with `return nil, Refused("$code")`. Another error, or a panic, counts as a crash.
// stdout is for messages only: log to stderr. Nothing but Go's own library is needed.
package main
import ("bufio"; "encoding/json"; "errors"; "fmt"; "os"; "sync"; "sync/atomic")
type object = map[string]any

// What your system says of itself; leave a word out where its default fits.$choices
var declares = object{
	"limits": $limits,
	"policies": $policies,
	"lacks": $lacks, // optional operations, those that only look, test controls, and signals: "signal NAME"$parts
	"deviates": object{}, // known failures, by row or clause: {"N1": {"reason": "…"}}
	"clock": "none", // "virtual" with "wait" below, which moves it; "running": time does, too; "real": only time does
	"concurrency": "none", // "threads" when several calls may come at once: each is made in a goroutine of its own
	"settles": 0, // milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
}
const points = false // true when calls tell of points, below
type Refused string // a code of the life cycle
func (code Refused) Error() string { return string(code) }
type MyJobs struct{} // your system, a fresh one for every case
func (jobs *MyJobs) close() {} // frees what this case used
type Call struct { jobs *MyJobs; id int; asked object } // call.asked["task"].(string); numbers are float64; what is left out is nil
var errMissing = errors.New("this is not written yet")
func missing(call Call) (any, error) { return nil, errMissing }
var methods = map[string]func(Call) (any, error){
	// ── Observers and test controls: they are this adapter's, and no part of your product
	// What your system did beside its replies since the last call of signals, and what may cause it:$signals
	"signals": func(call Call) (any, error) { return []any{}, nil },
	// "wait": moves the clock that your system reads, for "clock": "virtual"; it is 0 at first. Takes ms: number.
$controls	// ── The operations of your product
$product}
// ── Points: before a call touches what it shares with others, call.point("get"): the kit chooses which call goes on.
// Before it blocks on a virtual clock, call.waitsUntil(instant): the kit moves the clock.
var (told atomic.Int64; held sync.Map)
func (call Call) point(at string) {
	if !points { return }
	id, going := fmt.Sprint("p", told.Add(1)), make(chan bool)
	held.Store(id, going)
	tell(id, object{"call": call.id, "at": at}); <-going
}
func (call Call) waitsUntil(ms int) { tell(fmt.Sprint("p", told.Add(1)), object{"call": call.id, "until": ms}) }
func tell(id string, params object) { write(object{"id": id, "method": "point", "params": params}) }

// ── Lines
var writing sync.Mutex
func write(message object) {
	message["jsonrpc"] = "2.0"
	writing.Lock()
	defer writing.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(message); err != nil { panic(err) }
}
func (call Call) result(method string) (given any, err error) {
	defer func() { if raised := recover(); raised != nil { err = fmt.Errorf("panic: %v", raised) } }()
	if found, there := methods[method]; there { return found(call) }
	return missing(call)
}
func (call Call) answer(method string) {
	given, err := call.result(method)
	if err == nil { write(object{"id": call.id, "result": given}); return }
	fault, code := object{"code": 1, "message": err.Error()}, Refused("")
	if errors.As(err, &code) { fault["data"] = object{"refused": string(code)} }
	if errors.Is(err, errMissing) { fault["code"] = -32601 }
	write(object{"id": call.id, "error": fault})
}
func main() {
	jobs, lines := &MyJobs{}, bufio.NewReader(os.Stdin)
	var asked struct { ID any; Method string; Params object }
	for asked.Method != "close" {
		line, err := lines.ReadBytes('\\n')
		if err != nil { return }
		asked.Method, asked.Params = "", nil
		if json.Unmarshal(line, &asked) != nil { write(object{"id": nil, "error": object{"code": -32700, "message": "no JSON"}}); continue }
		id, _ := asked.ID.(float64)
		call := Call{jobs, int(id), asked.Params}
		switch asked.Method {
		case "": if going, waits := held.LoadAndDelete(asked.ID); waits { close(going.(chan bool)) } // a call may go on from its point
		case "hello": write(object{"id": call.id, "result": object{"protocol": 1, "declares": declares, "points": points}})
		case "reset", "close":
			jobs.close(); jobs = &MyJobs{}; write(object{"id": call.id, "result": nil})
		default: go call.answer(asked.Method)
		}
	}
}
"""


def go(said: Outline) -> str:
    """Write the skeleton of an adapter in Go."""
    template = _TEMPLATE.replace("$parts", '\n\t"parts": $parts, // which of them it has' if said.parts else "")
    return written(template, _STYLE, said)


_STYLE: Final = Style(
    comment="//",
    null="nil",
    entry=lambda name: f'\t"{name}": missing,',
    fields=lambda values: "object{" + ", ".join(f"{json.dumps(k)}: {plain(v, 'nil')}" for k, v in values.items()) + "}",
    texts=lambda texts: "[]string{" + ", ".join(map(json.dumps, texts)) + "}",
)
