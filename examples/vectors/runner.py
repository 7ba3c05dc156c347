"""Runs test vectors against an adapter: python runner.py VECTORS.json MODULE:CLASS. See docs/vectors.md."""
import collections, functools, importlib, json, operator, pathlib, re, sys
KINDS = {"string": str, "number": int, "boolean": bool, "null": type(None), "array": list, "object": dict}
SPECIAL = {
    "$any": lambda run, kinds, seen: any(isinstance(seen, KINDS[kind]) for kind in kinds),
    "$one_of": lambda run, some, seen: seen in some,
    "$time": lambda run, ends, seen: isinstance(seen, int) and (not run.clock or ends[0] <= seen <= ends[1]),
    "$unordered": lambda run, items, seen: isinstance(seen, list) and run.paired(items, [], seen),
    "$file": lambda run, text, seen: isinstance(seen, dict) and pathlib.Path(seen["file"]).read_bytes() == text.encode(),
    "$id": lambda run, it, seen: isinstance(seen, str) and re.fullmatch(it[1], seen) and run.is_new(it[0], seen)}
def joined(it): return "".join(piece * count for piece, count in it["$text"]) if "$text" in it else it
class Run:
    def __init__(self, it): self.system, self.clock, self.replies, self.ids = it, hasattr(it, "wait"), [], {}
    def is_new(self, of, seen): return self.ids.setdefault((of, seen), len(self.replies)) == len(self.replies)
    def filled(self, it):
        if isinstance(it, list): return [self.filled(part) for part in it]
        if not isinstance(it, dict): return it
        if "$ref" in it: return functools.reduce(operator.getitem, it["$ref"][1:], self.replies[it["$ref"][0]])
        return {name: self.filled(part) for name, part in it.items()}
    def fits(self, it, seen):
        if isinstance(it, dict) and next(iter(it), "") in SPECIAL: return SPECIAL[next(iter(it))](self, *it.values(), seen)
        if isinstance(it, dict): return isinstance(seen, dict) and all(self.fits(it[key], seen.get(key)) for key in it)
        if isinstance(it, list): return isinstance(seen, list) and len(it) == len(seen) and all(map(self.fits, it, seen))
        return it == seen and isinstance(it, bool) == isinstance(seen, bool)
    def paired(self, due, may, seen):  # all that are due came, and of the rest each is one that may come
        if len(due) > len(seen) or not (may or len(due) == len(seen)): return False
        if not all(any(self.fits(it, one) for one in seen) for it in due): return False
        if not all(any(self.fits(it, one) for it in due + may) for one in seen): return False
        rest = ((one, seen[:at] + seen[at + 1:]) for at, one in enumerate(seen))
        return not due or any(self.fits(due[0], one) and self.paired(due[1:], may, left) for one, left in rest)
    def allows(self, answer, seen):
        try:
            it = {"refused": None, "reply": {"$any": KINDS}, "signals": [], "may_signal": [], **self.filled(answer)}
            said = self.fits(it["refused"], seen["refused"]) and self.fits(it["reply"], seen["reply"])
            return said and self.paired(it["signals"], it["may_signal"], seen["signals"])
        except (LookupError, TypeError, OSError): return False  # a reply or a file that is not there
    def ended(self, steps):
        states, noted = {0}, ""
        for number, step in enumerate(steps):
            try: arguments = self.filled(step["arguments"])
            except (LookupError, TypeError): break
            try: said = {"refused": None, "reply": getattr(self.system, step["call"])(**arguments)}
            except Exception as error: said = {"refused": getattr(error, "code", [repr(error)]), "reply": None}
            seen = json.loads(json.dumps({**said, "signals": getattr(self.system, "signals", list)()}, default=str))
            fitting = [it for it in step["answers"] if states & {*it.get("in", [0])} and self.allows(it, seen)]
            told = f"step {number}, {step['call']}: expected {json.dumps(step['answers'])}, got {json.dumps(seen)}"
            if not fitting: return "failed", told
            noted = told if "against" in fitting[0] else noted
            if "ends" in fitting[0]: break
            self.replies.append(seen["reply"])
            states = {to for it in fitting for to in it.get("to", [0])}
        return "not as recommended" if noted else "passed", noted
counts, (module, name), sys.path[:0] = collections.Counter(), sys.argv[2].split(":"), [""]
for vector in json.loads(pathlib.Path(sys.argv[1]).read_bytes(), object_hook=joined)["vectors"]:
    system = getattr(importlib.import_module(module), name)()
    lacking = [step["call"] for step in vector["steps"] if not hasattr(system, step["call"])]
    verdict, told = ("left out", f"it lacks {lacking[0]}") if lacking else Run(system).ended(vector["steps"])
    counts[verdict] += 1
    if told: print(f"{vector['name']} {verdict}: {told}"[:2000])
sys.exit(print(", ".join(f"{count} {verdict}" for verdict, count in counts.items())) or counts["failed"] > 0)
