"""The skeleton of an adapter in Clojure, with the JSON of its contributed libraries."""

from __future__ import annotations

import json
from typing import Final

from conformance.skeleton.facts import Outline
from conformance.skeleton.listed import Style, plain, written

_TEMPLATE: Final = """\
;; An adapter for $name: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
;;     conformance run $called --against "stdio:clojure -M adapter.clj"
;; It needs one dependency: {:deps {org.clojure/data.json {:mvn/version "2.5.0"}}} in deps.edn.
;; A call gives plain values back; it refuses with `(refuse "$code")`. Anything else that is thrown counts as a crash.
;; stdout is for messages only: log with (binding [*out* *err*] (println …)).
(ns adapter (:require [clojure.data.json :as json]))

;; What your system says of itself; leave a word out where its default fits.$choices
(def declares
  {"limits" $limits
   "policies" $policies
   "lacks" $lacks ; optional operations, those that only look, test controls, and signals: "signal NAME"$parts
   "deviates" {} ; known failures, by row or clause: {"N1" {"reason" "…"}}
   "clock" "none" ; "virtual" with "wait" below, which moves it; "running": time does, too; "real": only time does
   "concurrency" "none" ; "threads" when several calls may come at once: each is made on a thread of its own
   "settles" 0}) ; milliseconds until all that a call causes can be seen, signals included; 0: when it is answered
(def points false) ; true when calls tell of points, below

(defn refuse [code] (throw (ex-info code {:refused code}))) ; a code of the life cycle
(defn missing [jobs asked] (throw (ex-info "this is not written yet" {:missing true})))

;; ── Points: before a call touches what it shares with others, (point "get"): the kit chooses which call goes on.
;; Before it blocks on a virtual clock, (waits-until instant): the kit moves the clock.
(def ^:dynamic *call* nil)
(def held (atom {}))
(def writing (Object.))
(defn write [message]
  (let [line (json/write-str (assoc message "jsonrpc" "2.0"))]
    (locking writing (println line) (flush))))
(defn tell [id params] (write {"id" id "method" "point" "params" (assoc params "call" *call*)}))
(defn point [at]
  (when points
    (let [id (str (random-uuid)), going (promise)]
      (swap! held assoc id going)
      (tell id {"at" at})
      @going)))
(defn waits-until [ms] (tell (str (random-uuid)) {"until" ms}))

(defn make [] (atom {})) ; your system, a fresh one for every case
(defn close [jobs]) ; frees what this case used

;; Each is a function of the system and what is asked: (fn [jobs {:strs [task]}] …); what is left out is nil.
(def operations
  {;; ── Observers and test controls: they are this adapter's, and no part of your product
   ;; What your system did beside its replies since the last call of signals, and what may cause it:$signals
   "signals" (fn [jobs asked] [])
   ;; "wait": moves the clock that your system reads, for "clock" "virtual"; it is 0 at first. Takes ms: number.
$controls   ;; ── The operations of your product
$product   })

;; ── Lines
(defn answer [jobs id method params]
  (write
    (try
      {"id" id "result" (binding [*call* id] ((get operations method missing) jobs params))}
      (catch Throwable error
        (let [{:keys [refused missing]} (ex-data error)]
          {"id" id "error" {"code" (if missing -32601 1) "message" (str error) "data" (if refused {"refused" refused} {})}})))))
(loop [jobs (make)]
  (when-let [line (read-line)]
    (let [{:strs [id method params]} (try (json/read-str line) (catch Exception _ {"method" "no JSON"}))
          done (fn [result] (write {"id" id "result" result}))]
      (case method
        "no JSON" (do (write {"id" nil "error" {"code" -32700 "message" method}}) (recur jobs))
        nil (do (when-let [going (get @held id)] (swap! held dissoc id) (deliver going true)) (recur jobs))
        "hello" (do (done {"protocol" 1 "declares" declares "points" points}) (recur jobs))
        "reset" (do (close jobs) (done nil) (recur (make)))
        "close" (do (close jobs) (done nil))
        (do (future (answer jobs id method params)) (recur jobs))))))
(shutdown-agents)
"""


def clojure(said: Outline) -> str:
    """Write the skeleton of an adapter in Clojure."""
    template = _TEMPLATE.replace("$parts", '\n   "parts" $parts ; which of them it has' if said.parts else "")
    return written(template, _STYLE, said)


_STYLE: Final = Style(
    comment=";;",
    null="nil",
    entry=lambda name: f'   "{name}" missing',
    fields=lambda values: "{" + ", ".join(f"{json.dumps(k)} {plain(v, 'nil')}" for k, v in values.items()) + "}",
    texts=lambda texts: "[" + " ".join(map(json.dumps, texts)) + "]",
)
