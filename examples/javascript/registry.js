// Background jobs that the tools of a conversation start. A tool call either ends within its turn or becomes a job of its
// thread; when the job ends, the thread is told once, at the end of a turn.

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Locks, MemoryTable } from "./store.js";

/** @typedef {"running" | "pending_cancel" | "completed" | "failed" | "cancelled" | "timed_out"} Status */
/** @typedef {"completed" | "failed" | "cancelled" | "timed_out"} Outcome */
/** @typedef {{text: string} | {file: string}} Content  a text within the limits, or the file that holds it */

/**
 * @typedef {object} Job
 * @property {string} job_id
 * @property {string} thread
 * @property {string} tool_call
 * @property {string} tool
 * @property {Status} status
 * @property {number} started_at
 * @property {number} [completed_at]
 * @property {number} [completion]  its place among all that ended: of two that end in one instant the first is first
 * @property {number} [cancel_requested_at]
 * @property {number} [progress_at]
 * @property {string} [payload]
 * @property {number} [told_at]
 */

/**
 * @typedef {object} Message
 * @property {string} job_id
 * @property {string} thread
 * @property {string} tool
 * @property {Status} status
 * @property {number} completion
 * @property {Content} content
 */

/**
 * @typedef {object} Host  what surrounds the registry
 * @property {() => number} now  milliseconds
 * @property {(message: Message) => Promise<void>} append  to the transcript of its thread
 * @property {(thread: string) => void} triggerTurn  the model answers to what it was told
 * @property {(thread: string) => void} requestBoundary  call `wakeUp` soon: there is something to tell in an idle thread
 * @property {(job: string) => void} sendCancel  to the tool
 */

/**
 * @typedef {object} Tables
 * @property {import("./store.js").Table<Job>} jobs  by job id
 * @property {import("./store.js").Table<string>} calls  by tool call: how it was resolved
 * @property {import("./store.js").Table<Message>} due  by job id and completion: what is still to be told
 */

/**
 * @typedef {object} Limits
 * @property {number} retained  ended jobs that are kept for each thread
 * @property {number} maxBytes  UTF-8 bytes of a payload that is told itself
 * @property {number} maxLines  its lines
 */

/** @type {Limits} */
export const LIMITS = { retained: 20, maxBytes: 25600, maxLines: 1000 };
/** @type {Status[]} */
const ACTIVE = ["running", "pending_cancel"];

/** What was asked for is not done, and nothing has changed. */
export class Refusal extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @returns {Tables} */
export const memoryTables = () => ({ jobs: new MemoryTable(), calls: new MemoryTable(), due: new MemoryTable() });

/**
 * Every await is a place where another call may come between, so whatever looks first and writes then holds a lock: that of
 * the thread, and for how a tool call is resolved that of the call. Locks of threads come first, so there is no circle.
 */
export class JobRegistry {
  /**
   * @param {Host} host
   * @param {string} folder  for payloads beyond the limits
   * @param {Tables} tables
   * @param {Limits} limits
   */
  constructor(host, folder, tables = memoryTables(), limits = LIMITS) {
    this.host = host;
    this.folder = folder;
    this.tables = tables;
    this.limits = limits;
    this.threads = new Locks();
    this.calls = new Locks();
    /** @type {Set<string>} */
    this.idle = new Set();
    this.completions = 0;
  }

  // ── A tool call is resolved ──

  /**
   * A tool call ends within its turn.
   *
   * @param {string} thread @param {string} call @param {string} tool @param {string} result
   */
  async completeInline(thread, call, tool, result) {
    return this.resolving(thread, call, async () => {
      await this.tables.calls.put(call, "synchronous");
      return { mode: "synchronous", result };
    });
  }

  /**
   * A tool call becomes a job.
   *
   * @param {string} thread @param {string} call @param {string} tool
   */
  async start(thread, call, tool) {
    return this.resolving(thread, call, async () => {
      const job = this.made(thread, call, tool, await this.mint());
      while (!(await this.tables.jobs.insert(job.job_id, job))) job.job_id = await this.mint();
      return this.started(job);
    });
  }

  /**
   * The same, under an id that the caller has chosen.
   *
   * @param {string} thread @param {string} call @param {string} tool @param {string} id
   */
  async startAs(thread, call, tool, id) {
    return this.resolving(thread, call, async () => {
      const job = this.made(thread, call, tool, id);
      if (!(await this.tables.jobs.insert(id, job))) throw new Refusal("duplicate_job_id", `There is a job ${id}`);
      return this.started(job);
    });
  }

  /**
   * Run what resolves a call that is not resolved yet.
   *
   * @template T
   * @param {string} thread @param {string} call @param {() => Promise<T>} body
   */
  resolving(thread, call, body) {
    return this.threads.hold([thread], () => this.calls.hold([call], () => this.unresolved(call, body)));
  }

  /**
   * @template T
   * @param {string} call @param {() => Promise<T>} body
   */
  async unresolved(call, body) {
    if (await this.tables.calls.get(call)) throw new Refusal("already_resolved", `Tool call ${call} is resolved`);
    return body();
  }

  /**
   * @param {string} thread @param {string} call @param {string} tool @param {string} id
   * @returns {Job}
   */
  made(thread, call, tool, id) {
    return { job_id: id, thread, tool_call: call, tool, status: "running", started_at: this.host.now() };
  }

  /** @param {Job} job */
  async started(job) {
    await this.tables.calls.put(job.tool_call, "background");
    return { mode: "background", job_id: job.job_id, status: job.status };
  }

  async mint() {
    return `job-${randomUUID().slice(0, 13)}`;
  }

  // ── A job works, and ends ──

  /** @param {string} id */
  async reportProgress(id) {
    return this.withJob(id, (job) => this.progressed(job));
  }

  /** @param {Job} job */
  async progressed(job) {
    if (ACTIVE.includes(job.status)) await this.tables.jobs.put(job.job_id, { ...job, progress_at: this.host.now() });
  }

  /**
   * The tool reports how its job ended. Of two reports the first counts.
   *
   * @param {string} id @param {Outcome} outcome @param {string} payload
   */
  async finish(id, outcome, payload) {
    return this.withJob(id, (job) => this.ended(job, outcome, payload));
  }

  /** @param {Job} job @param {Outcome} outcome @param {string} payload */
  async ended(job, outcome, payload) {
    if (!ACTIVE.includes(job.status)) return;
    const completion = (this.completions += 1);
    const { job_id, thread, tool } = job;
    const content = await this.contentOf(payload);
    const message = { job_id, thread, tool, status: outcome, completion, content };
    await this.tables.jobs.put(job_id, { ...job, status: outcome, completed_at: this.host.now(), completion, payload });
    await this.tables.due.put(`${job_id} ${completion}`, message);
    await this.evict(thread);
    if (this.idle.has(thread)) this.host.requestBoundary(thread);
  }

  /**
   * @param {string} payload
   * @returns {Promise<Content>}
   */
  async contentOf(payload) {
    if (this.fits(payload)) return { text: payload };
    const file = join(this.folder, this.fileName());
    await writeFile(file, payload);
    return { file };
  }

  /** @param {string} payload */
  fits(payload) {
    return Buffer.byteLength(payload) <= this.limits.maxBytes && payload.split("\n").length <= this.limits.maxLines;
  }

  fileName() {
    return `payload-${randomUUID()}.txt`;
  }

  /**
   * Those that ended first leave; what is to be told of them stays.
   *
   * @param {string} thread
   */
  async evict(thread) {
    const ended = (await this.tables.jobs.all()).filter((job) => job.thread === thread && !ACTIVE.includes(job.status));
    const leaving = ended.sort(this.byAge).slice(0, Math.max(ended.length - this.limits.retained, 0));
    for (const job of leaving) await this.tables.jobs.remove(job.job_id);
  }

  /** @param {Job} one @param {Job} other */
  byAge(one, other) {
    return (one.completion ?? 0) - (other.completion ?? 0);
  }

  /**
   * A user or an agent asks for the end of a job. Its tool is asked once; what comes of that the tool reports.
   *
   * @param {string} thread @param {string} id
   */
  async requestCancel(thread, id) {
    return this.threads.hold([thread], () => this.cancelled(thread, id));
  }

  /** @param {string} thread @param {string} id */
  async cancelled(thread, id) {
    const job = await this.found(thread, id);
    if (job.status !== "running") return;
    await this.tables.jobs.put(id, { ...job, status: "pending_cancel", cancel_requested_at: this.host.now() });
    this.host.sendCancel(id);
  }

  // ── A thread is told ──

  /**
   * A turn ends: whatever is due to the thread is told, oldest first.
   *
   * @param {string} thread
   */
  async turnBoundary(thread) {
    return this.threads.hold([thread], () => this.tell(thread, () => true));
  }

  /**
   * Tell of one job, if that is due.
   *
   * @param {string} thread @param {string} id
   */
  async emit(thread, id) {
    const told = await this.threads.hold([thread], () => this.tell(thread, (message) => message.job_id === id));
    return told.length > 0;
  }

  /**
   * Tell what is due, if the thread is still idle: the answer to `requestBoundary`.
   *
   * @param {string} thread
   */
  async wakeUp(thread) {
    return this.threads.hold([thread], async () => {
      if (this.idle.has(thread)) await this.tell(thread, () => true);
    });
  }

  /** @param {string} thread @param {boolean} idle */
  async setIdle(thread, idle) {
    return this.threads.hold([thread], async () => {
      if (!idle) this.idle.delete(thread);
      else this.idle.add(thread);
      if (idle && (await this.dueTo(thread)).length > 0) this.host.requestBoundary(thread);
    });
  }

  /** @param {string} thread @param {(message: Message) => boolean} wanted */
  async tell(thread, wanted) {
    const told = (await this.dueTo(thread)).filter(wanted);
    for (const message of told) {
      await this.host.append(message);
      await this.tables.due.remove(`${message.job_id} ${message.completion}`);
      const job = await this.tables.jobs.get(message.job_id);
      if (job?.completion === message.completion) {
        await this.tables.jobs.put(job.job_id, { ...job, told_at: this.host.now() });
      }
    }
    if (told.length > 0) this.host.triggerTurn(thread);
    return told;
  }

  /** @param {string} thread */
  async dueTo(thread) {
    const due = (await this.tables.due.all()).filter((message) => message.thread === thread);
    return due.sort((one, other) => one.completion - other.completion);
  }

  // ── Somebody looks ──

  /** @param {string} thread @param {Status[]} statuses */
  async list(thread, statuses = ACTIVE) {
    return this.threads.hold([thread], async () =>
      (await this.tables.jobs.all()).filter((job) => job.thread === thread && statuses.includes(job.status)),
    );
  }

  /** @param {string} thread @param {string} id */
  async inspect(thread, id) {
    return this.threads.hold([thread], () => this.found(thread, id));
  }

  /**
   * A job is worked on once; whoever wants it again makes another tool call.
   *
   * @returns {Promise<never>}
   */
  async retry() {
    throw new Refusal("manual_retry_not_supported", "Manual retry is not supported for background jobs");
  }

  /**
   * The job of a thread. That of another one is none.
   *
   * @param {string} thread @param {string} id
   */
  async found(thread, id) {
    const job = await this.tables.jobs.get(id);
    if (job?.thread !== thread) throw new Refusal("not_found", "Job not found in this thread");
    return job;
  }

  /**
   * Run what changes a job, as it is then, with the lock of its thread.
   *
   * @param {string} id @param {(job: Job) => Promise<void>} body
   */
  async withJob(id, body) {
    const job = await this.tables.jobs.get(id);
    if (job === undefined) throw new Refusal("not_found", `There is no job ${id}`);
    return this.threads.hold([job.thread], async () => body(await this.found(job.thread, id)));
  }
}
