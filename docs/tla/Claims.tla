------------------------------- MODULE Claims -------------------------------
(***************************************************************************)
(* The claim protocol of ../protocol.md for one ID, on either store:       *)
(* instances that claim, renew and settle, operators who free, a sweeper,  *)
(* requests that are late, doubled or never answered, processes that die,  *)
(* and clocks that differ.                                                 *)
(*                                                                         *)
(* Time is counted in ticks. A lease has Lease of them, for its holder as  *)
(* for all others: the tenth that a holder gives up, and the fifth that an *)
(* observer adds, are for clocks that run too fast or slow, and here used  *)
(* up. Whatever reads the store's time reads up to Skew ticks too much: an *)
(* instance on DynamoDB always as much as the other time, the machines of  *)
(* S3 each time as they like.                                              *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Store,        \* "DynamoDB" or "S3"
  Instances,    \* who claims
  Lease,        \* how long a grant lasts
  Skew,         \* how far clocks differ, and the declared bound for it
  Retention,    \* how long an end is kept
  Horizon,      \* nothing happens after this tick
  MaxClaims,    \* how many claims there are, each with a nonce of its own
  Steps,        \* how leases may end: of "DONE", "DEAD", "FREE" (at once), "LATER" (when it is due)
  MaxRenewals,
  MaxLost,      \* how many requests nobody gets an answer to, applied late or never
  MaxDoubled,   \* how many requests arrive twice
  MaxCrashes,
  MaxOperators, \* how many writes of operators there are
  MaxSweeps,    \* how many deletions are sent
  Broken        \* "nothing", or what is broken on purpose

VARIABLES
  now,          \* true time
  ahead,        \* by how much each instance's idea of the store's time is ahead of it
  item,         \* what is stored
  inst,         \* what each instance remembers
  net,          \* requests on their way
  mail,         \* the answer that has reached an instance
  left,         \* what may still happen
  used,         \* every write that was ever stored: <<token, nonce, state>>
  said,         \* every answer that was given: <<instance, nonce, token, answer, life>>
  life          \* how often the item was deleted

vars == <<now, ahead, item, inst, net, mail, left, used, said, life>>

-----------------------------------------------------------------------------
(* A nonce is a claim's random number g and the count n of writes since.   *)

Absent == [st |-> "ABSENT", tok |-> 0, g |-> 0, n |-> 0, end |-> 0, red |-> FALSE]
Nothing == [st |-> "NOTHING"]

(* end: when a lease is over, a free record due (0: at once), an end written. *)
Body(st, tok, g, n, end, red) ==
  [st |-> st, tok |-> tok, g |-> g, n |-> n, end |-> end, red |-> red]

(* What a condition compares: state, token and nonce, or an ETag that no two of these share. *)
Same(a, b) == /\ a.st = b.st /\ a.tok = b.tok
              /\ (a.g = b.g /\ a.n = b.n) \/ Broken = "token only"

Terminal(st) == st \in {"DONE", "DEAD"}
Ended(st) == st \in {"DONE", "DEAD", "FREE"}

Idle == [does |-> "idle", g |-> 0, tok |-> 0, n |-> 0, start |-> 0,
         step |-> "none", sent |-> 0, red |-> FALSE, seen |-> Nothing]

Awaits(i) == mail[i] # Nothing \/ \E r \in net : r.by = i /\ r.live

Over == -1 - Lease \* stands for every start of a lease that is over

(* It has a lease that is not over, as far as it knows. *)
HasLease(i) == /\ inst[i].does \in {"working", "settling"}
               /\ now <= inst[i].start + Lease

(* An operator has freed what it holds: from then on two may work. *)
TakenBack(i) == \E u \in used : u[1] = inst[i].tok /\ u[2] > 100 /\ u[4] = "FREE"

(* Its handler may run. *)
MayWork(i) == /\ HasLease(i)
              /\ inst[i].step \in {"none", "RENEW"}
              /\ ~TakenBack(i)

Init ==
  /\ now = 0
  /\ ahead \in IF Store = "DynamoDB" THEN [Instances -> 0..Skew] ELSE [Instances -> {0}]
  /\ item = Absent
  /\ inst = [i \in Instances |-> Idle]
  /\ net = {}
  /\ mail = [i \in Instances |-> Nothing]
  /\ left = [claims |-> MaxClaims, renewals |-> MaxRenewals, lost |-> MaxLost,
             doubled |-> MaxDoubled, crashes |-> MaxCrashes, operators |-> MaxOperators,
             sweeps |-> MaxSweeps]
  /\ used = {}
  /\ said = {}
  /\ life = 0

-----------------------------------------------------------------------------
(* Requests.                                                               *)

Request(i, kind, on, to, t) ==
  [by |-> i, live |-> TRUE, kind |-> kind, on |-> on, to |-> to, t |-> t]

Put(i, on, to) == Request(i, "put", on, to, 0)
Read(i) == Request(i, "read", Absent, Absent, 0)

(* The lease's end is by the writer's idea of the time; S3 says itself when it took a write. *)
Held(i, tok, g, n, red) == Body("HELD", tok, g, n, now + ahead[i] + Lease, red)

(* The first request of a claim: DynamoDB judges what is there by itself. *)
FirstRequest(i, g, seen) ==
  IF Store = "S3"
  THEN Put(i, Absent, Held(i, 1, g, 0, FALSE))
  ELSE Request(i, "claim",
         IF seen # Nothing /\ now > seen.since + Lease THEN seen.of ELSE Absent,
         Held(i, 0, g, 0, FALSE), now + ahead[i])

Margin == IF Broken = "no margin" THEN 0 ELSE Skew

(* The condition of that request. *)
MayAcquire(r) ==
  \/ item.st = "ABSENT"
  \/ /\ item.st = "HELD"
     /\ ~(item.g = r.to.g /\ item.n = 0)
     /\ \/ item.end + Margin < r.t
        \/ r.on # Absent /\ Same(item, r.on)
  \/ /\ item.st = "FREE"
     /\ IF Broken = "due is not strict" THEN item.end <= r.t
        ELSE item.end > 0 /\ item.end < r.t
  \/ Terminal(item.st) /\ Broken = "ends are claimed"

Expired == \/ Terminal(item.st) /\ now > item.end + Retention
           \/ item.st = "HELD" /\ now > item.end + Skew + Retention

Applies(r) ==
  CASE r.kind = "claim"  -> MayAcquire(r)
    [] r.kind = "put"    -> \/ Same(r.on, item)
                            \/ /\ Broken = "no fence" /\ r.on.st = "HELD"
                               /\ item.st = "HELD" /\ r.to.st # "HELD"
    [] r.kind = "delete" -> Same(r.on, item) \/ Broken = "blind delete"
    [] OTHER             -> FALSE

(* What is then stored; d is how far the clock of S3's machine is ahead. *)
Stored(r, d) ==
  CASE r.kind = "delete" -> Absent
    [] r.kind = "claim"  -> [r.to EXCEPT
                               !.tok = IF Broken = "tokens restart" /\ item.st = "FREE" THEN 1
                                       ELSE item.tok + 1,
                               !.red = item.red]
    [] OTHER             -> CASE Store = "S3" /\ r.to.st = "HELD" -> [r.to EXCEPT !.end = now + d + Lease]
                              [] Store = "S3" /\ r.to.st = "FREE" /\ r.to.end > 0 -> [r.to EXCEPT !.end = now + d]
                              [] Terminal(r.to.st) -> [r.to EXCEPT !.end = now]
                              [] OTHER -> r.to

(* S3 tells of a failed condition nothing but that it failed; so one reads. *)
Answer(r, took, d) ==
  CASE took -> [st |-> "took", tok |-> Stored(r, d).tok, n |-> r.to.n, red |-> item.red]
    [] ~took /\ r.kind = "put" /\ Store = "S3" -> [st |-> "refused"]
    [] OTHER -> [st |-> "found", of |-> item, date |-> IF Store = "S3" THEN now + d ELSE 0]

(* Nothing can delete the item any more. *)
Kept == left.sweeps = 0 /\ \A r \in net : r.kind # "delete"

(* Too late for good, as no write's name comes back (FreshNonce): such a request may be forgotten. *)
Hopeless(r, stored) ==
  /\ ~r.live /\ Broken = "nothing"
  /\ \/ r.kind \in {"put", "delete"} /\ ~Same(r.on, stored) /\ (r.on.st # "ABSENT" \/ Kept)
     \/ r.kind = "claim" /\ Kept /\ stored.st = "DONE"

(* Deletions are safe because no first claim is under way for as long as an end is kept. *)
TooLate(r) == /\ MaxSweeps > 0 /\ r.by \in Instances /\ r.to.st = "HELD"
              /\ r.kind = "claim" \/ r.on.st = "ABSENT"
              /\ now > r.to.end - Lease - ahead[r.by] + Retention

(* A request arrives; doubled: it will again, and one of its answers is lost. *)
Arrive(r, d, doubled, heard) ==
  LET took == Applies(r)
      next == IF took THEN Stored(r, d) ELSE item
  IN
  /\ ~TooLate(r)
  /\ doubled => left.doubled > 0 /\ r.kind # "read"
  /\ heard => r.live
  /\ ~heard => doubled \/ ~r.live
  /\ item' = next
  /\ used' = IF took /\ next # Absent THEN used \union {<<next.tok, next.g, next.n, next.st>>} ELSE used
  /\ life' = IF took /\ next = Absent THEN life + 1 ELSE life
  /\ net' = {q \in (net \ {r}) \union IF doubled THEN {[r EXCEPT !.live = r.live /\ ~heard]} ELSE {} :
               ~Hopeless(q, next)}
  /\ mail' = IF heard THEN [mail EXCEPT ![r.by] = Answer(r, took, d)] ELSE mail
  /\ left' = IF doubled THEN [left EXCEPT !.doubled = @ - 1] ELSE left
  /\ UNCHANGED <<now, ahead, inst, said>>

(* Nobody waits for its answer any longer; it arrives late, or never. *)
Lose(r) ==
  /\ left.lost > 0 /\ r.live
  /\ net' = (net \ {r}) \union IF r.kind = "read" THEN {} ELSE {[r EXCEPT !.live = FALSE]}
  /\ left' = [left EXCEPT !.lost = @ - 1]
  /\ UNCHANGED <<now, ahead, item, mail, used, life>>
  /\ LET i == r.by me == inst[i]
     IN IF Broken = "a lost answer is a win" /\ r.kind # "read"
        THEN IF me.does = "claiming"
             THEN /\ inst' = [inst EXCEPT ![i] = [me EXCEPT !.does = "working", !.tok = IF r.to.tok = 0 THEN 1 ELSE r.to.tok]]
                  /\ said' = said \union {<<i, me.g, inst'[i].tok, "granted", life>>}
             ELSE /\ inst' = [inst EXCEPT ![i] = Idle]
                  /\ said' = said \union {<<i, me.g, me.tok, me.step, life>>}
        ELSE UNCHANGED <<inst, said>>

-----------------------------------------------------------------------------
(* An instance.                                                            *)

Send(r) == net' = net \union {r}

Begin(i) ==
  LET g == MaxClaims - left.claims + 1 IN
  /\ inst[i].does = "idle" /\ left.claims > 0
  /\ inst' = [inst EXCEPT ![i] = [Idle EXCEPT !.does = "claiming", !.g = g, !.start = now, !.seen = inst[i].seen]]
  /\ left' = [left EXCEPT !.claims = @ - 1]
  /\ Send(FirstRequest(i, g, inst[i].seen))
  /\ UNCHANGED <<now, ahead, item, mail, used, said, life>>

(* A step under a lease: renewed, or ended. *)
StepBody(i, step, n) ==
  LET me == inst[i]
      next == IF Broken = "no fresh nonce" /\ step = "RENEW" THEN n ELSE n + 1
  IN IF step = "RENEW" THEN Held(i, me.tok, me.g, next, me.red)
     ELSE Body(IF step = "LATER" THEN "FREE" ELSE step, me.tok, me.g, next,
               IF step = "LATER" THEN now + ahead[i] ELSE 0, me.red)

(* When a renewal is sent, for its lease counts from then. *)
Sent(step) == IF step = "RENEW" THEN now ELSE 0

Presumed(i) == Body("HELD", inst[i].tok, inst[i].g, inst[i].n, 0, inst[i].red)

Step(i, step) ==
  /\ inst[i].does = "working"
  /\ step = "RENEW" => left.renewals > 0
  /\ left' = IF step = "RENEW" THEN [left EXCEPT !.renewals = @ - 1] ELSE left
  /\ inst' = [inst EXCEPT ![i].does = "settling", ![i].step = step, ![i].sent = Sent(step)]
  /\ Send(Put(i, Presumed(i), StepBody(i, step, inst[i].n)))
  /\ UNCHANGED <<now, ahead, item, mail, used, said, life>>

(* No answer came: the same again, with the same nonce. *)
Again(i) ==
  /\ inst[i].does \in {"claiming", "settling"} /\ ~Awaits(i)
  /\ IF inst[i].does = "claiming"
     THEN /\ MaxSweeps = 0 \/ now <= inst[i].start + Retention
          /\ UNCHANGED inst
          /\ Send(FirstRequest(i, inst[i].g, inst[i].seen))
     ELSE /\ inst' = [inst EXCEPT ![i].sent = Sent(inst[i].step)]
          /\ Send(Put(i, Presumed(i), StepBody(i, inst[i].step, inst[i].n)))
  /\ UNCHANGED <<now, ahead, item, mail, left, used, said, life>>

Granted(i, tok, red) ==
  LET me == inst[i] IN
  /\ inst' = [inst EXCEPT ![i] = [Idle EXCEPT !.does = "working", !.g = me.g, !.tok = tok, !.red = red,
                !.start = IF Broken = "counted from the answer" THEN now ELSE me.start]]
  /\ said' = said \union {<<i, me.g, tok, "granted", life>>}
  /\ UNCHANGED net

NotGranted(i, seen) ==
  /\ inst' = [inst EXCEPT ![i] = [Idle EXCEPT !.seen = seen]]
  /\ UNCHANGED <<net, said>>

(* Protocol.decide for a claim, on what was found at t by the store's clock. *)
DecideClaim(i, f, t) ==
  LET me == inst[i]
      known == me.seen # Nothing /\ Same(me.seen.of, f)
      write == /\ Send(Put(i, f, Held(i, f.tok + 1, me.g, 0, f.red)))
               /\ UNCHANGED <<inst, said>>
  IN CASE f.st = "ABSENT" -> write
       [] f.st = "HELD" /\ f.g = me.g /\ f.n = 0 /\ Broken # "a lost answer is a loss"
            -> Granted(i, f.tok, f.red)
       [] Terminal(f.st) -> NotGranted(i, Nothing)
       [] f.st = "FREE" -> IF f.end > t THEN NotGranted(i, Nothing) ELSE write
       [] OTHER -> IF f.end + Margin < t \/ (known /\ now > me.seen.since + Lease) THEN write
                   ELSE /\ inst' = [inst EXCEPT ![i] = [Idle EXCEPT !.seen =
                             IF known THEN me.seen
                             ELSE [st |-> "SEEN", of |-> [f EXCEPT !.end = 0],
                                   since |-> IF Broken = "watched from the question" THEN me.sent ELSE now]]]
                        /\ said' = IF f.g = me.g THEN said \union {<<i, me.g, f.tok, "held by another", life>>} ELSE said
                        /\ UNCHANGED net

Settled(i, n, start) ==
  LET me == inst[i] IN
  /\ UNCHANGED net
  /\ IF me.step = "RENEW"
     THEN /\ inst' = [inst EXCEPT ![i].does = "working", ![i].step = "none", ![i].n = n, ![i].start = start]
          /\ UNCHANGED said
     ELSE /\ inst' = [inst EXCEPT ![i] = Idle]
          /\ said' = said \union {<<i, me.g, me.tok, IF me.step = "LATER" THEN "FREE" ELSE me.step, life>>}

LostIt(i) ==
  LET me == inst[i] IN
  /\ inst' = [inst EXCEPT ![i] = Idle]
  /\ said' = said \union {<<i, me.g, me.tok, IF me.step = "DONE" THEN "lost DONE" ELSE "lost", life>>}
  /\ UNCHANGED net

(* Protocol.decide for a step under a lease. *)
DecideStep(i, f) ==
  LET me == inst[i]
      mine == f.tok = me.tok /\ f.g = me.g
      st == IF me.step = "LATER" THEN "FREE" ELSE me.step
  IN CASE mine /\ f.st = "HELD" /\ f.n = me.n ->
            Send(Put(i, f, StepBody(i, me.step, me.n))) /\ UNCHANGED <<inst, said>>
       [] mine /\ f.st = "HELD" /\ f.n = me.n + 1 ->
            IF me.step = "RENEW" THEN Settled(i, f.n, me.start)
            ELSE Send(Put(i, f, StepBody(i, me.step, f.n))) /\ UNCHANGED <<inst, said>>
       [] mine /\ f.st = st /\ f.n \in {me.n + 1, me.n + 2} /\ Broken # "a lost answer is a loss" ->
            Settled(i, f.n, me.start)
       [] OTHER -> LostIt(i)

Hear(i) ==
  LET m == mail[i]
      me == inst[i]
      t == IF m.st = "found" /\ Store = "S3" THEN m.date ELSE now + ahead[i]
  IN
  /\ m # Nothing
  /\ mail' = [mail EXCEPT ![i] = Nothing]
  /\ UNCHANGED <<now, ahead, item, left, used, life>>
  /\ CASE m.st = "refused" ->
            /\ inst' = IF Broken = "watched from the question" THEN [inst EXCEPT ![i].sent = now] ELSE inst
            /\ Send(Read(i)) /\ UNCHANGED said
       [] m.st = "took" /\ me.does = "claiming" -> Granted(i, m.tok, m.red)
       [] m.st = "took" /\ me.does = "settling" -> Settled(i, m.n, me.sent)
       [] m.st = "found" /\ me.does = "claiming" -> DecideClaim(i, m.of, t)
       [] OTHER -> DecideStep(i, m.of)

(* kill -9, and a new process: nothing is remembered, and nobody hears an answer. *)
Crash(i) ==
  /\ left.crashes > 0 /\ inst[i] # Idle
  /\ left' = [left EXCEPT !.crashes = @ - 1]
  /\ inst' = [inst EXCEPT ![i] = Idle]
  /\ mail' = [mail EXCEPT ![i] = Nothing]
  /\ net' = {IF r.by = i THEN [r EXCEPT !.live = FALSE] ELSE r : r \in {q \in net : q.by # i \/ q.kind # "read"}}
  /\ UNCHANGED <<now, ahead, item, used, said, life>>

-----------------------------------------------------------------------------
(* Operators and the sweeper: they read, and send a write that is conditional on it. *)

OperatorsNonce == 100 + left.operators

Operate ==
  /\ left.operators > 0
  /\ left' = [left EXCEPT !.operators = @ - 1]
  /\ \/ /\ item.st = "HELD"
        /\ Send([Put(0, item, Body("FREE", item.tok, OperatorsNonce, 0, 0, item.red)) EXCEPT !.live = FALSE])
     \/ /\ item.st = "DEAD" /\ ~item.red
        /\ Send([Put(0, item, Body("FREE", item.tok + 1, OperatorsNonce, 0, 0, TRUE)) EXCEPT !.live = FALSE])
  /\ UNCHANGED <<now, ahead, item, inst, mail, used, said, life>>

Sweep ==
  /\ left.sweeps > 0 /\ Expired
  /\ left' = [left EXCEPT !.sweeps = @ - 1]
  /\ Send([Request(0, "delete", item, Absent, 0) EXCEPT !.live = FALSE])
  /\ UNCHANGED <<now, ahead, item, inst, mail, used, said, life>>

Tick ==
  /\ now < Horizon
  /\ now' = now + 1
  /\ inst' = [i \in Instances |->
       IF HasLease(i) /\ now' > inst[i].start + Lease THEN [inst[i] EXCEPT !.start = Over] ELSE inst[i]]
  /\ UNCHANGED <<ahead, item, net, mail, left, used, said, life>>

(* Only S3's machines judge by themselves, so only there it matters how far each is ahead. *)
Ahead(r) == IF Store = "S3" /\ (r.kind = "read" \/ r.to.st \in {"HELD", "FREE"}) THEN 0..Skew ELSE {0}

Next ==
  \/ Tick
  \/ Operate
  \/ Sweep
  \/ \E r \in net : \/ \E d \in Ahead(r), doubled, heard \in BOOLEAN : Arrive(r, d, doubled, heard)
                    \/ Lose(r)
  \/ \E i \in Instances :
       \/ Begin(i) \/ Again(i) \/ Hear(i) \/ Crash(i)
       \/ \E step \in Steps \union {"RENEW"} : Step(i, step)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Instances)

-----------------------------------------------------------------------------
(* What must hold, by the numbers of ../protocol.md.                       *)

(* 1: for one token, at most one claimant is told "granted". *)
OneGrant ==
  \A x, y \in said : x[4] = "granted" /\ y[4] = "granted" /\ x[3] = y[3] /\ x[5] = y[5] => x = y

(* 2: a grant has a higher token than all before, and none goes back. *)
IsGrant == item'.st = "HELD" /\ item'.n = 0
Deleted == item'.st = "ABSENT"
TokensRise ==
  [][~Deleted => item'.tok >= item.tok /\ (IsGrant => item'.tok = item.tok + 1)]_item

(* 3: what is done stays so, and what is dead, but for one redrive, until its retention is over. *)
EndsStay ==
  [][Terminal(item.st) =>
       \/ Deleted /\ Expired
       \/ item.st = "DEAD" /\ item'.st = "FREE" /\ item'.red /\ ~item.red /\ item'.tok = item.tok + 1]_item

(* 4: only the holder writes under its grant, each time over what it wrote last; an operator only frees. *)
OnlyTheHolder ==
  [][~Deleted /\ ~IsGrant =>
       IF item'.g > 100 THEN item.st \in {"HELD", "DEAD"} /\ item'.st = "FREE"
       ELSE item.st = "HELD" /\ item'.tok = item.tok /\ item'.g = item.g /\ item'.n = item.n + 1]_item

(* 4: who is told that its attempt is settled has settled it. *)
SettledIsStored ==
  \A x \in said : Ended(x[4]) => \E u \in used : u[1] = x[3] /\ u[2] = x[2] /\ u[4] = x[4]

(* 5: no late or doubled request changes what is newer: only what is over is deleted ... *)
OnlyTheOldIsDeleted == [][Deleted => Expired]_item

(* 5: ... and nobody is granted once more what he was granted, and has given back. *)
NotOnceMore ==
  [][IsGrant => ~\E x \in said : x[2] = item'.g /\ x[4] = "granted"]_item

(* 6: nobody is told that he lost what is his, as long as it is kept. *)
LostIsLost ==
  \A x \in said :
    /\ x[4] # "held by another"
    /\ x[4] = "lost DONE" /\ x[5] = 0 => ~\E u \in used : u[1] = x[3] /\ u[2] = x[2] /\ u[4] = "DONE"

(* 7 and 8: one works at a time, and nobody takes over from one who may. *)
OneAtATime == \A i, j \in Instances : i # j => ~(MayWork(i) /\ MayWork(j))
TakenOverWhenOver ==
  [][IsGrant /\ item.st = "HELD" => ~\E i \in Instances : HasLease(i) /\ inst[i].g = item.g]_item

(* 9: no two writes have one name. *)
FreshNonce ==
  [][~Deleted => ~\E u \in used : u[1] = item'.tok /\ u[2] = item'.g /\ u[3] = item'.n]_item

TypeOK ==
  /\ now \in 0..Horizon
  /\ item.st \in {"ABSENT", "HELD", "FREE", "DONE", "DEAD"}
  /\ \A i \in Instances : Cardinality({r \in net : r.by = i /\ r.live}) <= 1
=============================================================================
