// Where the registry keeps its records: tables of an asynchronous store, as a database has them, here in memory.

/**
 * @template T
 * @typedef {object} Table
 * @property {(key: string) => Promise<T | undefined>} get
 * @property {(key: string, value: T) => Promise<void>} put
 * @property {(key: string, value: T) => Promise<boolean>} insert  false, and nothing written, where the key is taken
 * @property {(key: string) => Promise<void>} remove
 * @property {() => Promise<T[]>} all  oldest first
 */

/**
 * Values are copied on their way in and out: what a caller holds is what was there when it asked.
 *
 * @template T
 * @implements {Table<T>}
 */
export class MemoryTable {
  /** @type {Map<string, T>} */
  #rows = new Map();

  /** @param {string} key */
  async get(key) {
    return structuredClone(this.#rows.get(key));
  }

  /** @param {string} key @param {T} value */
  async put(key, value) {
    this.#rows.set(key, structuredClone(value));
  }

  /** @param {string} key @param {T} value */
  async insert(key, value) {
    if (this.#rows.has(key)) return false;
    this.#rows.set(key, structuredClone(value));
    return true;
  }

  /** @param {string} key */
  async remove(key) {
    this.#rows.delete(key);
  }

  async all() {
    return structuredClone([...this.#rows.values()]);
  }
}

/** Bodies that hold a key run one after the other, in the order in which they came. */
export class Locks {
  /** @type {Map<string, Promise<unknown>>} */
  #last = new Map();

  /**
   * Run a body while it holds all of some keys. They are taken in one order, so that nobody waits in a circle.
   *
   * @template T
   * @param {string[]} keys
   * @param {() => Promise<T>} body
   * @returns {Promise<T>}
   */
  hold(keys, body) {
    return [...keys].sort().reduceRight((inner, key) => () => this.#held(key, inner), body)();
  }

  /**
   * @template T
   * @param {string} key
   * @param {() => Promise<T>} body
   * @returns {Promise<T>}
   */
  #held(key, body) {
    const before = this.#last.get(key);
    const run = before === undefined ? body() : before.then(body);
    const over = run.then(() => {}, () => {});
    this.#last.set(key, over);
    void over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key);
    });
    return run;
  }
}
