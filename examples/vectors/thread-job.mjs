// The registry of examples/javascript as an adapter of the runner beside this file:
//
//     node runner.mjs VECTORS.json thread-job.mjs
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobRegistry, memoryTables } from "../javascript/registry.js";

export default class ThreadJobs {
  constructor() {
    this.now = 0;
    this.sent = [];
    this.after = [];
    this.transcript = [];
    this.folder = mkdtempSync(join(tmpdir(), "thread-job-"));
    this.restart();
  }

  restart() {
    this.registry = new JobRegistry(this.host(), this.folder, memoryTables());
  }

  host() {
    return {
      now: () => this.now,
      append: async (message) => void this.transcript.push(message),
      triggerTurn: (thread) => void this.sent.push({ signal: "TurnTriggered", thread }),
      requestBoundary: (thread) => {
        this.sent.push({ signal: "BoundaryRequested", thread });
        this.after.push(this.registry.wakeUp(thread));
      },
      sendCancel: (job) => void this.sent.push({ signal: "CancelSent", job_id: job }),
    };
  }

  async signals() {
    await Promise.all(this.after.splice(0));
    return this.sent.splice(0);
  }

  wait({ ms }) { this.now += ms; }
  messages({ thread }) { return this.transcript.filter((message) => message.thread === thread); }
  set_idle({ thread, idle }) { return this.registry.setIdle(thread, idle); }
  llm_error() {}
  complete_inline({ thread, tool_call, tool, result }) { return this.registry.completeInline(thread, tool_call, tool, result); }
  start({ thread, tool_call, tool }) { return this.registry.start(thread, tool_call, tool); }
  start_as({ thread, tool_call, tool, job_id }) { return this.registry.startAs(thread, tool_call, tool, job_id); }
  report_progress({ job }) { return this.registry.reportProgress(job); }
  finish({ job, outcome, payload }) { return this.registry.finish(job, outcome, payload); }
  request_cancel({ thread, job }) { return this.registry.requestCancel(thread, job); }
  turn_boundary({ thread }) { return this.registry.turnBoundary(thread); }
  emit({ thread, job }) { return this.registry.emit(thread, job); }
  list_jobs({ thread, statuses }) { return this.registry.list(thread, statuses ?? undefined); }
  inspect_job({ thread, job }) { return this.registry.inspect(thread, job); }
  retry_job() { return this.registry.retry(); }
}
