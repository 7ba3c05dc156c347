// Between the registry and the kit: docs/protocol.md over stdin and stdout.
//
//     conformance run thread-job --against "stdio:node examples/javascript/adapter.js"

import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { FAULTS } from "./faults.js";
import { JobRegistry, LIMITS, memoryTables, Refusal } from "./registry.js";

/** @typedef {import("./registry.js").Message} Message */
/** @typedef {{id: number | null, after: Promise<void>[]}} Call  a request, by its id until it is answered, and what it has set off */
/** @typedef {Record<string, any>} Params */

const DECLARES = {
  limits: { retained: LIMITS.retained, max_bytes: LIMITS.maxBytes, max_lines: LIMITS.maxLines },
  policies: { tie: "completion", unknown_code: "not_found" },
  clock: "virtual",
  concurrency: "async",
};
const Registry = registryFor(process.argv.slice(2));
/** @type {AsyncLocalStorage<Call>} */
const current = new AsyncLocalStorage();

/** @param {string[]} given */
function registryFor(given) {
  if (given.length === 0) return JobRegistry;
  const [option, name] = given;
  if (option === "--fault" && name !== undefined && name in FAULTS) return FAULTS[name];
  console.error(`usage: node adapter.js [--fault ${Object.keys(FAULTS).join(" | ")}]`);
  process.exit(2);
}

// ── Points ──

/** @type {Map<string, () => void>} */
const held = new Map();
let points = 0;

/**
 * Tell the kit that a call has come to a point, and wait until it may go on.
 *
 * @param {string} at
 */
async function point(at) {
  const id = `p${(points += 1)}`;
  const goesOn = new Promise((resolve) => held.set(id, () => resolve(null)));
  write({ id, method: "point", params: { call: current.getStore()?.id ?? null, at } });
  await goesOn;
}

/**
 * A store with a point before each access.
 *
 * @template {object} T
 * @param {T} store
 * @returns {T}
 */
function pointed(store) {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (/** @type {unknown[]} */ ...given) => {
        await point(String(name));
        return method.apply(target, given);
      };
    },
  });
}

// ── The system of one case, and what surrounds it ──

class World {
  constructor() {
    this.now = 0;
    this.folder = mkdtempSync(join(tmpdir(), "thread-job-"));
    /** @type {Params[]} */
    this.signals = [];
    /** @type {Message[]} */
    this.transcript = [];
    this.registry = this.registryNow();
  }

  registryNow() {
    const { jobs, calls, due } = memoryTables();
    const tables = { jobs: pointed(jobs), calls: pointed(calls), due: pointed(due) };
    return new Registry(this.host(), this.folder, tables);
  }

  /** @returns {import("./registry.js").Host} */
  host() {
    return {
      now: () => this.now,
      append: async (message) => void this.transcript.push(message),
      triggerTurn: (thread) => void this.signals.push({ signal: "TurnTriggered", thread }),
      requestBoundary: (thread) => {
        this.signals.push({ signal: "BoundaryRequested", thread });
        current.getStore()?.after.push(this.registry.wakeUp(thread));
      },
      sendCancel: (job) => void this.signals.push({ signal: "CancelSent", job_id: job }),
    };
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let world = new World();

/** @type {Record<string, (params: Params) => unknown>} */
const METHODS = {
  hello: () => ({ protocol: 1, declares: DECLARES, points: true }),
  reset() {
    world.close();
    world = new World();
  },
  close() {
    world.close();
    lines.close();
  },
  wait: ({ ms }) => void (world.now += ms),
  signals: () => world.signals.splice(0),
  restart: () => void (world.registry = world.registryNow()),
  messages: ({ thread }) => world.transcript.filter((message) => message.thread === thread),
  set_idle: ({ thread, idle }) => world.registry.setIdle(thread, idle),
  llm_error() {}, // the registry never hears of the model calls of a job

  complete_inline: ({ thread, tool_call, tool, result }) =>
    world.registry.completeInline(thread, tool_call, tool, result),
  start: ({ thread, tool_call, tool }) => world.registry.start(thread, tool_call, tool),
  start_as: ({ thread, tool_call, tool, job_id }) => world.registry.startAs(thread, tool_call, tool, job_id),
  report_progress: ({ job }) => world.registry.reportProgress(job),
  finish: ({ job, outcome, payload }) => world.registry.finish(job, outcome, payload),
  request_cancel: ({ thread, job }) => world.registry.requestCancel(thread, job),
  turn_boundary: ({ thread }) => world.registry.turnBoundary(thread),
  emit: ({ thread, job }) => world.registry.emit(thread, job),
  list_jobs: ({ thread, statuses }) => world.registry.list(thread, statuses ?? undefined),
  inspect_job: ({ thread, job }) => world.registry.inspect(thread, job),
  retry_job: () => world.registry.retry(),
};

// ── Lines ──

/** @param {object} message */
function write(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** @param {{id: number, method: string, params?: Params}} request */
async function answer({ id, method, params }) {
  /** @type {Call} */
  const call = { id, after: [] };
  try {
    const asked = METHODS[method];
    if (asked === undefined) return write({ id, error: { code: -32601, message: `${method} is not there` } });
    const result = await current.run(call, async () => asked(params ?? {}));
    await Promise.all(call.after);
    call.id = null; // what else it has set off runs on for no call
    write({ id, result: result ?? null });
  } catch (error) {
    const message = error instanceof Refusal ? error.message : String(error);
    const data = error instanceof Refusal ? { refused: error.code } : {};
    write({ id, error: { code: 1, message, data } });
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  /** @type {any} */
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return write({ id: null, error: { code: -32700, message: "no JSON" } });
  }
  if ("method" in message) return void answer(message);
  held.get(message.id)?.();
  held.delete(message.id);
});
lines.on("close", () => world.close());
