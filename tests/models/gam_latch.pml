/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Coherence by PRISM's operations, for one block. The entry of the block is memory of the home, whose processor does not
 * touch it: nodes change it by CAS, and READ the block through the entry's pointer. Among themselves they send messages,
 * each pair of nodes over a queue pair that keeps their order. The home is no node here: it cuts off the dead, sweeps,
 * frees the block, and may itself die.
 *
 * Buffers are immutable, so the block is the version that the entry points at. The value of the block is the number of
 * the write that it is of. A write is performed when it has its number: from then on nobody may read an older one,
 * unless the writer dies. README.md lists sizes, rules and variants.
 */

#define NODES 3
#ifndef OPS
#define OPS 2 /* operations of each node */
#endif
#ifndef OPS_0
#define OPS_0 OPS
#endif
#ifndef EVICTIONS
#define EVICTIONS 1 /* of each node: of an S silently, of an X by writing back; or an X is written back and kept */
#endif
#ifndef KINDS
#define KINDS 3 /* sum of read 1, write 2, read lock 4, write lock 8, uncached read 16, try (a write lock) 32 */
#endif
#ifndef KINDS_0
#define KINDS_0 KINDS
#endif
#ifndef KINDS_1
#define KINDS_1 KINDS
#endif
#ifndef KINDS_2
#define KINDS_2 KINDS
#endif
#ifndef PATIENCE
#define PATIENCE 0 /* so often a node is turned away before it sets `waiter`; 0: it never does */
#endif

#ifndef BREAKS
#define BREAKS 0 /* so often the queue pair of a node to the home ends */
#endif

/* Nodes tell each other of a death: all have let go; all have swept. */
#if defined(HOME_MORTAL) || (defined(MORTAL) && defined(LATE))
#define WORDS
#define ROOM 5
#else
#define ROOM 3
#endif

#define BIT(n) (1 << (n))
#define NOBODY NODES
#define ALL (BIT(NODES) - 1)
#define KINDS_OF(n) (n == 0 -> KINDS_0 : (n == 1 -> KINDS_1 : KINDS_2))

/* The entry, and what its pointer leads to */
byte writer = NOBODY;
byte waiter = NOBODY;
byte sharers; /* bit set: a bit may be of a node that has forgotten the block */
byte version; /* the pointer's tag */
byte installed;
#ifdef FREED
bool lent = true;
byte withdrawn; /* bit set: to whom the home says that the block is free */
#define LENT lent
#define FREE BIT(NODES) /* among the sharers of a grant */
#else
#define LENT true
#define is_free 0
#endif

mtype = { ask_read, ask_write, ask_try, moved, busy, invalidate, try_invalidate, ack, grant_read, grant_write };
#ifdef WORDS
mtype = { let_go, gone };
#endif
chan between[NODES * NODES] = [ROOM] of { mtype, byte, byte, byte }; /* version, value, sharers */
#define QUEUE(from, to) between[(from) * NODES + (to)]

mtype:state = { I, S, X };
mtype:state line[NODES];
byte value[NODES];
bool pinned[NODES]; /* by a lock */

byte latest;       /* the number of the last write that was performed */
byte numbers;      /* ... that was ever given */
byte seen;         /* the newest that an operation of a node that lives has returned */
byte began[NODES]; /* what was the last write when the operation of this node began */
byte ended[NODES]; /* operations */
#if BREAKS
byte breaks = BREAKS;
#endif

/* The death of one node: its lease is over, and the home has ended its queue pairs; these nodes have heard of it and
 * cut it off; the home has swept the entry; these nodes have heard of that. */
#ifdef MORTAL
bool over;
byte told; /* bit set */
bool swept;
byte heard; /* bit set */
bool reborn;
#define DIED(n) ((n) == MORTAL && over)
#ifdef LATE /* then it is forgotten when all have swept */
#define KNOWS_DEAD(n, x) ((x) == MORTAL && (told & ~heard & BIT(n)))
#define HAS_NO_NODE(n, x) ((x) == MORTAL && (heard & BIT(n)))
#else
#define KNOWS_DEAD(n, x) ((x) == MORTAL && (told & BIT(n)))
#define HAS_NO_NODE(n, x) false
#endif
#define LIVES_BESIDE(n) (ALL & ~BIT(MORTAL) & ~BIT(n))
#else
#define DIED(n) false
#define KNOWS_DEAD(n, x) false
#define HAS_NO_NODE(n, x) false
#define LIVES_BESIDE(n) (ALL & ~BIT(n))
#endif

/* The death of the home: these nodes have heard of it; these have heard that all have; its number is used again. */
#ifdef HOME_MORTAL
bool over;
byte told;  /* bit set */
byte heard; /* bit set */
bool back;
#define IS_HOME_THERE (!over || back)
#define IS_LOST(n) ((told & BIT(n)) && !back)
#else
#define IS_HOME_THERE true
#define IS_LOST(n) false
#endif
#ifdef WORDS
byte let[NODES]; /* bit sets: who has said so to the node */
byte gone_by[NODES];
#endif
#ifdef NO_LEASE
#define LEASED(n) true
#else
#define LEASED(n) (!DIED(n))
#endif
#ifdef KEEP_QUEUE_PAIRS
#define CONNECTED(n) true
#else
#define CONNECTED(n) (!DIED(n) && IS_HOME_THERE)
#endif

hidden byte n, m, old;
hidden byte hit_is_the_last_write;
hidden byte owner_is_alone;
hidden byte lock_is_held;
hidden byte holder_is_in_the_entry;
hidden byte dead_is_not_in_the_entry;
hidden byte value_is_of_this_time;
hidden byte seen_is_not_lost;
hidden byte waiter_is_next;
hidden byte moved_means_news;
hidden byte there_is_room;
hidden byte message_is_expected;
hidden byte nobody_waits_for_ever;
hidden byte free_is_gone;

inline expected(condition)
{
	message_is_expected = (condition);
	assert(message_is_expected)
}

/* The queue pair of a node that is known to be dead is gone. */
inline send(from, to, what_, a_, b_, c_)
{
	if
	:: KNOWS_DEAD(from, to) || KNOWS_DEAD(to, from) || HAS_NO_NODE(from, to)
	:: else ->
		there_is_room = nfull(QUEUE(from, to));
		assert(there_is_room);
		QUEUE(from, to)!what_, a_, b_, c_
	fi
}

#define HELD(x) (LEASED(x) && line[x] != I)
#define OWNED(x) (LEASED(x) && line[x] == X)

/* Checks the values that hits find, in this state and in every other one that is searched */
inline check()
{
	m = 0;
	do
	:: m < NODES ->
		hit_is_the_last_write = (!HELD(m) || value[m] == latest);
		assert(hit_is_the_last_write);
		owner_is_alone = (!OWNED(m) || !(HELD((m + 1) % NODES) || HELD((m + 2) % NODES)));
		assert(owner_is_alone);
		lock_is_held = (!pinned[m] || !LEASED(m) || line[m] != I);
		assert(lock_is_held);
#ifndef BY_EFFECT
		holder_is_in_the_entry = (!HELD(m) || writer == m || (line[m] == S && (sharers & BIT(m))));
		assert(holder_is_in_the_entry);
#endif
		m++
	:: else -> break
	od;
#ifdef MORTAL
	dead_is_not_in_the_entry = (!swept || (writer != MORTAL && waiter != MORTAL && !(sharers & BIT(MORTAL))));
	assert(dead_is_not_in_the_entry);
#endif
	m = 0
}

/* Phase of a node's operation: nothing is known yet; the CAS of an uncached read, a read, a write has been executed and
 * the READ behind it has not; acknowledgements are awaited; the writer has been asked; the CAS that undoes a try is
 * under way, or has been executed, and we do not know yet; likewise the one that gives up the entry; a CAS has missed,
 * and we do not know yet; the queue pair has ended, and there will be another; the requests under way are to a home
 * that has died. */
mtype:phase = { idle, start, peeking, fetching, claiming, telling, asked, undoing, undone, leaving, left, missed, resting,
		lost };
#define IS_UNDER_WAY (at != idle && at != telling && at != asked && at != resting)

#define QUEUED (readers | writers)
#define READS (kind == 1 || kind == 4 || kind == 16)
#define LOCKS (kind == 4 || kind == 8 || kind == 32)

/* Whoever is turned away will find another entry than the one that led here. */
inline there_is_news(me)
{
	moved_means_news = (writer != me || at == resting || !IS_HOME_THERE);
	assert(moved_means_news)
}

/* Those who were queued here must look for the block elsewhere. */
inline turn_away(me)
{
	there_is_news(me);
	n = 0;
	do
	:: n < NODES ->
		if
		:: (readers | writers) & BIT(n) -> send(me, n, moved, 0, 0, 0)
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0;
	readers = 0;
	writers = 0
}

inline rest(me)
{
	at = idle;
#if BREAKS
	unsure = idle;
#endif
#ifdef FREED
	fleeting = fleeting && line[me] != I;
#endif
	if
	:: line[me] != X && QUEUED -> turn_away(me)
	:: else
	fi
}

inline end_operation(me)
{
	kind = 0;
	acked = 0;
	patience = 0;
	refused = false;
	began[me] = 0;
	ended[me]++;
	rest(me)
}

inline perform(me)
{
	numbers++;
	latest = numbers;
	value[me] = latest;
	dirty = true
}

inline see(me, v)
{
	value_is_of_this_time = (v >= began[me]);
	assert(value_is_of_this_time);
#ifdef MORTAL
	if
	:: v > seen && me != MORTAL -> seen = v
	:: else
	fi
#endif
}

/* All who could read the block have let go. */
inline own(me)
{
	line[me] = X;
	dirty = false;
	pinned[me] = LOCKS;
	see(me, value[me]);
	if
	:: !READS -> perform(me)
	:: else
	fi;
	check();
	end_operation(me)
}

/* A copy that may be used until somebody invalidates it */
inline share(me, v, tag)
{
	see(me, v);
	line[me] = S;
	value[me] = v;
	known = tag;
	pinned[me] = LOCKS;
	check();
	end_operation(me)
}

/* It has been invalidated already: it serves the read that has waited for it, and nothing else. */
inline use_once(me, v)
{
	if
	:: LOCKS ->
		acked = 0;
		at = start
	:: else ->
		see(me, v);
		end_operation(me)
	fi
}

inline told_all(me)
{
	if
	:: refused -> at = undoing
	:: else -> own(me)
	fi
}

/* The entry says that we are the writer, and we have the block. */
inline tell(me, set)
{
	line[me] = I;
	awaited = 0;
	n = 0;
	do
	:: n < NODES ->
		if
		:: (set & BIT(n)) && n != me && !KNOWS_DEAD(me, n) ->
			if
			:: kind == 32 -> send(me, n, try_invalidate, known, 0, 0)
			:: else -> send(me, n, invalidate, known, 0, 0)
			fi;
			awaited = awaited | BIT(n)
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0;
	at = telling;
#ifdef OWN_EARLY
	awaited = 0;
#endif
	if
	:: awaited == 0 -> told_all(me)
	:: else
	fi
}

inline write_back(me)
{
	if
	:: dirty ->
		version = known + 1; /* which it may be already, without our knowledge */
		known = version;
		installed = value[me];
		dirty = false
	:: else
	fi
}

/* The CAS that gives up the entry finds whether the block is free. */
inline note_free()
{
#if defined(FREED) && !defined(GRANT_FREE)
	is_free = (lent -> 0 : FREE)
#else
	skip
#endif
}

inline grant(me)
{
	n = 0;
	do
	:: n < NODES ->
		if
		:: served & BIT(n) -> send(me, n, grant_read, known, value[me], is_free)
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0;
	if
	:: next != NOBODY -> send(me, next, grant_write, known, value[me], served | is_free)
	:: else
	fi
}

inline change_entry(me)
{
	write_back(me);
	waiter_is_next = (next == NOBODY || waiter == NOBODY || waiter == next);
	assert(waiter_is_next);
	writer = next;
	sharers = (next == NOBODY && !evicts -> served | BIT(me) : served);
	note_free();
	if
	:: waiter != NOBODY && (waiter == next || (served & BIT(waiter))) -> waiter = NOBODY
	:: else
	fi
}

/* To all readers that wait, and to one writer, which is to invalidate them. From now on the line is what it will be. */
inline hand_over(me, to)
{
	served = readers;
	readers = 0;
	next = to;
	if
	:: next != NOBODY -> writers = writers & ~BIT(next)
	:: else
	fi;
	line[me] = (next == NOBODY -> S : I);
	at = leaving;
#ifdef GRANT_FIRST
	known = known + dirty;
	grant(me);
	known = known - dirty;
#endif
	check()
}

/* Nothing stays here, and nobody is next. */
inline evict(me)
{
	line[me] = I;
	evicts = true;
	at = leaving
}

#if BREAKS
#define IS_LEAVING (at == leaving || at == left || unsure == leaving)
#else
#define IS_LEAVING (at == leaving || at == left)
#endif

/* Invalidates the line; its value is kept while it is being granted. */
inline take_back(me)
{
	line[me] = I;
	if
	:: IS_LEAVING
	:: else ->
#ifdef FREED
		fleeting = fleeting && at != idle;
#endif
		known = 0;
		value[me] = 0
	fi
}

#define IS_REQUEST (what == ask_read || what == ask_write || what == ask_try)
#ifdef ACK_LOCKED
#define IS_LOCKED false
#else
#define IS_LOCKED pinned[me]
#endif

/* Whoever is not idle queues a request: it will be the owner, or turn everybody away. A try must not wait for that. */
inline hear_request(me, x)
{
	if
	:: what == ask_try && (pinned[me] || (line[me] != X && at != idle && at != resting)) -> send(me, x, busy, 0, 0, 0)
	:: else ->
		if
#ifdef TURN_AWAY
		:: line[me] != X ->
#else
		:: line[me] != X && (at == idle || at == resting) ->
#endif
			there_is_news(me);
			send(me, x, moved, 0, 0, 0)
		:: else ->
			if
			:: what == ask_read -> readers = readers | BIT(x)
			:: else -> writers = writers | BIT(x)
			fi
		fi
	fi
}

inline hear_invalidate(me, x)
{
#ifndef UNDO_EARLY
	expected(line[me] != X && at != claiming && at != telling && (at != undoing || writer != me));
#endif
	if
	:: line[me] == S && IS_LOCKED ->
		if
		:: what == try_invalidate -> send(me, x, busy, 0, 0, 0)
		:: else -> owed = x
		fi
	:: else ->
		if
#ifdef KEEP_LEFT
		:: line[me] == S && at != left -> take_back(me)
#else
		:: line[me] == S -> take_back(me)
#endif
		:: (at == fetching || at == asked) && acked < a + 1 -> acked = a + 1
		:: else
		fi;
		send(me, x, ack, 0, 0, 0);
		check()
	fi
}

/* @x has let go, or is dead, or what it has is locked and this is a try. */
inline hear_ack(me, x)
{
	awaited = awaited & ~BIT(x);
	if
	:: what == busy -> refused = true
	:: else
	fi;
	if
#ifdef UNDO_EARLY
	:: awaited == 0 || refused -> told_all(me)
#else
	:: awaited == 0 -> told_all(me)
#endif
	:: else
	fi
}

#ifdef WORDS
inline say(me, word)
{
	n = 0;
	do
	:: n < NODES ->
		if
		:: LIVES_BESIDE(me) & BIT(n) -> send(me, n, word, 0, 0, 0)
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0
}

/* All have let go: so it sweeps its own entries, if it has any, and says so. */
inline say_gone(me)
{
	if
	:: (told & BIT(me)) && let[me] == LIVES_BESIDE(me) -> say(me, gone)
	:: else
	fi
}
#ifdef SWEPT_BY_ONE_WORD
#define HAS_HEARD_ALL(n) (let[n] == LIVES_BESIDE(n))
#elif defined(SWEPT_BY_NO_WORD)
#define HAS_HEARD_ALL(n) true
#else
#define HAS_HEARD_ALL(n) (gone_by[n] == LIVES_BESIDE(n))
#endif
#else
#define HAS_HEARD_ALL(n) true
#endif

inline hear_of_free()
{
#ifdef FREED
	fleeting = fleeting || (c & FREE);
	c = c & ~FREE
#else
	skip
#endif
}

/* A message from @x */
inline hear(me, x)
{
	if
	:: IS_REQUEST -> hear_request(me, x)
#ifdef WORDS
	:: what == let_go ->
		let[me] = let[me] | BIT(x);
		say_gone(me)
	:: what == gone -> gone_by[me] = gone_by[me] | BIT(x)
#endif
#ifdef HOME_MORTAL
	/* Nobody has asked for it any more. */
	:: IS_LOST(me) && (what == moved || what == busy || what == ack || what == grant_read || what == grant_write)
#endif
	:: what == moved && !IS_LOST(me) ->
		expected(at == asked);
		patience = (patience < PATIENCE -> patience + 1 : patience);
		acked = 0;
		asks = NOBODY;
		at = start
	:: what == busy && at == asked && !IS_LOST(me) ->
		expected(kind == 32);
		asks = NOBODY;
		end_operation(me)
	:: what == invalidate || what == try_invalidate -> hear_invalidate(me, x)
#ifdef OWN_EARLY
	:: what == ack
#else
#ifdef UNDO_EARLY
	:: (what == ack || (what == busy && at != asked)) && (at != telling || !(awaited & BIT(x)))
#endif
	:: (what == ack || (what == busy && at != asked)) && !IS_LOST(me) ->
		expected(at == telling && (awaited & BIT(x)) && (what == ack || kind == 32));
		hear_ack(me, x)
#endif
	:: what == grant_read && !IS_LOST(me) ->
		expected(at == asked && READS);
		asks = NOBODY;
		hear_of_free();
		if
#ifndef NO_VERSION
		:: acked >= a + 1 -> use_once(me, b)
#endif
		:: else -> share(me, b, a)
		fi
	:: what == grant_write && !IS_LOST(me) ->
		expected(at == asked && !READS);
		asks = NOBODY;
		hear_of_free();
		known = a;
		value[me] = b;
		tell(me, c)
	fi
}

#define HEAR_FROM(x) \
	d_step { \
		LEASED(me) && nempty(QUEUE(x, me)) -> \
		QUEUE(x, me)?what, a, b, c; hear(me, x); what = 0; a = 0; b = 0; c = 0 \
	}

#define MAY_BEGIN(k) (at == idle && left_to_do && !pinned[me] && LEASED(me) && !IS_LOST(me) && (KINDS_OF(me) & (k)))

/* An operation that the line does not serve at once */
inline begin(me, k)
{
	left_to_do--;
	kind = k;
	began[me] = latest;
#ifdef BLIND_UPGRADE
	upgrades = (line[me] == S);
#endif
	at = start
}

inline hit(me, k)
{
	left_to_do--;
	kind = k;
	began[me] = latest;
	see(me, value[me]);
	if
	:: READS
	:: else -> perform(me)
	fi;
	pinned[me] = LOCKS;
	check();
	end_operation(me)
}

#define MAY_LEAVE (at == idle && line[me] == X && writer == me && !pinned[me] && CONNECTED(me))
#ifdef IGNORE_WAITER
#define PASSED_OVER false
#define MAY_HAND_OVER_TO(x) (MAY_LEAVE && (writers & BIT(x)))
#else
#define PASSED_OVER (next != NOBODY && waiter != NOBODY && waiter != next)
#define MAY_HAND_OVER_TO(x) (MAY_LEAVE && (writers & BIT(x)) && (waiter == NOBODY || waiter == (x)))
#endif
#define MAY_POST (at == start && CONNECTED(me))
#define MAY_CAS (MAY_POST && LENT)
#define NOT_FOR_ANOTHER (waiter == NOBODY || waiter == me)

inline clear_waiter(me)
{
	if
	:: waiter == me -> waiter = NOBODY
	:: else
	fi
}

inline ask(me)
{
	acked = 0;
	at = asked;
	if
	:: kind == 32 -> send(me, asks, ask_try, 0, 0, 0)
	:: READS -> send(me, asks, ask_read, 0, 0, 0)
	:: else -> send(me, asks, ask_write, 0, 0, 0)
	fi
}

/* By a grant that was lost with its sender, or a CAS whose answer was: it is the writer, and reads the block. */
inline find_itself(me)
{
#ifndef KEEP_WAITER
	clear_waiter(me);
#endif
	asks = NOBODY;
	at = claiming
}

#ifdef LATE
#define SWEPT_SINCE (again -> BIT(MORTAL) : 0)

/* The answer of a CAS that has missed */
inline look(me)
{
	if
	:: asks == me ->
#ifdef REREAD_SWEPT
		again = false;
#endif
		find_itself(me)
	:: else ->
		served = 0;
		if
#ifndef ASK_SWEPT
		:: SWEPT_SINCE & BIT(asks) -> at = start
#endif
		:: KNOWS_DEAD(me, asks) -> at = start
		:: else -> ask(me)
		fi;
		asks = (at == start -> NOBODY : asks)
	fi
}
#else
#define SWEPT_SINCE 0
#endif

#if BREAKS
/* The queue pair has ended. What only asks is begun anew; @what gives the block away, and is posted again. */
inline lose_answer(me, what)
{
	breaks--;
	at = resting;
	unsure = what;
	asks = NOBODY;
	served = (what == leaving -> served : 0);
	if
	:: line[me] != X && QUEUED -> turn_away(me)
	:: else
	fi
}

#ifdef FORGET_UNDO
#define POSTED_AGAIN (unsure == undoing -> undone : unsure)
#else
#define POSTED_AGAIN unsure
#endif

inline wake(me)
{
#ifdef TAKE_BACK_UNSURE
	if
	:: unsure == leaving ->
		line[me] = X;
		readers = readers | served;
		writers = (next == NOBODY -> writers : writers | BIT(next));
		served = 0;
		next = NOBODY;
		evicts = false;
		unsure = idle
	:: else
	fi;
#endif
	if
	:: unsure != idle -> at = POSTED_AGAIN
	:: unsure == idle && kind -> at = start
	:: else -> rest(me)
	fi
}
#endif

#ifdef FREED
/* Nothing is allocated there. */
inline refuse(me)
{
	line[me] = I;
	value[me] = 0;
	known = 0;
	if
#ifndef KEEP_MARKS
	:: writer == me || waiter == me -> at = undoing
#endif
	:: else -> end_operation(me)
	fi
}
#endif

#ifdef MORTAL
#if BREAKS
#define NAMES_NEXT (at == leaving || (at == resting && unsure == leaving))
#else
#define NAMES_NEXT (at == leaving)
#endif
#ifdef CONFIRM_EARLY
#define MAY_CONFIRM true
#elif defined(CONFIRM_UNSURE)
#define MAY_CONFIRM (at != leaving || (next != MORTAL && !(served & BIT(MORTAL))))
#else
#define MAY_CONFIRM (!NAMES_NEXT || (next != MORTAL && !(served & BIT(MORTAL))))
#endif

/* Nothing that it has sent is heard any more, and none of our CAS names it. */
inline hear_of_death(me)
{
#ifndef HEAR_DEAD
	do
	:: nempty(QUEUE(MORTAL, me)) -> QUEUE(MORTAL, me)?what, a, b, c
	:: else -> break
	od;
	what = 0;
	a = 0;
	b = 0;
	c = 0;
#endif
	told = told | BIT(me);
	readers = readers & ~BIT(MORTAL);
	writers = writers & ~BIT(MORTAL);
	owed = (owed == MORTAL -> NOBODY : owed);
#ifndef GRANT_REBORN
	if
	:: !NAMES_NEXT ->
		served = served & ~BIT(MORTAL);
		next = (next == MORTAL -> NOBODY : next)
	:: else
	fi;
#endif
#ifndef AWAIT_DEAD
	if
	:: at == telling && (awaited & BIT(MORTAL)) -> hear_ack(me, MORTAL)
	:: else
	fi;
#endif
#ifdef WORDS
	say(me, let_go);
	say_gone(me)
#endif
}

/* A node that had asked the dead one looks again. */
inline hear_of_sweep(me)
{
	heard = heard | BIT(me);
#ifdef LATE
	again = (at == missed || at == claiming);
#endif
	if
	:: at == asked && asks == MORTAL ->
		asks = NOBODY;
		acked = 0;
		at = start
	:: else
	fi
}

/* The number is used again, by a node that knows nothing, for one operation. */
#ifdef REUSE_EARLY
#define MAY_BE_REBORN (swept && !reborn)
#else
#define MAY_BE_REBORN (swept && !reborn && heard == (ALL & ~BIT(MORTAL)))
#endif

inline be_reborn(me)
{
	reborn = true;
	over = false;
	swept = false;
	told = 0;
	heard = 0;
	n = 0;
	do
	:: n < NODES ->
#ifdef WORDS
		let[n] = 0;
		gone_by[n] = 0;
#endif
		do
		:: nempty(QUEUE(n, me)) -> QUEUE(n, me)?_, _, _, _
		:: else -> break
		od;
		n++
	:: else -> break
	od;
	n = 0;
	left_to_do = 1;
	ended[me] = OPS - 1;
	evictions = 0;
	at = idle;
	kind = 0;
	known = 0;
	dirty = false;
	acked = 0;
	awaited = 0;
	refused = false;
	readers = 0;
	writers = 0;
	served = 0;
	next = NOBODY;
	owed = NOBODY;
	patience = 0;
	asks = NOBODY;
	evicts = false;
#if BREAKS
	unsure = idle;
#endif
#ifdef LATE
	again = false;
#endif
	began[me] = 0
}
#endif

#ifdef HOME_MORTAL
/* Loses everything of its block. A node that has asked is told to look again. */
inline break_off(me)
{
	line[me] = I;
	value[me] = 0;
	known = 0;
	dirty = false;
	awaited = 0;
	refused = false;
	served = 0;
	next = NOBODY;
	evicts = false;
	asks = NOBODY;
	if
	:: owed != NOBODY -> send(me, owed, ack, 0, 0, 0)
	:: else
	fi;
	owed = NOBODY;
	if
	:: kind -> end_operation(me)
	:: else -> rest(me)
	fi
}

/* Nothing of it stays, and nobody is told anything about it after those words. */
inline hear_of_loss(me)
{
	told = told | BIT(me);
	pinned[me] = false;
	if
#ifdef KEEP_UNDER_WAY
	:: IS_UNDER_WAY
#else
	:: IS_UNDER_WAY -> at = lost; line[me] = I
#endif
#ifdef KEEP_RESTING
	:: at == resting
#endif
	:: else -> break_off(me)
	fi;
	say(me, let_go);
	say_gone(me)
}

/* It was posted in the life that is over: so were the requests that wait. */
inline end_lost(me)
{
#ifndef ANSWER_LATE
	readers = 0;
	writers = 0;
	owed = NOBODY;
#endif
	break_off(me)
}
#endif

proctype node(byte me)
{
	byte left_to_do = (me == 0 -> OPS_0 : OPS), evictions = EVICTIONS;
	mtype:phase at = idle;
	byte kind;             /* of the operation */
	byte known;            /* the version of what we have */
	bool dirty;            /* what we have is newer */
	byte acked;            /* one more than the version that an INVALIDATE named since the CAS or the request */
	byte awaited;          /* bit set: acknowledgements */
	bool refused;          /* a sharer is locked: the try has failed */
	byte readers, writers; /* bit sets: who has asked us */
	byte served, next = NOBODY;
	byte owed = NOBODY;    /* whose INVALIDATE waits for our unlock */
	byte patience;
	byte asks = NOBODY;    /* who has been asked */
	bool evicts;
#ifdef FREED
	bool fleeting;         /* the block is free: it goes as soon as nothing needs it */
	byte is_free;          /* leaving: it was free then */
#endif
#if BREAKS
	mtype:phase unsure = idle; /* what may have been executed, and is posted again */
#endif
#ifdef LATE
	bool again;            /* the dead was swept since the CAS */
#endif
#ifdef BLIND_UPGRADE
	bool upgrades;
#endif
	mtype what;
	byte a, b, c;

end_node:
	do
	:: HEAR_FROM((me + 1) % NODES)
	:: HEAR_FROM((me + 2) % NODES)

	/* An operation begins */
	:: d_step { MAY_BEGIN(1) && line[me] != I -> hit(me, 1) }
	:: d_step { MAY_BEGIN(1) && line[me] == I -> begin(me, 1) }
	:: d_step { MAY_BEGIN(2) && line[me] == X -> hit(me, 2) }
	:: d_step { MAY_BEGIN(2) && line[me] != X -> begin(me, 2) }
	:: d_step { MAY_BEGIN(4) && (line[me] == S || (line[me] == X && !QUEUED)) -> hit(me, 4) }
	:: d_step { MAY_BEGIN(4) && line[me] == I -> begin(me, 4) }
	:: d_step { MAY_BEGIN(8) && line[me] == X && !QUEUED -> hit(me, 8) }
	:: d_step { MAY_BEGIN(8) && line[me] != X -> begin(me, 8) }
	:: d_step { MAY_BEGIN(16) && line[me] == I -> begin(me, 16) }
	:: d_step { MAY_BEGIN(32) && line[me] == X && !QUEUED -> hit(me, 32) }
	:: d_step { MAY_BEGIN(32) && line[me] != X -> begin(me, 32) }
	:: d_step {
		pinned[me] && LEASED(me) ->
		check();
		pinned[me] = false;
		if
		:: owed != NOBODY ->
			take_back(me);
			send(me, owed, ack, 0, 0, 0);
			owed = NOBODY
		:: else
		fi
	}

	/* CAS of the entry */
	:: d_step { MAY_CAS && kind == 16 && writer == NOBODY -> at = peeking }
	:: d_step { MAY_CAS && kind == 16 && writer != NOBODY -> kind = 1 }
	:: d_step {
		MAY_CAS && READS && kind != 16 && writer == NOBODY && NOT_FOR_ANOTHER ->
#ifdef WHOLE_ENTRY
		sharers = BIT(me);
#else
		sharers = sharers | BIT(me);
#endif
		clear_waiter(me);
		acked = 0;
		at = fetching;
		check()
	}
	:: d_step {
		MAY_CAS && !READS && writer == NOBODY && NOT_FOR_ANOTHER ->
		writer = me;
		clear_waiter(me);
#ifdef LATE
		again = false;
#endif
		served = sharers; /* what the entry held: whom to tell */
		at = claiming;
		check()
	}
#ifdef LATE
	:: d_step {
		MAY_CAS && writer != NOBODY && !KNOWS_DEAD(me, writer) ->
		again = false;
		asks = writer;
		served = (writer == me -> sharers : 0);
		at = missed
	}
	:: d_step { at == missed && LEASED(me) -> look(me) }
#else
	:: d_step {
		MAY_CAS && writer != NOBODY && writer != me && !KNOWS_DEAD(me, writer) ->
		asks = writer;
		ask(me)
	}
#if defined(MORTAL) || BREAKS
	:: d_step {
		MAY_CAS && writer == me ->
#if !BREAKS
		expected(swept || reborn);
#endif
		served = sharers;
		find_itself(me)
	}
#endif
#endif
#if PATIENCE
	/* Another has waited longer: who is queued here must not wait for us, who wait for it. */
#ifndef QUEUE_BEHIND_WAITER
	:: d_step { MAY_CAS && kind != 16 && kind != 32 && writer == NOBODY && !NOT_FOR_ANOTHER && QUEUED -> turn_away(me) }
#endif
	:: d_step { MAY_CAS && kind == 32 && writer == NOBODY && !NOT_FOR_ANOTHER -> end_operation(me) }
	:: d_step {
		MAY_POST && kind != 16 && kind != 32 && patience == PATIENCE && waiter == NOBODY -> waiter = me; patience = 0
	}
#endif
#ifdef MORTAL
	/* The dead will not answer. */
	:: d_step { swept && me != MORTAL && !(heard & BIT(me)) && HAS_HEARD_ALL(me) -> hear_of_sweep(me) }
	:: d_step { over && me != MORTAL && !(told & BIT(me)) && MAY_CONFIRM -> hear_of_death(me) }
#endif

	/* READ, behind it in the chain */
	:: d_step { at == peeking && CONNECTED(me) -> see(me, installed); end_operation(me) }
	:: d_step {
		at == fetching && CONNECTED(me) ->
		if
#ifdef KEEP_FETCHED
#elif defined(KEEP_NEWER)
		:: acked >= version + 1 -> use_once(me, installed)
#else
		:: acked -> use_once(me, installed)
#endif
		:: else -> share(me, installed, version)
		fi
	}
	:: d_step {
		at == claiming && CONNECTED(me) ->
		if
#ifdef BLIND_UPGRADE
		:: upgrades
#endif
		:: line[me] == S
		:: else ->
			known = version;
			value[me] = installed
		fi;
#ifdef TELL_SWEPT
		old = served;
#else
		old = served & ~SWEPT_SINCE;
#endif
		served = 0;
		tell(me, old)
	}
	:: d_step {
		at == undoing && CONNECTED(me) ->
#if !BREAKS && !defined(FREED)
		expected(writer == me);
#endif
		if
		:: writer == me -> writer = NOBODY
		:: else
		fi;
#ifdef FREED
		clear_waiter(me);
#endif
		at = undone
	}
	:: d_step {
		at == undone && CONNECTED(me) ->
		value[me] = 0;
		known = 0;
		end_operation(me)
	}

	/* The entry is given up. */
	:: d_step { MAY_HAND_OVER_TO((me + 1) % NODES) -> hand_over(me, (me + 1) % NODES) }
	:: d_step { MAY_HAND_OVER_TO((me + 2) % NODES) -> hand_over(me, (me + 2) % NODES) }
	:: d_step {
		MAY_LEAVE && QUEUED && !MAY_HAND_OVER_TO((me + 1) % NODES) && !MAY_HAND_OVER_TO((me + 2) % NODES) ->
		hand_over(me, NOBODY)
	}
	:: d_step { at == leaving && writer == me && CONNECTED(me) && !PASSED_OVER -> change_entry(me); at = left; check() }
#if BREAKS
	/* It was executed already. */
#ifdef MISS_IS_THE_END
	:: d_step {
		at == leaving && writer != me && CONNECTED(me) ->
		served = 0;
		next = NOBODY;
		evicts = false;
		take_back(me);
		rest(me)
	}
#else
	:: d_step { at == leaving && writer != me && CONNECTED(me) -> expected(unsure == leaving); note_free(); at = left }
#endif
#endif
	/* `waiter` is not what it was. */
	:: d_step {
		at == leaving && writer == me && CONNECTED(me) && PASSED_OVER ->
		readers = readers | served;
		writers = writers | BIT(next);
		served = 0;
		next = NOBODY;
		line[me] = X;
		rest(me);
		check()
	}
	:: d_step {
		at == left && CONNECTED(me) ->
#ifndef GRANT_FIRST
		grant(me);
#endif
		served = 0;
		next = NOBODY;
		evicts = false;
		rest(me);
		if
		:: line[me] == I -> take_back(me)
		:: else
		fi
	}

	/* Evictions */
	:: d_step { evictions && at == idle && line[me] == S && !pinned[me] -> evictions--; take_back(me) }
	:: d_step {
		evictions && MAY_LEAVE && !QUEUED ->
		evictions--;
		evict(me)
	}
	:: d_step { evictions && MAY_LEAVE && dirty -> evictions--; write_back(me) }
#ifdef FREED
	:: d_step { fleeting && at == idle && line[me] == S && !pinned[me] -> take_back(me) }
	:: d_step { fleeting && MAY_LEAVE && !QUEUED -> evict(me) }
	:: d_step {
		(withdrawn & BIT(me)) && LEASED(me) ->
		withdrawn = withdrawn & ~BIT(me);
		fleeting = (line[me] != I || at != idle)
	}
	:: d_step { MAY_POST && !lent -> refuse(me) }
#endif
#if BREAKS
	/* The queue pair ends, and nobody knows what of its last chain was executed: all of it, or nothing, */
	:: d_step {
		breaks && CONNECTED(me) && (at == peeking || at == fetching || at == claiming || at == missed) ->
		lose_answer(me, idle)
	}
#ifdef GRANT_UNSURE
	:: d_step { breaks && CONNECTED(me) && at == leaving -> breaks--; at = left }
#else
	:: d_step { breaks && CONNECTED(me) && (at == leaving || at == left) -> lose_answer(me, leaving) }
#endif
	:: d_step { breaks && CONNECTED(me) && (at == undoing || at == undone) -> lose_answer(me, undoing) }
	/* or that which writes back. */
	:: d_step {
		breaks && CONNECTED(me) && at == leaving && writer == me && dirty ->
		version = known + 1;
		installed = value[me];
		lose_answer(me, leaving)
	}
	:: d_step {
		breaks && evictions && MAY_LEAVE && dirty ->
		evictions--;
		version = known + 1;
		installed = value[me];
		lose_answer(me, idle)
	}
	:: d_step { at == resting && CONNECTED(me) -> wake(me) }
#endif
#ifdef HOME_MORTAL
	:: d_step { over && !(told & BIT(me)) -> hear_of_loss(me) }
	:: d_step { (told & BIT(me)) && !(heard & BIT(me)) && HAS_HEARD_ALL(me) -> heard = heard | BIT(me) }
	:: d_step { at == lost -> end_lost(me) }
#endif
#ifdef REBORN
	:: d_step { me == MORTAL && MAY_BE_REBORN -> be_reborn(me) }
#endif
	od
}

#if defined(MORTAL) || defined(HOME_MORTAL) || defined(FREED)
#define HAS_HOME
#endif

#ifdef MORTAL
/* Writes of the dead that nobody has seen are lost: the last write is again the one that is installed. */
inline forget_writes()
{
	seen_is_not_lost = (seen <= installed);
	assert(seen_is_not_lost);
	latest = installed;
	n = 0;
	do
	:: n < NODES ->
		began[n] = (began[n] > installed -> installed : began[n]);
		n++
	:: else -> break
	od;
	n = 0
}

#ifdef SWEEP_EARLY
#define MAY_SWEEP (over && !swept)
#else
#define MAY_SWEEP (over && !swept && told == (ALL & ~BIT(MORTAL)))
#endif
#endif

#ifdef HAS_HOME
proctype home()
{
#ifdef FREED
	byte frees = FREED; /* 1: it frees the block; 2: and allocates it again */
	bool is_telling;
#endif

end_home:
	do
#ifdef FREED
	:: d_step { lent && frees -> lent = false; frees--; is_telling = true }
	/* No CAS gives it to anybody now: the entry names all who have it. */
	:: d_step {
		is_telling ->
		is_telling = false;
#ifndef FREE_SILENTLY
		withdrawn = sharers | (writer == NOBODY -> 0 : BIT(writer))
#endif
	}
	:: d_step { !lent && frees && !is_telling -> lent = true; frees-- }
#endif
#ifdef HOME_MORTAL
	:: d_step { !over -> over = true }
	:: d_step {
		over && !back && heard == ALL ->
		back = true;
		writer = NOBODY;
		waiter = NOBODY;
		sharers = 0;
		version = 0;
		installed = 0;
		latest = 0;
		check()
	}
#endif
#ifdef MORTAL
	:: d_step {
		!over && !reborn ->
		over = true;
#ifndef NO_LEASE
		pinned[MORTAL] = false;
#ifndef KEEP_QUEUE_PAIRS
		line[MORTAL] = I;
		value[MORTAL] = 0
#endif
#endif
	}
	:: d_step {
		MAY_SWEEP ->
		swept = true;
		if
		:: writer == MORTAL ->
			writer = NOBODY;
			forget_writes()
		:: else
		fi;
		waiter = (waiter == MORTAL -> NOBODY : waiter);
		sharers = sharers & ~BIT(MORTAL);
		check()
	}
#endif
	od
}
#endif

/* When nothing can happen any more, all operations have ended. */
proctype monitor()
{
	timeout ->
	d_step {
		nobody_waits_for_ever = ((ended[0] == OPS_0 || DIED(0)) && (ended[1] == OPS || DIED(1)) &&
					 (ended[2] == OPS || DIED(2)) && waiter == NOBODY);
		assert(nobody_waits_for_ever);
#ifdef FREED
		free_is_gone = (lent || (line[0] == I && line[1] == I && line[2] == I));
		assert(free_is_gone);
#endif
		check()
	}
}

init
{
	atomic {
		line[0] = I;
		line[1] = I;
		line[2] = I;
#ifdef HAS_HOME
		run home();
#endif
		run node(0);
		run node(1);
		run node(2);
		run monitor()
	}
}
