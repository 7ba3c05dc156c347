// An adapter for task-progress: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//     go build -o adapter THIS_FILE && conformance run task-progress --against "stdio:./adapter"
// A call gives plain values back; it refuses with `return nil, Refused("not_found")`. Another error, or a panic, counts as a crash.
// stdout is for messages only: log to stderr. Nothing but Go's own library is needed.
package main
import ("bufio"; "encoding/json"; "errors"; "fmt"; "os"; "sync"; "sync/atomic")
type object = map[string]any

// What your system says of itself; leave a word out where its default fits.
var declares = object{
	"limits": object{"activities": 5},
	"policies": object{"synthetic_counts": "counted"},
	"lacks": []string{}, // optional operations, those that only look, test controls, and signals: "signal NAME"
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
	// What your system did beside its replies since the last call of signals, and what may cause it:
	// {"signal": "announced", "task": …, "description": …, "started_at": …, "total_tokens": …, "tool_uses": …, "summary": …}  summarize
	"signals": func(call Call) (any, error) { return []any{}, nil },
	// "wait": moves the clock that your system reads, for "clock": "virtual"; it is 0 at first. Takes ms: number.
	// ── The operations of your product
	"create_task": missing, // A task of a batch, or of none, is pending until it is started; one whose registration fails goes to failed. Takes label: text, batch: text | null, registers: bool | null. registers nil: the caller left it out and means true. Gives {task_id: id of Task, status: pending | running | completed | failed | aborted}.
	"start": missing, // … Takes task: text.
	"message": missing, // A message of the task's conversation; only those of the assistant count. Takes task: text, role: text, usage: {input: number, output: number, cache_creation: number | null, cache_read: number | null}, tools: [{name: text, input: text}]. role: assistant | user.
	"summarize": missing, // A summary of what the task has done so far; it is announced to those who subscribed. Takes task: text, text: text.
	"finish": missing, // … Takes task: text, outcome: text. outcome: completed | failed | aborted.
	"abort": missing, // The caller, or the task's own signal, stops it; one that waits never runs. Takes task: text.
	"subscribe": missing, // … Takes on: bool.
	"progress": missing, // What a task has done so far. Takes task: text. Gives {tool_use_count: int, latest_input_tokens: int, cumulative_output_tokens: int, token_count: int, recent_activities: [{name: bash | read_file | grep | structured_output | structured_output_files, input: Text}], last_activity: {name: bash | read_file | grep | structured_output | structured_output_files, input: Text} | null, summary: Text | null}.
	"status": missing, // … Takes task: text. Gives pending | running | completed | failed | aborted.
	"batch_status": missing, // Whether every task of a batch has ended. Takes batch: text. Gives {complete: bool} | null.
}
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
		line, err := lines.ReadBytes('\n')
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
