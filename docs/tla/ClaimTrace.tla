----------------------------- MODULE ClaimTrace -----------------------------
(***************************************************************************)
(* Are these writes, as a store took them, a behaviour of the protocol?    *)
(*                                                                         *)
(* They come as a module TraceData, which whoever recorded them writes:    *)
(*                                                                         *)
(*   ----------------------------- MODULE TraceData ---------------------- *)
(*   EXTENDS Integers                                                      *)
(*   MaxSkew   == 1000        \* the declared bound, in ms                 *)
(*   Apart     == 400         \* how far the clocks really were apart, ms  *)
(*   Retention == 86400000    \* how long an end is kept, in ms            *)
(*   Traces == <<             \* one for each ID, in the order it took them *)
(*     << [st |-> "HELD", tok |-> 1, g |-> "a1", n |-> 0, red |-> FALSE,   *)
(*         at |-> 0, end |-> 30000, len |-> 30000],                        *)
(*        [st |-> "DONE", tok |-> 1, g |-> "a1", n |-> 1, red |-> FALSE,   *)
(*         at |-> 900, end |-> 900, len |-> 0] >>                          *)
(*   >>                                                                    *)
(*   ===================================================================== *)
(*                                                                         *)
(*   st   HELD, FREE, DONE or DEAD; ABSENT for a deletion                  *)
(*   tok  the token                                                        *)
(*   g    the nonce of the write that began the grant, or of an operator's *)
(*   n    how many writes after that one this is: the difference of the    *)
(*        nonces' low halves                                               *)
(*   red  whether a redrive has freed the record once                      *)
(*   at   true time when the store took it, in ms from any start           *)
(*   end  by the same time, as it is stored: when the lease is over, or    *)
(*        the record is due (0: at once); else as at                       *)
(*   len  the length of the lease; 0 where there is none                   *)
(*                                                                         *)
(* More fields do no harm. In a deletion all but st and at may be 0 or "". *)
(* Only writes that were taken belong here, not those that were refused.   *)
(*                                                                         *)
(* A trace is rejected by the invariant Accepted; the last state that TLC  *)
(* prints has the first illegal write, and what is wrong with it.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, TraceData

VARIABLES
  trace,        \* which
  step,         \* how many of its writes were taken
  item,         \* what is stored
  write,        \* the write before which it was stored, or the first illegal one
  wrong         \* what is wrong with that, or ""

Absent == [st |-> "ABSENT", tok |-> 0, g |-> "", n |-> 0, red |-> FALSE,
           at |-> 0, end |-> 0, len |-> 0]

Terminal(st) == st \in {"DONE", "DEAD"}

(* No earlier write of this trace began with this nonce. *)
IsFresh(w) == \A k \in 1..step : Traces[trace][k].g # w.g

IsGrant(w) == w.st = "HELD" /\ w.n = 0

(* By the store's clock as far ahead as it can be, or watched for a whole lease. *)
IsOver(w) == item.end + MaxSkew < w.at + Apart \/ item.at + item.len < w.at

Expired(w) ==
  \/ Terminal(item.st) /\ item.at + Retention < w.at + Apart
  \/ item.st # "ABSENT" /\ item.end + Retention < w.at + Apart

(* What is wrong with a write over what is stored, by the invariant that it breaks. *)
Wrong(w) ==
  CASE w.st = "ABSENT" ->
         IF Expired(w) THEN "" ELSE "5: deleted before its time"
    [] item.st = "ABSENT" ->
         IF ~IsGrant(w) THEN "4: a write under a lease that is not there"
         ELSE IF w.tok # 1 THEN "2: the first token is not 1"
         ELSE IF ~IsFresh(w) THEN "9: a nonce comes again" ELSE ""
    [] IsGrant(w) ->
         IF Terminal(item.st) THEN "3: an end is claimed"
         ELSE IF w.tok # item.tok + 1 THEN "2: the token does not rise by one"
         ELSE IF ~IsFresh(w) THEN "9: a nonce comes again"
         ELSE IF w.red # item.red THEN "3: a redrive is forgotten, or made up"
         ELSE IF item.st = "HELD" /\ ~IsOver(w) THEN "8: taken over before the lease and the skew bound are over"
         ELSE IF item.st = "FREE" /\ item.end > w.at + Apart THEN "8: claimed before it is due" ELSE ""
    [] w.n = 0 ->
         IF w.st # "FREE" THEN "4: an operator only frees"
         ELSE IF ~IsFresh(w) THEN "9: a nonce comes again"
         ELSE IF item.st = "HELD" THEN
           IF w.tok = item.tok /\ w.red = item.red THEN "" ELSE "2: freed under another token"
         ELSE IF item.st = "DEAD" /\ ~item.red THEN
           IF w.tok = item.tok + 1 /\ w.red THEN "" ELSE "2: redriven without a higher token"
         ELSE "3: freed, though it is neither held nor dead for the first time"
    [] OTHER ->
         IF Terminal(item.st) THEN "3: an end is overwritten"
         ELSE IF item.st # "HELD" THEN "4: a step without a lease"
         ELSE IF w.tok # item.tok \/ w.g # item.g THEN "4: a step under another's grant"
         ELSE IF w.n # item.n + 1 THEN "5: a late write over a newer one"
         ELSE IF w.red # item.red THEN "3: a redrive is forgotten, or made up"
         ELSE ""

Before(k) == IF k <= Len(Traces[trace]) THEN Traces[trace][k] ELSE Absent

Init ==
  /\ trace \in DOMAIN Traces
  /\ step = 0
  /\ item = Absent
  /\ write = Before(1)
  /\ wrong = IF Traces[trace] = <<>> THEN "" ELSE Wrong(write)

Next ==
  /\ step < Len(Traces[trace]) /\ wrong = ""
  /\ item' = IF write.st = "ABSENT" THEN Absent ELSE write
  /\ step' = step + 1
  /\ trace' = trace
  /\ write' = Before(step' + 1)
  /\ wrong' = IF step' = Len(Traces[trace]) THEN "" ELSE Wrong(write)'

Spec == Init /\ [][Next]_<<trace, step, item, write, wrong>>

Accepted == wrong = ""
=============================================================================
