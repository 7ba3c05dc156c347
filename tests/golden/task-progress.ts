// An adapter for task-progress: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//     conformance run task-progress --against "stdio:node THIS_FILE", where node takes types away (22.18 and later), or compile it first
// A method makes the call on your system and gives plain values back; it refuses with `throw new Refused("not_found")`.
// Anything else that is thrown counts as a crash. stdout is for messages only: log with console.error.
import { AsyncLocalStorage } from "node:async_hooks";
import { createInterface } from "node:readline";

// What your system says of itself; leave a word out where its default fits.
const declares = {
  limits: { activities: 5 },
  policies: { synthetic_counts: "counted" },
  lacks: [], // optional operations, those that only look, test controls, and signals: "signal NAME"
  deviates: {}, // known failures, by row or clause: {"N1": {"reason": "…"}}
  clock: "none", // "virtual" with the wait below, which moves it; "running": time does, too; "real": only time does
  concurrency: "none", // "async" when a call may come before the last one is answered: keep nothing of one call in the object
  settles: 0, // milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
};
const points = false; // true when what calls share is behind `pointed`, below
class Refused extends Error {} // its message is a code of the life cycle
class NotThere extends Error {}
function missing(): never { throw new NotThere("this is not written yet"); }

class MyJobs { // a fresh one for every case
  async close() {} // frees what this case used

  // ── Observers and test controls: they are this adapter's, and no part of your product
  /** What your system did beside its replies since the last call of signals(), and what may cause it:
   *  { signal: "announced", task: …, description: …, started_at: …, total_tokens: …, tool_uses: …, summary: … }  summarize
   */
  async signals(): Promise<any> { return []; }

  // async wait(asked: { ms: number }) {} // moves the clock that your system reads, for clock: "virtual"; it is 0 at first

  // ── The operations of your product
  /** A task of a batch, or of none, is pending until it is started; one whose registration fails goes to failed. registers null: the caller left it out and means true. */
  async create_task(asked: { label: string; batch?: string | null; registers?: boolean | null }): Promise<{ task_id: string; status: "pending" | "running" | "completed" | "failed" | "aborted" }> { missing(); }
  /** … */ async start(asked: { task: string }) { missing(); }
  /** A message of the task's conversation; only those of the assistant count. role: assistant | user. */
  async message(asked: { task: string; role: "assistant" | "user"; usage: { input: number; output: number; cache_creation: number | null; cache_read: number | null }; tools: { name: "bash" | "read_file" | "grep" | "structured_output" | "structured_output_files"; input: string }[] }) { missing(); }
  /** A summary of what the task has done so far; it is announced to those who subscribed. */
  async summarize(asked: { task: string; text: string }) { missing(); }
  /** … outcome: completed | failed | aborted. */
  async finish(asked: { task: string; outcome: "completed" | "failed" | "aborted" }) { missing(); }
  /** The caller, or the task's own signal, stops it; one that waits never runs. */ async abort(asked: { task: string }) { missing(); }
  /** … */ async subscribe(asked: { on: boolean }) { missing(); }
  /** What a task has done so far. */
  async progress(asked: { task: string }): Promise<{ tool_use_count: number; latest_input_tokens: number; cumulative_output_tokens: number; token_count: number; recent_activities: { name: "bash" | "read_file" | "grep" | "structured_output" | "structured_output_files"; input: string }[]; last_activity: { name: "bash" | "read_file" | "grep" | "structured_output" | "structured_output_files"; input: string } | null; summary: string | null }> { missing(); }
  /** … */ async status(asked: { task: string }): Promise<"pending" | "running" | "completed" | "failed" | "aborted"> { missing(); }
  /** Whether every task of a batch has ended. */
  async batch_status(asked: { batch: string }): Promise<{ complete: boolean } | null> { missing(); }
}

// ── Points: `pointed(store)` tells the kit before each access to what calls share, and the kit chooses which call goes on
const calls = new AsyncLocalStorage<{ id: number | null }>();
const held = new Map<string, () => void>();
let told = 0, jobs: any = new MyJobs();
function pointed<T extends object>(store: T): T {
  const access = async (method: any, name: string, given: unknown[]) => {
    const id = `p${(told += 1)}`;
    write({ id, method: "point", params: { call: calls.getStore()?.id ?? null, at: name } });
    await new Promise<void>((goesOn) => held.set(id, goesOn)).finally(() => held.delete(id));
    return method.apply(store, given);
  };
  return new Proxy(store, { get: (_, name) => (...given: unknown[]) => access(Reflect.get(store, name), String(name), given) });
}

// ── Lines
function write(message: object) { process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`); }
async function result(method: string, params: object): Promise<any> {
  if (method === "hello") return { protocol: 1, declares, points };
  if (method !== "reset" && method !== "close") return method in jobs ? jobs[method](params) : missing();
  await jobs.close();
  if (method === "reset") jobs = new MyJobs();
}
function fault(error: any) {
  const data = error instanceof Refused ? { refused: error.message } : {};
  return { error: { code: error instanceof NotThere ? -32601 : 1, message: String(error), data } };
}
createInterface({ input: process.stdin }).on("line", async (line) => {
  let asked: any; try { asked = JSON.parse(line); } catch { return write({ id: null, error: { code: -32700, message: "no JSON" } }); }
  const { id, method, params = {} } = asked, call: { id: number | null } = { id };
  if (method === undefined) return held.get(id)?.(); // a call may go on from its point
  const answer = calls.run(call, () => result(method, params)).then((given) => ({ result: given ?? null }), fault);
  write({ id, ...(await answer.finally(() => (call.id = null))) }); // what it set going runs on for no call
});
