;; An adapter for task-progress: between your system and the kit, which talks to it over stdin and stdout (docs/protocol.md).
;;     conformance run task-progress --against "stdio:clojure -M adapter.clj"
;; It needs one dependency: {:deps {org.clojure/data.json {:mvn/version "2.5.0"}}} in deps.edn.
;; A call gives plain values back; it refuses with `(refuse "not_found")`. Anything else that is thrown counts as a crash.
;; stdout is for messages only: log with (binding [*out* *err*] (println …)).
(ns adapter (:require [clojure.data.json :as json]))

;; What your system says of itself; leave a word out where its default fits.
(def declares
  {"limits" {"activities" 5}
   "policies" {"synthetic_counts" "counted"}
   "lacks" [] ; optional operations, those that only look, test controls, and signals: "signal NAME"
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
   ;; What your system did beside its replies since the last call of signals, and what may cause it:
   ;; {"signal": "announced", "task": …, "description": …, "started_at": …, "total_tokens": …, "tool_uses": …, "summary": …}  summarize
   "signals" (fn [jobs asked] [])
   ;; "wait": moves the clock that your system reads, for "clock" "virtual"; it is 0 at first. Takes ms: number.
   ;; ── The operations of your product
   "create_task" missing ;; A task of a batch, or of none, is pending until it is started; one whose registration fails goes to failed. Takes label: text, batch: text | null, registers: bool | null. registers nil: the caller left it out and means true. Gives {task_id: id of Task, status: pending | running | completed | failed | aborted}.
   "start" missing ;; … Takes task: text.
   "message" missing ;; A message of the task's conversation; only those of the assistant count. Takes task: text, role: text, usage: {input: number, output: number, cache_creation: number | null, cache_read: number | null}, tools: [{name: text, input: text}]. role: assistant | user.
   "summarize" missing ;; A summary of what the task has done so far; it is announced to those who subscribed. Takes task: text, text: text.
   "finish" missing ;; … Takes task: text, outcome: text. outcome: completed | failed | aborted.
   "abort" missing ;; The caller, or the task's own signal, stops it; one that waits never runs. Takes task: text.
   "subscribe" missing ;; … Takes on: bool.
   "progress" missing ;; What a task has done so far. Takes task: text. Gives {tool_use_count: int, latest_input_tokens: int, cumulative_output_tokens: int, token_count: int, recent_activities: [{name: bash | read_file | grep | structured_output | structured_output_files, input: Text}], last_activity: {name: bash | read_file | grep | structured_output | structured_output_files, input: Text} | null, summary: Text | null}.
   "status" missing ;; … Takes task: text. Gives pending | running | completed | failed | aborted.
   "batch_status" missing ;; Whether every task of a batch has ended. Takes batch: text. Gives {complete: bool} | null.
   })

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
