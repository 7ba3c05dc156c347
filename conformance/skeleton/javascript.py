"""The skeleton of an adapter for Node.js: one template, as JavaScript with its types in comments, and as TypeScript."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from conformance.skeleton.facts import Effect, Method, Outline
from statemachines.types import NULL, Bool, DocumentType, Enum, Int, List, Null, Optional, RecordType, Time, Type

_ONE_LINE: Final = 140  # characters of a line that holds two things
_HEAD: Final = """\
// An adapter for {name}: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//     conformance run {called} --against "stdio:node THIS_FILE"{how}
// A method makes the call on your system and gives plain values back; it refuses with `throw new Refused("{code}")`.
// Anything else that is thrown counts as a crash. stdout is for messages only: log with console.error.
import {{ AsyncLocalStorage }} from "node:async_hooks";
import {{ createInterface }} from "node:readline";

// What your system says of itself; leave a word out where its default fits.{choices}
const declares = {{
  limits: {limits},
  policies: {policies},
  lacks: {lacks}, // optional operations, those that only look, test controls, and signals: "signal NAME"{parts}
  deviates: {{}}, // known failures, by row or clause: {{"N1": {{"reason": "…"}}}}
  clock: "none", // "virtual" with the wait below, which moves it; "running": time does, too; "real": only time does
  concurrency: "none", // "async" when a call may come before the last one is answered: keep nothing of one call in the object
  settles: 0, // milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
}};
const points = false; // true when what calls share is behind `pointed`, below
class Refused extends Error {{}} // its message is a code of the life cycle
class NotThere extends Error {{}}
{returns_never}function missing(){never} {{ throw new NotThere("this is not written yet"); }}

class MyJobs {{ // a fresh one for every case
  async close() {{}} // frees what this case used

  // ── Observers and test controls: they are this adapter's, and no part of your product
{signals}  // async wait({wait}) {{}} // moves the clock that your system reads, for clock: "virtual"; it is 0 at first
"""
_SIGNALS: Final = """\
  /** What your system did beside its replies since the last call of signals(), and what may cause it:
{signals}
   */
  async signals(){gives} {{ return []; }}
"""
_PRODUCT: Final = "\n  // ── The operations of your product\n"
_TAIL: Final = """\
}}

// ── Points: `pointed(store)` tells the kit before each access to what calls share, and the kit chooses which call goes on
const calls = new AsyncLocalStorage{of_call}();
const held = new Map{of_goers}();
let told = 0, jobs{as_any} = new MyJobs();
function pointed{of_store}(store{as_store}){as_store} {{
  const access = async (method{as_any}, name{as_text}, given{as_list}) => {{
    const id = `p${{(told += 1)}}`;
    write({{ id, method: "point", params: {{ call: calls.getStore()?.id ?? null, at: name }} }});
    await new Promise{of_nothing}((goesOn) => held.set(id, goesOn)).finally(() => held.delete(id));
    return method.apply(store, given);
  }};
  return new Proxy(store, {{ get: (_, name) => (...given{as_list}) => access(Reflect.get(store, name), String(name), given) }});
}}

// ── Lines
function write(message{as_object}) {{ process.stdout.write(`${{JSON.stringify({{ jsonrpc: "2.0", ...message }})}}\\n`); }}
async function result(method{as_text}, params{as_object}){gives} {{
  if (method === "hello") return {{ protocol: 1, declares, points }};
  if (method !== "reset" && method !== "close") return method in jobs ? jobs[method](params) : missing();
  await jobs.close();
  if (method === "reset") jobs = new MyJobs();
}}
function fault(error{as_any}) {{
  const data = error instanceof Refused ? {{ refused: error.message }} : {{}};
  return {{ error: {{ code: error instanceof NotThere ? -32601 : 1, message: String(error), data }} }};
}}
createInterface({{ input: process.stdin }}).on("line", async (line) => {{
  let asked{as_any}; try {{ asked = JSON.parse(line); }} catch {{ return write({{ id: null, error: {{ code: -32700, message: "no JSON" }} }}); }}
  const {{ id, method, params = {{}} }} = asked, call{as_call} = {{ id }};
  if (method === undefined) return held.get(id)?.(); // a call may go on from its point
  const answer = calls.run(call, () => result(method, params)).then((given) => ({{ result: given ?? null }}), fault);
  write({{ id, ...(await answer.finally(() => (call.id = null))) }}); // what it set going runs on for no call
}});
"""
# What stands for a type in the template: only TypeScript has it.
_TYPES: Final[Mapping[str, str]] = {
    "wait": "asked: { ms: number }",
    "gives": ": Promise<any>",
    "of_call": "<{ id: number | null }>",
    "as_call": ": { id: number | null }",
    "of_goers": "<string, () => void>",
    "of_store": "<T extends object>",
    "as_store": ": T",
    "as_list": ": unknown[]",
    "of_nothing": "<void>",
    "as_any": ": any",
    "as_object": ": object",
    "as_text": ": string",
    "as_number": ": number",
    "never": ": never",
    "returns_never": "",
}
_NO_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(_TYPES, ""),
    "wait": "asked",
    "returns_never": "/** @returns {never} */ ",
}


def typescript(said: Outline) -> str:
    """Write the skeleton of an adapter in TypeScript, of which nothing is left to run when its types are taken away."""
    how = ", where node takes types away (22.18 and later), or compile it first"
    return _written(said, _typed, _TYPES, how)


def javascript(said: Outline) -> str:
    """Write the skeleton of an adapter in JavaScript, with types in its comments."""
    how = ', a file that ends in .mjs, or that a package.json with "type": "module" stands beside'
    return _written(said, _commented, _NO_TYPES, how)


def _written(said: Outline, method: Callable[[Method], str], types: Mapping[str, str], how: str) -> str:
    signals = _SIGNALS.format(signals="\n".join(map(_signal, said.signals)), gives=types["gives"])
    head = _HEAD.format(
        name=said.name,
        called=said.called,
        how=how,
        code=said.code,
        limits=_object(said.limits),
        policies=_object(said.policies),
        lacks=json.dumps(said.lacks),
        parts=f"\n  parts: {json.dumps(said.parts)}, // which of them it has" if said.parts else "",
        choices="".join(f"\n// {each}" for each in said.choices),
        signals=f"{signals}\n" if said.signals else "",
        wait=types["wait"],
        never=types["never"],
        returns_never=types["returns_never"],
    )
    methods = [*map(method, said.controls), _PRODUCT, *map(method, said.product)]
    return "".join([head, *methods, _TAIL.format(**types)])


def _object(values: Mapping[str, object]) -> str:
    inner = ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())
    return f"{{ {inner} }}" if inner else "{}"


def _signal(signal: Effect) -> str:
    given = ", ".join([f'signal: "{signal.name}"', *(f"{key}: …" for key in signal.fields)])
    return f"   *  {{ {given} }}  {signal.told}".rstrip()


def _typed(method: Method) -> str:
    words = " ".join(method.said("null", gives=False))
    asked = f"asked: {_asked(method)}" if method.asked else ""
    gives = "" if method.gives == NULL else f": Promise<{_type(method.gives)}>"
    return _stub(words, f"async {method.name}({asked}){gives}")


def _commented(method: Method) -> str:
    words = [*method.said("null", gives=False), *([f"@param {{{_asked(method)}}} asked"] if method.asked else [])]
    words += [] if method.gives == NULL else [f"@returns {{Promise<{_type(method.gives)}>}}"]
    return _stub(" ".join(words), f"async {method.name}({'asked' if method.asked else ''})")


def _stub(words: str, signature: str) -> str:
    """Write a method that is not there yet; on one line where it fits, for there are many."""
    short = f"  /** {words} */ {signature} {{ missing(); }}\n"
    return short if len(short) <= _ONE_LINE else f"  /** {words} */\n  {signature} {{ missing(); }}\n"


def _asked(method: Method) -> str:
    fields = (f"{each.name}{'?' if each.may_be_left_out else ''}: {_type(each.type)}" for each in method.asked)
    return f"{{ {'; '.join(fields)} }}"


def _type(kind: Type) -> str:
    match kind:
        case Optional(item=item):
            return f"{_type(item)} | null"
        case List(item=item):
            return f"({_type(item)})[]" if isinstance(item, Optional | Enum | DocumentType) else f"{_type(item)}[]"
        case RecordType(fields=fields):
            return f"{{ {'; '.join(f'{name}: {_type(field)}' for name, field in fields)} }}"
        case Enum(members=members):
            return " | ".join(map(json.dumps, members))
        case DocumentType():
            return "{ text: string } | { file: string }"
        case Bool():
            return "boolean"
        case Int() | Time():
            return "number"
        case Null():
            return "null"
        case _:
            return "string"
