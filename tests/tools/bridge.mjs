// An adapter of the runner of vectors that forwards each call to a process which speaks docs/protocol.md: SERVED is its command as JSON.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [command, ...given] = JSON.parse(process.env.SERVED);
const child = spawn(command, given, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
const held = [child, child.stdin, child.stdout];
const hold = () => held.forEach((each) => (waiting.size ? each.ref() : each.unref()));
createInterface({ input: child.stdout }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line);
  const [kept, lost] = waiting.get(id);
  waiting.delete(id);
  hold();
  if (error === undefined) kept(result);
  else lost(Object.assign(new Error(error.message), error.data?.refused ? { code: error.data.refused } : {}));
});
let calls = 0;

function asked(method, params) {
  return new Promise((...both) => {
    waiting.set((calls += 1), both);
    hold();
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: calls, method, params })}\n`);
  });
}

export default class Forwarded {
  constructor() {
    const begun = asked("reset", {});
    return new Proxy(this, {
      has: () => true,
      get: (_, name) => (name === "then" ? undefined : async (params = {}) => (await begun, asked(name, params))),
    });
  }
}
