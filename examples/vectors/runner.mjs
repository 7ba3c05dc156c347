// Runs test vectors against an adapter: node runner.mjs VECTORS.json ADAPTER.mjs. See docs/vectors.md.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const kind = (it) => (it === null ? "null" : Array.isArray(it) ? "array" : typeof it);
const SPECIAL = {
  $any: (run, kinds, seen) => kinds.includes(kind(seen)),
  $one_of: (run, some, seen) => some.includes(seen),
  $time: (run, [first, last], seen) => Number.isInteger(seen) && (!run.clock || (first <= seen && seen <= last)),
  $unordered: (run, items, seen) => Array.isArray(seen) && paired(run, items, [], seen),
  $file: (run, text, seen) => readFileSync(seen.file, "utf8") === text,
  $id: (run, [of, form], seen) => kind(seen) === "string" && RegExp(`^${form}$`).test(seen) && isNew(run, `${of} ${seen}`),
};
const isNew = (run, told) => (run.ids[told] ??= run.replies.length) === run.replies.length;
const filled = (run, it) =>
  kind(it) === "array" ? it.map((part) => filled(run, part))
  : kind(it) !== "object" ? it
  : "$text" in it ? it.$text.map(([piece, count]) => piece.repeat(count)).join("")
  : "$ref" in it ? it.$ref.slice(1).reduce((found, name) => found[name], run.replies[it.$ref[0]])
  : Object.fromEntries(Object.entries(it).map(([name, part]) => [name, filled(run, part)]));
const fits = (run, it, seen, special = kind(it) === "object" ? SPECIAL[Object.keys(it)[0]] : undefined) =>
  special ? special(run, Object.values(it)[0], seen)
  : kind(it) !== kind(seen) ? false
  : kind(it) === "object" ? Object.keys(it).every((key) => fits(run, it[key], seen[key] ?? null))
  : kind(it) === "array" ? it.length === seen.length && it.every((part, at) => fits(run, part, seen[at]))
  : it === seen;
const paired = (run, due, may, seen) => // all that are due came, and of the rest each is one that may come
  due.length <= seen.length && (may.length > 0 || due.length === seen.length) && due.every((it) => seen.some((one) => fits(run, it, one))) && seen.every((one) => [...due, ...may].some((it) => fits(run, it, one)))
  && (due.length === 0 || seen.some((one, at) => fits(run, due[0], one) && paired(run, due.slice(1), may, seen.toSpliced(at, 1))));
const allows = (run, answer, seen) => {
  try {
    const it = { refused: null, reply: { $any: [kind(seen.reply)] }, signals: [], may_signal: [], ...filled(run, answer) };
    return ["refused", "reply"].every((part) => fits(run, it[part], seen[part])) && paired(run, it.signals, it.may_signal, seen.signals);
  } catch { return false; } // a reply or a file that is not there
};
async function ended(system, steps, run = { clock: "wait" in system, replies: [], ids: {} }) {
  let [states, verdict] = [[0], ["passed", ""]], given, said;
  for (const [number, { call, arguments: written, answers }] of steps.entries()) {
    try { given = filled(run, written); } catch { break; }
    try { said = { refused: null, reply: (await system[call](given)) ?? null }; }
    catch (error) { said = { refused: error.code ?? [String(error)], reply: null }; }
    const seen = JSON.parse(JSON.stringify({ ...said, signals: (await system.signals?.()) ?? [] }));
    const fitting = answers.filter((it) => (it.in ?? [0]).some((at) => states.includes(at)) && allows(run, it, seen));
    const told = `step ${number}, ${call}: expected ${JSON.stringify(answers)}, got ${JSON.stringify(seen)}`;
    if (fitting.length === 0) return ["failed", told];
    if ("against" in fitting[0]) verdict = ["not as recommended", told];
    if ("ends" in fitting[0]) break;
    [states, run.replies] = [fitting.flatMap((it) => it.to ?? [0]), [...run.replies, seen.reply]];
  }
  return verdict;
}
let [{ default: Adapter }, counts, name, steps] = [await import(new URL(process.argv[3], pathToFileURL("./"))), {}];
process.on("exit", (code) => code === 13 && console.log(`${name} failed: a call of it never came back`));
for ({ name, steps } of JSON.parse(readFileSync(process.argv[2], "utf8")).vectors) {
  const system = new Adapter(), lacking = steps.find(({ call }) => !(call in system))?.call;
  const [verdict, told] = lacking ? ["left out", `it lacks ${lacking}`] : await ended(system, steps);
  counts[verdict] = (counts[verdict] ?? 0) + 1;
  if (told) console.log(`${name} ${verdict}: ${told}`.slice(0, 2000));
}
console.log(Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`).join(", "));
process.exitCode = counts.failed ? 1 : 0;
