"""The skeleton of an adapter in Java. It takes JSON from one small library: one of its own would not fit here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from conformance.skeleton.facts import Outline
from conformance.skeleton.listed import Style, plain, written

_TEMPLATE: Final = """\
// An adapter for $name: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
//     conformance run $called --against "stdio:java -cp json.jar Adapter.java"
// It needs one dependency, org.json:json, here as json.jar; and Java 17 or later. A call gives plain values back: maps, lists,
// texts, numbers, null. It refuses with `throw new Refused("$code")`; anything else that is thrown counts as a crash.
// stdout is for messages only: log with System.err.
import java.io.*; import java.util.*; import java.util.concurrent.*; import org.json.*;
import static java.nio.charset.StandardCharsets.UTF_8;

// What your system says of itself is below; leave a word out where its default fits.$choices
public class Adapter {
    static final JSONObject DECLARES = new JSONObject()
        .put("limits", $limits)
        .put("policies", $policies)
        .put("lacks", $lacks) // optional operations, those that only look, test controls, and signals: "signal NAME"$parts
        .put("deviates", new JSONObject()) // known failures, by row or clause: {"N1": {"reason": "…"}}
        .put("clock", "none") // "virtual" with "wait" below, which moves it; "running": time does, too; "real": only time does
        .put("concurrency", "none") // "threads" when several calls may come at once: each is made on a thread of its own
        .put("settles", 0); // milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
    static final boolean POINTS = false; // true when calls tell of points, below
    static class Refused extends RuntimeException { Refused(String code) { super(code); } } // a code of the life cycle
    static class Missing extends RuntimeException { static Object missing() { throw new Missing(); } }
    interface Method { Object call(JSONObject asked) throws Exception; } // asked.getString("task"), asked.optJSONArray("jobs")
    static class MyJobs { // your system, a fresh one for every case
        final Map<String, Method> methods = new HashMap<>();
        void close() {} // frees what this case used
        MyJobs() {
            // ── Observers and test controls: they are this adapter's, and no part of your product
            // What your system did beside its replies since the last call of signals, and what may cause it:$signals
            methods.put("signals", asked -> List.of());
            // "wait": moves the clock that your system reads, for "clock": "virtual"; it is 0 at first. Takes ms: number.
$controls            // ── The operations of your product
$product        }
    }
    // ── Points: before a call touches what it shares with others, `point("get")`: the kit chooses which call goes on.
    // Before it blocks on a virtual clock, `waitsUntil(instant)`: the kit moves the clock.
    static final ThreadLocal<Integer> CALL = new ThreadLocal<>(); // of a thread that you start, none
    static final Map<String, CountDownLatch> HELD = new ConcurrentHashMap<>();
    static void point(String at) throws InterruptedException {
        if (!POINTS) return;
        CountDownLatch going = new CountDownLatch(1);
        tell(new JSONObject().put("at", at), going); going.await();
    }
    static void waitsUntil(long ms) { tell(new JSONObject().put("until", ms), new CountDownLatch(1)); }
    static void tell(JSONObject params, CountDownLatch going) {
        String id = UUID.randomUUID().toString();
        HELD.put(id, going);
        write(new JSONObject().put("id", id).put("method", "point"), "params", params.put("call", JSONObject.wrap(CALL.get())));
    }
    // ── Lines
    static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
    static MyJobs jobs = new MyJobs();
    static void write(JSONObject message, String field, Object value) {
        String line = message.put("jsonrpc", "2.0").put(field, JSONObject.wrap(value)).toString();
        synchronized (OUT) { OUT.print(line + "\\n"); OUT.flush(); }
    }
    static void answer(MyJobs jobs, int id, String method, JSONObject params) {
        CALL.set(id);
        JSONObject message = new JSONObject().put("id", id);
        try {
            write(message, "result", jobs.methods.getOrDefault(method, asked -> Missing.missing()).call(params));
        } catch (Throwable error) {
            JSONObject data = error instanceof Refused ? new JSONObject().put("refused", error.getMessage()) : new JSONObject();
            int code = error instanceof Missing ? -32601 : 1;
            write(message, "error", new JSONObject().put("code", code).put("message", "" + error).put("data", data));
        }
    }
    static boolean heard(String line) {
        JSONObject asked; try { asked = new JSONObject(line); } catch (RuntimeException noJson) {
            write(new JSONObject().put("id", JSONObject.NULL), "error", Map.of("code", -32700, "message", "no JSON")); return true; }
        JSONObject params = asked.has("params") ? asked.getJSONObject("params") : new JSONObject();
        JSONObject welcome = new JSONObject().put("protocol", 1).put("declares", DECLARES).put("points", POINTS);
        MyJobs now = jobs; String method = asked.optString("method");
        switch (method) {
            case "" -> HELD.remove(asked.getString("id")).countDown(); // a call may go on from its point
            case "hello" -> write(new JSONObject().put("id", asked.getInt("id")), "result", welcome);
            case "reset", "close" -> { now.close(); jobs = new MyJobs(); write(new JSONObject().put("id", asked.getInt("id")), "result", null); }
            default -> new Thread(() -> answer(now, asked.getInt("id"), method, params)).start();
        }
        return !method.equals("close");
    }
    public static void main(String[] given) {
        new BufferedReader(new InputStreamReader(System.in, UTF_8)).lines().allMatch(Adapter::heard); // until it is closed
        System.exit(0);
    }
}
"""


def java(said: Outline) -> str:
    """Write the skeleton of an adapter in Java."""
    template = _TEMPLATE.replace(
        "$parts", '\n        .put("parts", $parts) // which of them it has' if said.parts else ""
    )
    return written(template, _STYLE, said)


def _object(values: Mapping[str, object]) -> str:
    fields = (f".put({json.dumps(name)}, {plain(value, 'JSONObject.NULL')})" for name, value in values.items())
    return f"new JSONObject(){''.join(fields)}"


_STYLE: Final = Style(
    comment="//",
    null="null",
    entry=lambda name: f'            methods.put("{name}", asked -> Missing.missing());',
    fields=_object,
    texts=lambda texts: f"List.of({', '.join(map(json.dumps, texts))})",
)
