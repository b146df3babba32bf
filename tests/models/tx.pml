/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-TX: transactions over two cells, with helpers, clients that crash, and log places that change hands. One atomic step
 * is one operation of a request, executed at one shard; everything may come in between two of them, also inside a chain.
 *
 * These need no steps of their own:
 * - The answer. It is seen in the step in which the request is executed; a late one is a client that goes on later.
 * - Requests that are still executed after their client crashed: that client crashed later. A chain ends with the crash, because
 *   the queue pairs are destroyed before anybody takes the log place over.
 * - A timestamp's clock. The order of all timestamps is chosen in the beginning; a transaction that has seen a larger one
 *   than its own does not run. So each order that clocks may produce is tried.
 * - A helper's READ of a cell that is torn between its two blocks: a helper that has seen PW = T and C < T at different times
 *   is one that saw both when T validated, and is slow.
 * - Freeing what an install replaced, and what an entry pointed at before it was zeroed: nobody else has that pointer, and a
 *   client that crashes before it has told the server leaves a lost buffer to the server's scan.
 *
 * The model has no number (0) of the protocol, which saves a transaction that would certainly abort the requests. README.md
 * lists sizes and variants.
 */

#ifndef TXS
#define TXS 2 /* transactions */
#endif
#ifndef TXS_0
#define TXS_0 1 /* how many of them lane 0 runs, one after another; each other lane runs one */
#endif
#ifndef SHARDS
#define SHARDS 2 /* 2: each cell has its own */
#endif
#ifndef HELPERS
#define HELPERS 0
#endif
#ifndef HELPS
#define HELPS 1 /* how often each of them helps */
#endif
#ifndef CRASHES
#define CRASHES 0 /* how often lane 0's client may crash */
#endif
#ifndef RECORDED
#define RECORDED 2 /* a transaction with so many writes has a decision record; 1: as if it wrote to a third cell, too */
#endif
#ifndef SET_0
#define SET_0 ANY /* what transaction 0 does; see ANY */
#endif
#ifndef SET_1
#define SET_1 ANY
#endif
#ifndef SET_2
#define SET_2 ANY
#endif
#ifndef SET_3
#define SET_3 ANY
#endif

#define LANES (TXS - TXS_0 + 1)
#define FIRST(lane) ((lane) == 0 -> 0 : TXS_0 + (lane) - 1)
#define LAST(lane) (TXS_0 + (lane) - 1)
#define LANE(t) ((t) < TXS_0 -> 0 : (t) - TXS_0 + 1)

/* Actions of a transaction on the two cells, two bits for each. */
#define READS 1
#define WRITES 2
#define SETS(a, b) ((a) | (b) << 2)
#define ANY 0 /* every choice */
#define KIND(t, k) ((set[t] >> 2 * (k)) & 3)
#define IS_READ(t, k) (set[t] & (READS << 2 * (k)))
#define IS_WRITTEN(t, k) (set[t] & (WRITES << 2 * (k)))
#define WRITE_COUNT(t) (((set[t] >> 1) & 1) + ((set[t] >> 3) & 1))
#ifdef PAPER
#define IS_ONE_READ(t) (set[t] == READS || set[t] == READS << 2)
#define READS_OF(t) 3
#else
/* PW is read too: nobody may be in the middle of a commit. */
#define IS_ONE_READ(t) (set[t] == READS || set[t] == READS << 2)
#define READS_OF(t) (IS_ONE_READ(t) -> 7 : 3)
#endif

#define BIT(n) (1 << (n))
#define NONE 2 /* no home shard */

/* The object that transaction t writes into cell k has its own buffer; the last two are there from the beginning. */
#define BUFFER(t, k) (1 + 2 * (t) + (k))
#define INITIAL(k) BUFFER(TXS, k)
#define CELL_OF(b) (((b) - 1) & 1)
#define WRITER(b) (((b) - 1) >> 1)

/* Entries of a lane's log place: on two shards one each, on one shard the first one is for the first write. */
#define ENTRY(lane, j) (2 * (lane) + (j))
#define OWN(k) ENTRY(me, (SHARDS == 2 -> (k) : ((k) == 1 && IS_WRITTEN(n, 0) -> 1 : 0)))
#define DECISION(t) (SHARDS * LANE(t) + home[t])

/* The transactions. */
byte ts[TXS];      /* timestamps: 1 to TXS */
byte who[TXS + 1]; /* and whose they are */
byte set[TXS];
byte home[TXS];    /* shard of the decision */

/* The shards' memory. */
byte pr[2], pw[2], c[2], ptr[2];
#ifndef PAPER
byte decided[LANES * SHARDS];
bool committed[LANES * SHARDS];
byte entry_cell[2 * LANES]; /* plus 1 */
byte entry_ts[2 * LANES];
byte entry_ptr[2 * LANES];
#endif

/* State of the checks. */
#define UNKNOWN 0
#define COMMITTED 1
#define ABORTED 2
#define UNTIMED 3 /* committed without a timestamp: it has read one cell */
byte outcome[TXS];
byte seen[2 * TXS]; /* the buffers that a transaction has read */
#ifdef REAL_TIME
byte heard[TXS];    /* bit set of the transactions that had been told committed when this one began */
byte after[TXS];    /* scratch of the last step: those that it comes after */
#endif
short handed_out;   /* bit set of buffers */
short installed;    /* bit set of buffers that were */
short excused;      /* bit set of buffers that the server's scan has to find */
byte running;

/* Not part of the state: scratch of a step, and what is asserted, named after the rule. */
hidden byte i;
hidden byte j;
hidden byte x;
hidden byte y;
hidden byte best;
hidden byte replaced;
hidden byte hit;
hidden byte is_committed;
hidden byte serializable;
hidden byte atomic_commit;
hidden byte aborted_is_invisible;
hidden byte committed_is_installed;
hidden byte cell_is_free;
hidden byte c_at_most_pw;
hidden byte freed_once;
hidden byte freed_is_unreachable;
hidden byte installed_is_staged;
hidden byte nothing_leaked;
hidden byte alone_commits;
hidden byte real_time_order;

inline release(b)
{
	freed_once = (handed_out & BIT(b)) != 0;
	assert(freed_once);
	freed_is_unreachable = (ptr[0] != b && ptr[1] != b);
	assert(freed_is_unreachable);
	handed_out = handed_out & ~BIT(b)
}

inline check_cell(k)
{
#ifdef BY_EFFECT
	skip
#else
	c_at_most_pw = (c[k] <= pw[k]);
	assert(c_at_most_pw)
#endif
}

inline put(k, T, b)
{
	installed_is_staged = (handed_out & BIT(b)) && CELL_OF(b) == k && b != ptr[k];
	assert(installed_is_staged);
	replaced = ptr[k];
	c[k] = T;
	ptr[k] = b;
	installed = installed | BIT(b);
	release(replaced);
	check_cell(k)
}

/* CAS on block B: T > C, the entry's { TS, pointer } into the cell. */
inline install(k, T, e)
{
	hit = T > c[k];
	if
	:: hit -> put(k, entry_ts[e], entry_ptr[e])
	:: else
	fi
}

/* CAS on block B: T > C, T into C alone. */
inline bump(k, T)
{
	hit = T > c[k];
	if
	:: hit ->
		c[k] = T;
		check_cell(k)
	:: else
	fi
}

#ifndef PAPER
/* CAS on the decision block of T's log place: T > TS decided. */
inline decide(t, commits)
{
	hit = ts[t] > decided[DECISION(t)];
	if
#ifdef DECIDE_ANYWAY
	:: commits ->
		hit = true;
		decided[DECISION(t)] = ts[t];
		committed[DECISION(t)] = true
	:: !commits && hit ->
#else
	:: hit ->
#endif
		decided[DECISION(t)] = ts[t];
		committed[DECISION(t)] = commits
	:: else
	fi
}

/* The verdict that is found when nobody else may give one any more. */
#define IS_ABORTED 1
#define IS_COMMITTED 2
#define IS_OVER 3
inline resolve(T)
{
	decide(who[T], false);
	if
	:: decided[DECISION(who[T])] > T -> verdict = IS_OVER
	:: else -> verdict = (committed[DECISION(who[T])] -> IS_COMMITTED : IS_ABORTED)
	fi
}

/* The TS stays: who takes the log place over must begin above it. */
inline clear(e)
{
	entry_cell[e] = 0;
	entry_ptr[e] = 0;
#ifdef CLEAR_TS
	entry_ts[e] = 0
#endif
}

/* The entry of T for cell k, if it is still there. */
inline find_entry(T, k)
{
	entry = ENTRY(LANE(who[T]), (SHARDS == 2 -> k : 0));
	if
	:: entry_cell[entry] == k + 1 && entry_ts[entry] == T
	:: else ->
		if
		:: SHARDS == 1 && entry_cell[entry + 1] == k + 1 && entry_ts[entry + 1] == T -> entry++
		:: else -> verdict = IS_OVER
		fi
	fi
}
#endif

/* Phases of a transaction, and how far it is at a cell. */
#define FETCH 0
#define PREPARE 1
#define DECIDE 2
#define INSTALL 3
#define ABORT 4
#define DEAD 5
#define TAKEOVER 6
#define IDLE 7
#define FINDOUT 8

#define TODO 0
#define HALF 1   /* the entry is written, or the buffer is allocated: the first of the two */
#define STAGED 2 /* fetched; both are done. With VALIDATE_FIRST: PW is raised, and the buffer is to be allocated */
#define GOOD 3   /* validated; a write has raised PW */
#define RAISED 4 /* PW is raised in vain */
#define FAILED 5 /* nothing is raised */
#define OVER 6

#define WRITTEN_ARE_OVER \
	((!IS_WRITTEN(n, 0) || done[0] == OVER) && (!IS_WRITTEN(n, 1) || done[1] == OVER))

inline reset()
{
	done[0] = TODO;
	done[1] = TODO;
	got[0] = 0;
	got[1] = 0;
	there[0] = 0;
	there[1] = 0;
	raised_pw = 0;
	rc[0] = 0;
	rc[1] = 0
}

#ifdef KEEP
/* Keeps a cell that held at validation: the next attempt need not read it, unless it reads that cell alone. */
inline keep(k, version)
{
	if
	:: (held & BIT(k)) && IS_READ(n, k) && !IS_ONE_READ(n) ->
		seen[2 * n + k] = seen[2 * (n - 1) + k];
		rc[k] = version;
		done[k] = STAGED
	:: else
	fi
}
#endif

inline finish(how)
{
	outcome[n] = how;
	if
	:: how != UNTIMED && ts[n] > floor -> floor = ts[n]
	:: else
	fi;
#ifdef KEEP
	i = rc[0];
	j = rc[1];
#endif
	reset();
	phase = IDLE;
	n++;
#ifdef KEEP
	if
	:: how == ABORTED && n <= LAST(me) ->
		keep(0, i);
		keep(1, j)
	:: else
	fi;
	held = 0;
#endif
	skip
}

#define BOTH_WRITTEN (IS_WRITTEN(n, 0) && IS_WRITTEN(n, 1))
#define IS_FETCHED(k) (!IS_READ(n, k) || done[k] == STAGED)
#define IS_PREPARED(k) (KIND(n, k) == 0 || done[k] >= GOOD)
#ifdef VALIDATE_FIRST
#define IS_VALIDATED(k) (IS_PREPARED(k) || IS_WRITTEN(n, k) && done[k] == STAGED)
#define VALIDATED STAGED
#define WRITES_FIRST true
#else
#define IS_VALIDATED(k) IS_PREPARED(k)
#define VALIDATED GOOD
#define WRITES_FIRST BOTH_WRITTEN
#endif

inline after_fetch()
{
	if
	:: IS_FETCHED(0) && IS_FETCHED(1) ->
		if
		:: IS_ONE_READ(n) -> finish(UNTIMED)
		/* The clock is above all that was seen. */
		:: !IS_ONE_READ(n) && (ts[n] <= floor || ts[n] <= rc[0] || ts[n] <= rc[1]) ->
			finish(ABORTED)
		:: else ->
			done[0] = TODO;
			done[1] = TODO;
			phase = PREPARE
		fi
	:: else
	fi
}

/*
 * The object, the block of C and pointer, and the block of PW are read at different times, in any order: a READ is executed
 * again if its answer was lost. Tags tell whether object and pointer belong together.
 */
inline after_read(k)
{
	if
	:: got[k] == READS_OF(n) ->
		hit = true;
#ifndef LATE_RC
		hit = (seen[2 * n + k] == there[k]);
#endif
#if !defined(UNCHECKED_READ) && !defined(PAPER)
		hit = hit && (!IS_ONE_READ(n) || raised_pw == rc[k]);
#endif
		got[k] = 0;
		there[k] = 0;
		raised_pw = 0;
		if
		:: hit ->
			done[k] = STAGED;
			after_fetch()
		:: else ->
			rc[k] = 0;
			seen[2 * n + k] = 0
		fi
	:: else
	fi
}

/* All answers are awaited, also when one of them says that the transaction must abort. */
inline after_prepare()
{
#ifdef FAST
	if /* the chain ends here */
	:: BOTH_WRITTEN && done[0] == FAILED -> done[1] = FAILED
	:: !BOTH_WRITTEN && IS_WRITTEN(n, 0) && done[0] == FAILED && KIND(n, 1) != 0 -> done[1] = OVER
	:: !BOTH_WRITTEN && IS_WRITTEN(n, 1) && done[1] == FAILED && KIND(n, 0) != 0 -> done[0] = OVER
	:: else
	fi;
#endif
	if
	:: IS_VALIDATED(0) && IS_VALIDATED(1) ->
		if
		:: done[0] == FAILED || done[0] == RAISED || done[1] == FAILED || done[1] == RAISED ->
			phase = ABORT;
			done[0] = (IS_WRITTEN(n, 0) -> done[0] : OVER);
			done[1] = (IS_WRITTEN(n, 1) -> done[1] : OVER);
			after_abort()
		:: else ->
			if
			:: !IS_PREPARED(0) || !IS_PREPARED(1)
			:: IS_PREPARED(0) && IS_PREPARED(1) && WRITE_COUNT(n) == 0 -> finish(COMMITTED)
			:: IS_PREPARED(0) && IS_PREPARED(1) && WRITE_COUNT(n) > 0 ->
#if defined(PAPER) || defined(NO_DECISION)
				phase = INSTALL
#else
				phase = (home[n] == NONE -> INSTALL : DECIDE)
#endif
			fi
		fi
	:: else
	fi
}

/* CAS on block A: { RC, TS } > { PW, PR }. */
inline validate(k)
{
	hit = rc[k] > pw[k] || rc[k] == pw[k] && ts[n] > pr[k];
#ifdef KEEP
	held = held | (rc[k] == pw[k] -> BIT(k) : 0);
#endif
	if
#ifdef OWN_PR
	/* The read first, and then the write, which meets the PR of its own read. */
	:: hit && IS_WRITTEN(n, k) && pr[k] != ts[n] -> pr[k] = ts[n]
#endif
	:: hit && IS_WRITTEN(n, k) ->
		pw[k] = ts[n];
		done[k] = VALIDATED
	:: hit && !IS_WRITTEN(n, k) ->
		pr[k] = ts[n];
		done[k] = GOOD
	:: else -> done[k] = (!IS_WRITTEN(n, k) && pw[k] == rc[k] -> GOOD : FAILED)
	fi;
	after_prepare()
}

inline after_abort()
{
	if
	:: WRITTEN_ARE_OVER -> finish(ABORTED)
	:: else
	fi
}

inline after_install()
{
	if
	:: WRITTEN_ARE_OVER -> finish(COMMITTED)
	:: else
	fi
}

#ifdef PAPER
/* A blind write compares its TS with PW alone, and what it hears of PR may come too late. */
inline prepare(k)
{
	if
	:: IS_READ(n, k) ->
		before[k] = rc[k];
		validate(k)
	:: else ->
		before[k] = pw[k];
		if
		:: ts[n] > pw[k] ->
			pw[k] = ts[n];
			done[k] = (pr[k] <= ts[n] -> GOOD : RAISED)
		:: else -> done[k] = FAILED
		fi;
		after_prepare()
	fi
}

inline own_install(k)
{
	if
	:: ts[n] > c[k] ->
		handed_out = handed_out | BIT(BUFFER(n, k));
		x = BUFFER(n, k);
		put(k, ts[n], x)
	:: else
	fi;
	before[k] = 0;
	done[k] = OVER;
	after_install()
}

/* Whoever held PW before has not ended yet: the bump is tried again later. */
#if defined(BUMP_VALIDATED) || defined(BUMP_RAISED)
#define MAY_ABORT(k) true
#else
#define MAY_ABORT(k) (done[k] == FAILED || c[k] >= before[k])
#endif

inline own_abort(k)
{
	if
#ifdef BUMP_VALIDATED
	:: done[k] == GOOD -> bump(k, ts[n])
#elif defined(BUMP_RAISED)
	:: done[k] == GOOD || done[k] == RAISED -> bump(k, ts[n])
#else
	:: (done[k] == GOOD || done[k] == RAISED) && c[k] == before[k] -> c[k] = ts[n]
#endif
	:: else
	fi;
	before[k] = 0;
	done[k] = OVER;
	after_abort()
}
#else

#define MAY_ABORT(k) true

/* Of two cells on a shard one WRITE has the entries, which takes out what they pointed at. */
inline announce(k)
{
	entry_cell[OWN(k)] = k + 1;
	entry_ts[OWN(k)] = ts[n];
	entry_ptr[OWN(k)] = (WRITES_FIRST -> 0 : entry_ptr[OWN(k)])
}

inline stage(k)
{
	handed_out = handed_out | BIT(BUFFER(n, k));
	entry_ptr[OWN(k)] = BUFFER(n, k)
}

inline prepare(k)
{
	if
	:: done[k] == TODO && IS_WRITTEN(n, k) ->
		if
		:: WRITES_FIRST -> announce(k)
		:: else -> stage(k)
		fi;
		done[k] = HALF
#ifdef VALIDATE_FIRST
	:: done[k] == STAGED && IS_WRITTEN(n, k) ->
		stage(k);
		done[k] = GOOD;
		after_prepare()
#else
	:: done[k] == HALF && IS_WRITTEN(n, k) ->
		if
		:: WRITES_FIRST -> stage(k)
		:: else -> announce(k)
		fi;
		done[k] = STAGED
#endif
	:: else -> validate(k)
	fi
}

inline own_decide()
{
	decide(n, true);
	phase = (hit -> INSTALL : ABORT);
	outcome[n] = (hit -> COMMITTED : UNKNOWN) /* the caller may be told, whatever happens to the client */
#ifdef UNCONDITIONAL
	;
	phase = INSTALL
#endif
}

inline own_install(k)
{
	x = OWN(k);
	install(k, ts[n], x);
	if
	:: !hit && home[n] == NONE ->
		phase = ABORT;
		done[k] = FAILED;
		done[1 - k] = OVER
	:: else ->
		done[k] = OVER;
#ifdef EARLY_NEXT
		if
		:: late == 0 && !WRITTEN_ARE_OVER ->
			late = 2 - k;
			late_ts = ts[n];
			done[1 - k] = OVER
		:: else
		fi;
#endif
		after_install()
	fi
}

inline own_abort(k)
{
	if
#ifdef BUMP_UNRAISED
	:: done[k] == GOOD || done[k] == FAILED ->
#else
	:: done[k] == GOOD || done[k] == VALIDATED ->
#endif
		bump(k, ts[n]);
#ifdef KEEP
		rc[k] = ts[n];
		held = (hit -> held : held & ~BIT(k));
#endif
		done[k] = RAISED
#ifdef FREE_FIRST
	:: done[k] == FAILED || done[k] == RAISED ->
		x = BUFFER(n, k);
		release(x);
		done[k] = HALF
	:: done[k] == HALF ->
		x = OWN(k);
		clear(x);
		done[k] = OVER;
		after_abort()
#else
	:: else ->
		x = OWN(k);
		clear(x);
		x = BUFFER(n, k);
		if
		:: handed_out & BIT(x) -> release(x)
		:: else
		fi;
		done[k] = OVER;
		after_abort()
#endif
	fi
}
#endif

/* Cells that are only read are validated when the written ones are prepared. */
#if defined(READS_FIRST) || defined(PAPER)
#define AFTER_WRITES(k) true
#else
#define AFTER_WRITES(k) (IS_WRITTEN(n, k) || !IS_WRITTEN(n, 1 - k) || done[1 - k] >= VALIDATED)
#endif

#ifdef VALIDATE_FIRST
/* Objects come behind all validations of writes; in one chain, of reads too. */
#define STAGE_IN_TURN(k) (done[k] != STAGED || !IS_WRITTEN(n, 1 - k) || done[1 - k] >= STAGED)
#else
#define STAGE_IN_TURN(k) true
#endif

#ifdef FAST
#ifdef VALIDATE_FIRST
/* Of two writes: the entries, the validations, then the objects. */
#define IN_TURN_OF_TWO(k) (k == 0 -> \
	(done[0] == TODO || done[0] == HALF && done[1] >= HALF || done[0] == STAGED && done[1] >= STAGED) : \
	(done[1] == TODO && done[0] >= HALF || done[1] == HALF && done[0] >= STAGED || done[1] == STAGED && done[0] >= GOOD))
#define IN_TURN_OF_ONE(k) (done[k] != STAGED || !IS_WRITTEN(n, k) || KIND(n, 1 - k) == 0 || done[1 - k] >= GOOD)
#else
/* Of two writes: the entries, the objects, then the validations. */
#define IN_TURN_OF_TWO(k) (k == 0 -> \
	(done[0] == TODO || done[0] == HALF && done[1] >= HALF || done[0] == STAGED && done[1] >= STAGED) : \
	(done[1] == TODO && done[0] >= HALF || done[1] == HALF && done[0] >= STAGED || done[1] == STAGED && done[0] >= GOOD))
#define IN_TURN_OF_ONE(k) true
#endif
#define IN_TURN(k) (AFTER_WRITES(k) && (BOTH_WRITTEN -> IN_TURN_OF_TWO(k) : IN_TURN_OF_ONE(k)))
#define IN_TURN_TO_INSTALL(k) (k == 0 || !IS_WRITTEN(n, 0) || done[0] == OVER)
#else
#define IN_TURN(k) (AFTER_WRITES(k) && STAGE_IN_TURN(k))
#define IN_TURN_TO_INSTALL(k) true
#endif

#define IS_FETCHING(k) (phase == FETCH && n <= LAST(me) && IS_READ(n, k) && done[k] < STAGED)

#define STEPS_AT(k) \
	:: d_step { \
		IS_FETCHING(k) && !(got[k] & 1) -> \
		seen[2 * n + k] = ptr[k]; \
		got[k] = got[k] | 1; \
		after_read(k); \
		skip \
	} \
	:: d_step { \
		IS_FETCHING(k) && !(got[k] & 2) -> \
		rc[k] = c[k]; \
		there[k] = ptr[k]; \
		got[k] = got[k] | 2; \
		after_read(k); \
		skip \
	} \
	:: d_step { \
		IS_FETCHING(k) && (READS_OF(n) & 4) && !(got[k] & 4) -> \
		raised_pw = pw[k]; \
		got[k] = got[k] | 4; \
		after_read(k); \
		skip \
	} \
	:: d_step { \
		phase == PREPARE && KIND(n, k) != 0 && done[k] < GOOD && IN_TURN(k) -> \
		prepare(k); \
		skip \
	} \
	:: d_step { \
		phase == INSTALL && IS_WRITTEN(n, k) && done[k] != OVER && IN_TURN_TO_INSTALL(k) -> \
		own_install(k); \
		skip \
	} \
	:: d_step { \
		phase == ABORT && IS_WRITTEN(n, k) && done[k] != OVER && MAY_ABORT(k) -> \
		own_abort(k); \
		skip \
	}

#if CRASHES
inline crash()
{
	crashes++;
	if
	:: phase == IDLE /* between two transactions */
	:: else -> n++
	fi;
#ifdef KEEP
	held = 0;
#endif
	reset();
	floor = 0;
	verdict = 0;
	at = 0;
#ifdef TAKEN_OVER
	phase = TAKEOVER
#elif defined(REUSED)
	phase = IDLE
#else
	phase = IDLE;
	n = LAST(me) + 1
#endif
}

#ifdef LOSES
/* It goes on with the next transaction, once its log is cleared, and its clock stays. */
inline forget(how)
{
	outcome[n] = how;
	if
	:: ts[n] > floor -> floor = ts[n]
	:: else
	fi;
	n++;
	reset();
	verdict = 0;
	at = 0;
	looked = 0;
	phase = TAKEOVER
}

/*
 * The client loses its connection, and with it the answers to all that was under way. It goes on when it has another, and
 * nothing more of what it has posted is executed. A decision that it has not sent it knows to be missing.
 */
inline lose()
{
	crashes++;
	if
#ifndef FAST
	:: phase == PREPARE -> forget(ABORTED)
#endif
	:: phase == ABORT -> forget(ABORTED)
	:: else ->
		outcome[n] = UNKNOWN;
		phase = FINDOUT
	fi
}

#define ONLY_WRITE (IS_WRITTEN(n, 0) -> 0 : 1)

/* Of one write: a version above its own tells nothing. */
inline judge_version(k)
{
	if
#ifdef IGNORE_LATER
	:: c[k] != ts[n] -> forget(ABORTED)
#else
	:: c[k] > ts[n] -> forget(UNKNOWN)
	:: c[k] < ts[n] -> forget(ABORTED)
#endif
	:: c[k] == ts[n] && ptr[k] == BUFFER(n, k) -> forget(COMMITTED)
	:: c[k] == ts[n] && ptr[k] != BUFFER(n, k) -> forget(ABORTED)
	fi
}

inline find_out()
{
	x = ONLY_WRITE;
	if
	:: WRITE_COUNT(n) == 0 -> forget(ABORTED)
	:: WRITE_COUNT(n) > 0 && home[n] != NONE ->
		resolve(ts[n]);
		if
#ifdef GUESS_ABORTED
		:: true -> forget(ABORTED)
#endif
		:: verdict == IS_COMMITTED -> forget(COMMITTED)
		:: verdict == IS_ABORTED -> forget(ABORTED)
		:: else -> forget(UNKNOWN)
		fi
	:: WRITE_COUNT(n) > 0 && home[n] == NONE && !looked -> looked = 1 + pw[x]
	:: WRITE_COUNT(n) > 0 && home[n] == NONE && looked ->
		if
		:: looked == 1 + ts[n] -> bump(x, ts[n])
		:: else -> hit = false
		fi;
		if
		:: hit -> forget(ABORTED)
		:: else -> judge_version(x)
		fi
	fi
}
#endif

#define TAKEN ENTRY(me, at)
#define TAKEN_CELL (entry_cell[TAKEN] - 1)
#define ABOVE(a) ((a) > floor -> (a) : floor)

inline next_entry()
{
	verdict = 0;
	raised = false;
	at++;
	if
	:: at == 2 ->
		at = 0;
		phase = IDLE
	:: else
	fi
}

/* The staged buffer was installed, or was never: the server's scan finds it if it is lost. */
inline forget_entry()
{
	excused = excused | BIT(entry_ptr[TAKEN]);
	clear(TAKEN);
	next_entry()
}

inline free_entry()
{
	x = entry_ptr[TAKEN];
	clear(TAKEN);
	if
	:: x != 0 -> release(x)
	:: else
	fi;
	next_entry()
}

/* One entry of the log place of a client that is dead, and whose queue pairs are destroyed on all shards. */
inline begin_takeover()
{
	floor = ABOVE(entry_ts[TAKEN]);
	for (i : SHARDS * me .. SHARDS * me + SHARDS - 1) {
		floor = ABOVE(decided[i])
	}
	if
	:: entry_cell[TAKEN] == 0 -> free_entry()
	:: else ->
		if
		:: home[who[entry_ts[TAKEN]]] == NONE -> verdict = IS_ABORTED
		:: else -> resolve(entry_ts[TAKEN])
		fi;
		if
		:: verdict == IS_OVER -> forget_entry()
		:: else
		fi
	fi
}

inline take_aborted()
{
	if
	:: !raised ->
		if
#ifdef BUMP_STAGED
		:: true -> raised = true
#else
		:: pw[TAKEN_CELL] == entry_ts[TAKEN] -> raised = true
		:: pw[TAKEN_CELL] < entry_ts[TAKEN] -> free_entry() /* never raised */
		:: pw[TAKEN_CELL] > entry_ts[TAKEN] ->
			if
#ifdef FREE_SINGLE
			:: true -> free_entry()
#endif
			:: home[who[entry_ts[TAKEN]]] == NONE -> forget_entry()
			:: else -> free_entry()
			fi
#endif
		fi
	:: else ->
		x = TAKEN_CELL;
		y = entry_ts[TAKEN];
		bump(x, y);
		if
		:: hit || home[who[entry_ts[TAKEN]]] != NONE -> free_entry()
#ifdef FREE_SINGLE
		:: !hit && home[who[entry_ts[TAKEN]]] == NONE -> free_entry()
#endif
		:: else -> forget_entry()
		fi
	fi
}

inline take_committed()
{
	x = TAKEN;
	y = TAKEN_CELL;
	install(y, entry_ts[x], x);
	forget_entry()
}
#endif

#ifdef EARLY_NEXT
#define NOTHING_LATE (late == 0)
#else
#define NOTHING_LATE true
#endif

proctype client(byte me)
{
	byte n = FIRST(me);
	byte phase = IDLE;
	byte done[2];
	byte got[2];   /* bit set of the READs of a cell that were executed */
	byte there[2]; /* the pointer that was read with C */
	byte raised_pw;
	byte rc[2];
#ifdef KEEP
	byte held;     /* bit set of the cells whose PW was RC when they were validated */
#endif
	byte floor; /* the clock is above this */
#ifdef PAPER
	byte before[2]; /* PW as it was */
#endif
#ifdef EARLY_NEXT
	byte late, late_ts; /* an install that is still under way; plus 1 */
#endif
#if CRASHES
	byte crashes;
	byte at;
	byte verdict;
	bool raised;
#endif
#ifdef LOSES
	byte looked; /* PW, as it was when the client looked what has become of its write; plus 1 */
#endif

	do
	STEPS_AT(0)
	STEPS_AT(1)
	:: d_step {
		phase == IDLE && n <= LAST(me) ->
#ifdef REAL_TIME
		for (i : 0 .. TXS - 1) {
			heard[n] = heard[n] | (outcome[i] == COMMITTED || outcome[i] == UNTIMED -> BIT(i) : 0)
		}
#endif
		phase = FETCH
	}
	/* Nothing to fetch: blind writes alone, or all was kept. */
	:: d_step {
		phase == FETCH && n <= LAST(me) && IS_FETCHED(0) && IS_FETCHED(1) ->
		after_fetch();
		skip
	}
#ifndef PAPER
	:: d_step {
		phase == DECIDE ->
		own_decide();
		skip
	}
#endif
#ifdef EARLY_NEXT
	:: d_step {
		late != 0 ->
		x = late - 1;
		y = ENTRY(me, (SHARDS == 2 -> x : 1));
		install(x, late_ts, y);
		late = 0;
		late_ts = 0
	}
#endif
#ifdef LOSES
	:: d_step {
		me == 0 && phase > FETCH && phase < DEAD && crashes < CRASHES ->
		lose();
		skip
	}
	/* The only install is executed, and its answer is lost. */
	:: d_step {
		me == 0 && phase == INSTALL && home[n] == NONE && WRITE_COUNT(n) > 0 && done[ONLY_WRITE] != OVER &&
			crashes < CRASHES ->
		x = ONLY_WRITE;
		y = OWN(x);
		install(x, ts[n], y);
		lose();
		skip
	}
	:: d_step {
		phase == FINDOUT ->
		find_out();
		skip
	}
#elif CRASHES
	:: d_step {
		me == 0 && (phase < DEAD || phase == IDLE) && crashes < CRASHES ->
		crash();
		skip
	}
#endif
#if CRASHES
	:: d_step {
		phase == TAKEOVER && verdict == 0 ->
		begin_takeover();
		skip
	}
	:: d_step {
		phase == TAKEOVER && verdict == IS_ABORTED ->
		take_aborted();
		skip
	}
	:: d_step {
		phase == TAKEOVER && verdict == IS_COMMITTED ->
		take_committed();
		skip
	}
#endif
	:: d_step {
		phase == IDLE && n > LAST(me) && NOTHING_LATE ->
		running--;
		floor = 0;
		n = 0
	} -> break
	od
}

#if HELPERS
inline end_help()
{
	T = 0;
	k = 0;
	entry = 0;
	verdict = 0;
	helps++
}

/* Another client that has met the cell; patience is no safety assumption, so it acts at any time. */
proctype helper()
{
	byte helps;
	byte k, T, entry, verdict;

	do
	:: d_step {
		helps < HELPS && T == 0 && pw[0] > c[0] ->
		k = 0;
		T = pw[0]
	}
	:: d_step {
		helps < HELPS && T == 0 && pw[1] > c[1] ->
		k = 1;
		T = pw[1]
	}
	:: d_step {
		T != 0 && verdict == 0 ->
		if
		:: home[who[T]] == NONE -> verdict = IS_ABORTED
		:: else ->
			resolve(T);
			if
			:: verdict == IS_OVER -> end_help()
			:: else
			fi
		fi
	}
	:: d_step {
		T != 0 && verdict == IS_ABORTED ->
		bump(k, T);
		end_help()
	}
	:: d_step {
		T != 0 && verdict == IS_COMMITTED && entry == 0 ->
		find_entry(T, k);
		if
		:: verdict == IS_OVER -> end_help()
		:: else -> entry++ /* 0 is none */
		fi
	}
	:: d_step {
		T != 0 && verdict == IS_COMMITTED && entry != 0 ->
#ifdef NO_IMMEDIATE
		install(k, entry_ts[entry - 1], entry - 1);
#else
		install(k, T, entry - 1);
#endif
		end_help()
	}
	:: d_step {
		T == 0 ->
		helps = 0;
		running--
	} -> break
	od
}
#endif

#define IS_COMMITTED_TX(t) (outcome[t] == COMMITTED || (installed & (BIT(BUFFER(t, 0)) | BIT(BUFFER(t, 1)))))

/* The last committed write of cell k before a timestamp. */
inline last_write(k, before_ts)
{
	best = INITIAL(k);
	for (j : 1 .. before_ts - 1) {
		if
		:: IS_WRITTEN(who[j], k) && IS_COMMITTED_TX(who[j]) -> best = BUFFER(who[j], k)
		:: else
		fi
	}
}

inline check_write(t, k)
{
	is_committed = IS_COMMITTED_TX(t);
	if
	:: IS_WRITTEN(t, k) ->
		aborted_is_invisible = !(outcome[t] == ABORTED && (installed & BIT(BUFFER(t, k))));
		assert(aborted_is_invisible);
#ifdef PAPER
		last_write(k, TXS + 1);
		committed_is_installed = !is_committed || (installed & BIT(BUFFER(t, k))) || ts[WRITER(best)] > ts[t];
		assert(committed_is_installed);
#else
		atomic_commit = (is_committed == ((installed & BIT(BUFFER(t, k))) != 0));
		assert(atomic_commit);
#endif
	:: else
	fi
}

inline check_read(t, k)
{
	if
	:: IS_READ(t, k) && outcome[t] == UNTIMED ->
		serializable = (seen[2 * t + k] == INITIAL(k) || (installed & BIT(seen[2 * t + k])));
		assert(serializable)
	:: IS_READ(t, k) && outcome[t] != UNTIMED && IS_COMMITTED_TX(t) ->
		last_write(k, ts[t]);
		serializable = (seen[2 * t + k] == best);
		assert(serializable)
	:: else
	fi
}

#ifdef REAL_TIME
#define VERSION(t, k) (seen[2 * (t) + (k)] == INITIAL(k) -> 0 : ts[WRITER(seen[2 * (t) + (k)])])
#define HAS_EFFECT(t) (IS_COMMITTED_TX(t) || outcome[t] == UNTIMED)

/* Transaction a comes after b for what both do with cell k: versions are in the order of the timestamps. */
#define FOLLOWS(a, b, k) ( \
	IS_WRITTEN(a, k) && IS_WRITTEN(b, k) && ts[a] > ts[b] || \
	IS_READ(a, k) && IS_WRITTEN(b, k) && VERSION(a, k) >= ts[b] || \
	IS_WRITTEN(a, k) && IS_READ(b, k) && ts[a] > VERSION(b, k))

/* Is there an order of all in which each comes after what had been told committed when it began, and reads what is there? */
inline check_real_time()
{
	for (i : 0 .. TXS - 1) {
		after[i] = 0;
		for (j : 0 .. TXS - 1) {
			if
			:: i != j && HAS_EFFECT(i) && HAS_EFFECT(j) &&
				((heard[i] & BIT(j)) || FOLLOWS(i, j, 0) || FOLLOWS(i, j, 1)) ->
				after[i] = after[i] | BIT(j)
			:: else
			fi
		}
	}
	for (x : 0 .. TXS - 1) {
		for (i : 0 .. TXS - 1) {
			if
			:: after[i] & BIT(x) -> after[i] = after[i] | after[x]
			:: else
			fi
		}
	}
	for (i : 0 .. TXS - 1) {
		real_time_order = !(after[i] & BIT(i));
		assert(real_time_order);
		after[i] = 0
	}
}
#endif

#ifndef PAPER
/* Somebody who meets the cell now, alone. */
inline settle(k)
{
	if
	:: pw[k] > c[k] && home[who[pw[k]]] == NONE -> bump(k, pw[k])
	:: pw[k] > c[k] && home[who[pw[k]]] != NONE ->
		resolve(pw[k]);
		if
		:: verdict == IS_ABORTED -> bump(k, pw[k])
		:: verdict == IS_COMMITTED ->
			find_entry(pw[k], k);
			if
			:: verdict == IS_COMMITTED -> install(k, pw[k], entry)
			:: else
			fi
		:: else
		fi
	:: else
	fi
}
#endif

inline check_cells(k)
{
	cell_is_free = (pw[k] <= c[k]);
	assert(cell_is_free);
	last_write(k, TXS + 1);
	committed_is_installed = (ptr[k] == best);
	assert(committed_is_installed)
}

inline judge()
{
	for (i : 0 .. TXS - 1) {
		check_write(i, 0);
		check_write(i, 1);
		check_read(i, 0);
		check_read(i, 1)
	}
	check_cells(0);
	check_cells(1);
#if CRASHES && !defined(TAKEN_OVER)
	excused = BIT(entry_ptr[0]) | BIT(entry_ptr[1]);
#endif
	for (i : 1 .. INITIAL(1)) {
		nothing_leaked = !(handed_out & BIT(i)) || i == ptr[0] || i == ptr[1] || (excused & BIT(i));
		assert(nothing_leaked)
	}
#ifdef REAL_TIME
	check_real_time();
#endif
#if TXS == 1
	alone_commits = (outcome[0] == COMMITTED || outcome[0] == UNTIMED);
	assert(alone_commits)
#endif
}

inline choose_set(t, given)
{
	if
	:: given != ANY -> set[t] = given
	:: else ->
#ifdef PAPER
		select (x : 1 .. 15);
		set[t] = x
#else
		if
		:: set[t] = SETS(1, 0)
		:: set[t] = SETS(0, 1)
		:: set[t] = SETS(1, 1)
		:: set[t] = SETS(3, 0)
		:: set[t] = SETS(0, 3)
		:: set[t] = SETS(3, 1)
		:: set[t] = SETS(1, 3)
		:: set[t] = SETS(3, 3)
		fi
#endif
	fi;
	home[t] = NONE;
#ifndef NO_DECISION
	if
	:: WRITE_COUNT(t) >= RECORDED -> home[t] = 0
	:: WRITE_COUNT(t) >= RECORDED && SHARDS == 2 -> home[t] = 1
	:: else
	fi
#endif
}

inline choose_ts(t)
{
	if
#ifdef ORDERED
	:: ts[t] = t + 1
#else
	:: who[1] == TXS -> ts[t] = 1
#if TXS > 1
	:: who[2] == TXS -> ts[t] = 2
#endif
#if TXS > 2
	:: who[3] == TXS -> ts[t] = 3
#endif
#if TXS > 3
	:: who[4] == TXS -> ts[t] = 4
#endif
#endif
	fi;
	who[ts[t]] = t
}

init
{
#ifndef PAPER
	byte entry, verdict;
#endif
	atomic {
		for (i : 0 .. TXS) {
			who[i] = TXS
		}
		for (i : 0 .. TXS - 1) {
			choose_ts(i)
		}
		choose_set(0, SET_0);
#if TXS > 1
		choose_set(1, SET_1);
#endif
#if TXS > 2
		choose_set(2, SET_2);
#endif
#if TXS > 3
		choose_set(3, SET_3);
#endif
		ptr[0] = INITIAL(0);
		ptr[1] = INITIAL(1);
		handed_out = BIT(INITIAL(0)) | BIT(INITIAL(1));
		running = LANES + HELPERS;
		for (i : 0 .. LANES - 1) {
			run client(i)
		}
#if HELPERS
		for (i : 1 .. HELPERS) {
			run helper()
		}
#endif
	}
	d_step {
		running == 0 ->
#ifndef PAPER
		settle(0);
		settle(1);
#endif
		judge();
		skip
	}
}
