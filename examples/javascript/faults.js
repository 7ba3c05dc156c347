// What may go wrong in a registry, one thing in each class: `node adapter.js --fault told-twice` tests one of them.
// The first five show only where calls come at once.

import { JobRegistry } from "./registry.js";

/** Of two that tell what is due, each may look before the other has told it. */
class ToldTwice extends JobRegistry {
  /** @param {string} thread */
  async turnBoundary(thread) {
    return this.tell(thread, () => true);
  }

  /** @param {string} thread @param {string} id */
  async emit(thread, id) {
    return (await this.tell(thread, (message) => message.job_id === id)).length > 0;
  }
}

/** An id is the number of jobs so far, which another start may have seen as well. */
class SameId extends JobRegistry {
  /** @param {string} thread @param {string} call @param {string} tool */
  async start(thread, call, tool) {
    const id = `job-${(await this.tables.jobs.all()).length + 1}`;
    return this.resolving(thread, call, async () => {
      const job = this.made(thread, call, tool, id);
      await this.tables.jobs.put(id, job);
      return this.started(job);
    });
  }
}

/** A call that is about to be resolved looks free to another one. */
class BothModes extends JobRegistry {
  /**
   * @template T
   * @param {string} thread @param {string} call @param {() => Promise<T>} body
   */
  resolving(thread, call, body) {
    return this.unresolved(call, body);
  }
}

/** A cancel writes what it has read before the job ended. */
class CancelRevives extends JobRegistry {
  /** @param {string} thread @param {string} id */
  async requestCancel(thread, id) {
    return this.cancelled(thread, id);
  }
}

/** Of two outcomes that come at once both count. */
class BothOutcomes extends JobRegistry {
  /**
   * @param {string} id @param {(job: import("./registry.js").Job) => Promise<void>} body
   */
  async withJob(id, body) {
    const job = await this.tables.jobs.get(id);
    if (job !== undefined) await body(job);
  }
}

/** Those that began first leave. */
class EvictsFirstStarted extends JobRegistry {
  /** @param {string} thread */
  async evict(thread) {
    const ended = (await this.tables.jobs.all()).filter((job) => job.thread === thread && job.completion);
    const leaving = ended.slice(0, Math.max(ended.length - this.limits.retained, 0));
    for (const job of leaving) await this.tables.jobs.remove(job.job_id);
  }
}

/** A limit of bytes is one of characters. */
class CountsCharacters extends JobRegistry {
  /** @param {string} payload */
  fits(payload) {
    return payload.length <= this.limits.maxBytes && payload.split("\n").length <= this.limits.maxLines;
  }
}

/** Payloads beyond the limits are written to one file. */
class OneFile extends JobRegistry {
  fileName() {
    return "payload.txt";
  }
}

/** A job of another thread is shown, and can be cancelled. */
class ShowsForeign extends JobRegistry {
  /** @param {string} thread @param {string} id */
  async found(thread, id) {
    const job = await this.tables.jobs.get(id);
    return super.found(job?.thread ?? thread, id);
  }
}

/** Only a turn tells what is due, even where there is none to come. */
class SleepsOn extends JobRegistry {
  async wakeUp() {}
}

/** @type {Record<string, typeof JobRegistry>} */
export const FAULTS = {
  "told-twice": ToldTwice,
  "same-id": SameId,
  "both-modes": BothModes,
  "cancel-revives": CancelRevives,
  "both-outcomes": BothOutcomes,
  "evicts-first-started": EvictsFirstStarted,
  "counts-characters": CountsCharacters,
  "one-file": OneFile,
  "shows-foreign": ShowsForeign,
  "sleeps-on": SleepsOn,
};
