/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-RS: a register of one block on three replicas, of which one may fail. One atomic step is one request executed at
 * one replica; requests of different connections, and to different replicas, come in any order.
 *
 * These need no steps of their own, because only the order of the requests at the replicas can be seen:
 * - A client that crashes, a replica that stops. Who takes no further step cannot be told from who is slow, and the
 *   assertions are checked in every state on the way. What a dead client has sent is still executed: it takes the steps
 *   of its connections only.
 * - The answer. It is seen in the step in which the request is executed. A read has no effect, so its answer may as well be
 *   executed late as be late. An install whose answer is late is one that executes here and counts later; for others
 *   that is a client that answers its caller later, and whatever holds for an operation that ended early enough holds for
 *   one that went on. An install whose answer is lost, followed by a timeout, is one that is executed after the timeout.
 * - The end of an operation is in the step of its last answer, for the same reason: the earlier, the stricter.
 *
 * An install that is under way when its operation ends stays under way. A connection keeps the order: the next
 * request of the client to that replica waits for it, unless RECONNECTED. Only what the last operation left behind is kept
 * that long; what was left before is executed when the next operation leaves something too, or lost with BREAKS.
 *
 * README.md lists sizes and variants.
 */

#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef PUTS
#define PUTS 1
#endif
#ifndef PUTS_0
#define PUTS_0 PUTS /* of the first writer */
#endif
#ifndef PUTS_1
#define PUTS_1 PUTS
#endif
#ifndef GETS
#define GETS 3
#endif
#ifndef EXCLUSIVE
#define EXCLUSIVE 0 /* bit set of writers that guess their tags */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0 /* how many PUTs of a writer may fail with an unknown outcome */
#endif
#ifndef BREAKS
#define BREAKS 0 /* how many connections break and are made again */
#endif
#ifndef CRASHES
#define CRASHES 0 /* how often a replica loses its memory and comes back */
#endif
#ifndef CRASHING
#define CRASHING ALL /* bit set of the replicas that may */
#endif
#ifndef RESTARTS
#define RESTARTS 0 /* how often a repair is given up, and another one begins */
#endif
#ifndef STRAYS
#define STRAYS 0 /* how many repairs of a replica go on that another one has superseded */
#endif
#ifndef GETS_1
#define GETS_1 GETS /* of the last reader */
#endif
#ifndef STOPPED
#define STOPPED 0 /* bit set of replicas that never answer */
#endif
#ifndef QUORUM
#define QUORUM 2
#endif

#define CLIENTS (WRITERS + READERS)
#define REPLICAS 3
#define ALL 7
#define BIT(n) (1 << (n))
#define AT(c, r) ((c) * REPLICAS + (r))
#define COUNT(s) (((s) & 1) + (((s) >> 1) & 1) + (((s) >> 2) & 1))

/* A tag: the counter above, the client id below. Zero is the tag of a block that was never written. */
#define COUNTER(t) ((t) >> 2)
#ifdef NO_CLIENT_ID
#define TAG(c) ((c) << 2)
#elif defined(SAME_ID)
#define TAG(c) ((c) << 2 | 1)
#else
#define TAG(c) ((c) << 2 | (swapped -> WRITERS - me : 1 + me))
#endif

/* Every PUT has a value of its own; 0 is the block in the beginning. */
#define LIMIT (me == 0 -> PUTS_0 : (me == 1 && WRITERS > 1 -> PUTS_1 : (me < WRITERS -> PUTS : \
	(me == CLIENTS - 1 -> GETS_1 : GETS))))
#define VALUE (1 + n + (me > 0 -> PUTS_0 : 0) + (me > 1 -> PUTS_1 : 0))
#define VALUES 8

#define IDLE 0
#define TAGS 1    /* PUT, first round */
#define INSTALL 2 /* PUT, second round */
#define READ 3    /* GET, first round */
#define BACK 4    /* GET, second round */

/* The replicas. */
byte tag[REPLICAS];
byte value[REPLICAS];

/* Bit sets of replicas at which an install of the client's operation, or of the one before, is under way. */
byte under_way[CLIENTS];
byte left_behind[CLIENTS];

bool swapped; /* the ids are random: the second writer's may be lower than the first's */

#if BREAKS
byte breaks;
#endif
#if CRASHES
byte epoch[REPLICAS]; /* 0: just come back, nobody has told it any */
byte serving = ALL;   /* bit set of replicas */
byte crashes;
byte connection[CLIENTS * REPLICAS]; /* its epoch; 0: it is broken */
byte repair_step;                    /* of the one repair that is under way; a crash of its replica ends it */
#if RESTARTS
byte restarts;
#endif
#if STRAYS
byte strays;
#endif
#endif
#ifdef SUCCESSION
byte gone; /* bit set of writers that crashed or ended */
#endif

/*
 * The checker of linearizability. Values are unique, so an operation is of the PUT whose value it writes or returns, and in
 * any linearization the operations of one PUT stand together. PUT v is before PUT u if some operation of v ended before one
 * of u began. There is a linearization exactly when nothing is returned that nobody has put and no two PUTs are before each
 * other: longer cycles contain one of two, as "ended before began" is an order of intervals (Gibbons and Korach, 1997).
 * A PUT that has not ended, or failed with an unknown outcome, has begun but never ends.
 */
byte begun = 1;          /* bit set of values */
byte ended = 1;          /* bit set of values of which an operation has ended */
byte before[VALUES];     /* for a value, the bit set of those before it */
byte get_after[CLIENTS]; /* what had ended when this client's GET began */

/* Not part of the state: scratch of a step, and what is asserted, named after the rule. */
hidden byte i;
hidden byte j;
hidden byte found;
hidden byte linearizable;
hidden byte value_was_put;
hidden byte installed_once;
hidden byte owner_is_never_stale;

inline comes_after(u, set)
{
	before[u] = before[u] | (set) & ~BIT(u);
	for (i : 0 .. VALUES - 1) {
		linearizable = !((before[u] & BIT(i)) && (before[i] & BIT(u)));
		assert(linearizable)
	}
}

/* The chain of an install at replica r; found is the tag that was there. */
inline execute_install(r, t, v)
{
	found = tag[r];
	if
#ifdef GE_FOR_GT
	:: t >= found ->
#else
	:: t > found ->
#endif
#ifndef REGISTER_ONLY
		installed_once = (t != found); /* a repetition changes nothing: the buffer stays */
		assert(installed_once);
#endif
		tag[r] = t;
		value[r] = v
	:: else
	fi
}

inline execute_left_behind(r)
{
	execute_install(r, old_t, old_v);
	left_behind[me] = left_behind[me] & ~BIT(r);
	if
	:: left_behind[me] == 0 -> old_t = 0; old_v = 0
	:: else
	fi
}

/* The operation is over, with or without a result; what was sent stays under way. */
inline leave()
{
	if
	:: under_way[me] != 0 ->
		for (j : 0 .. REPLICAS - 1) {
			if
			:: left_behind[me] & BIT(j) -> execute_left_behind(j)
			:: else
			fi
		}
		left_behind[me] = under_way[me];
		under_way[me] = 0;
		old_t = t;
		old_v = v
	:: else
	fi;
	phase = IDLE;
	seen = 0;
	has = 0;
	t = 0;
	v = 0;
	guessed = false
}

inline answer_caller()
{
	if
	:: phase == INSTALL -> last = t
	:: else ->
		value_was_put = (begun & BIT(v)) != 0;
		assert(value_was_put);
		comes_after(v, get_after[me]);
		get_after[me] = 0
	fi;
	ended = ended | BIT(v);
	leave()
}

#if CRASHES
#define CONNECTED(r) (connection[AT(me, r)] != 0)
#define COUNTS(r) (connection[AT(me, r)] == known)
#define SERVES(r) (serving & BIT(r))
#else
#define CONNECTED(r) (true)
#define COUNTS(r) (true)
#define SERVES(r) (true)
#endif

/* A connection that was made again may overtake what is still under way on the old one. */
#ifdef RECONNECTED
#define IN_TURN(r) (true)
#else
#define IN_TURN(r) (!(left_behind[me] & BIT(r)))
#endif

/* Ask for installs wherever none is known; a broken connection asks when it is up again. */
inline install_everywhere()
{
	for (j : 0 .. REPLICAS - 1) {
		if
		:: !(has & BIT(j)) && CONNECTED(j) -> under_way[me] = under_way[me] | BIT(j)
		:: else
		fi
	}
	seen = 0
}

inline choose_tag(counter)
{
	used = counter + 1;
	t = TAG(used);
	phase = INSTALL;
	has = 0;
	install_everywhere()
}

inline begin()
{
	if
	:: me < WRITERS ->
		v = VALUE;
		begun = begun | BIT(v);
		comes_after(v, ended);
		if
		:: (EXCLUSIVE & BIT(me)) && last != 0 ->
			guessed = true;
			choose_tag(COUNTER(last))
		:: else -> phase = TAGS
		fi
	:: else ->
		get_after[me] = ended;
		phase = READ
	fi;
	n++
}

/* One answer of the first round, of a GET or a PUT; t is the largest tag so far, has where it was found. */
inline read(r)
{
	seen = seen | BIT(r);
	if
	:: tag[r] > t ->
		t = tag[r];
		has = BIT(r);
		if
		:: phase == READ -> v = value[r]
		:: else
		fi
	:: tag[r] == t ->
		has = has | BIT(r);
		if
		:: phase == READ && COUNT(seen) == 1 -> v = value[r] /* with tag 0 */
		:: else
		fi
	:: else
	fi;
	if
	:: COUNT(seen) < QUORUM
	:: else ->
		if
		:: phase == TAGS ->
			found = COUNTER(t);
#ifndef TAG_AGAIN
			/* Above every tag that this client has used: one of a PUT that failed may be installed somewhere. */
			found = (found > used -> found : used);
#endif
#ifdef GENERATIONS
			/* Above every tag of the writers before: a number that the lock gives, larger for each owner. */
			found = (found > 3 * me -> found : 3 * me);
#endif
			choose_tag(found)
#ifdef NO_WRITE_BACK
		:: phase == READ -> answer_caller()
#else
		:: phase == READ && has == seen -> answer_caller()
		:: phase == READ && has != seen ->
			phase = BACK;
			install_everywhere()
#endif
		fi
	fi
}

/* An install of the operation, and its answer. has: where our tag or a larger one is known to be. */
inline install(r)
{
	execute_install(r, t, v);
	under_way[me] = under_way[me] & ~BIT(r);
	if
	:: !COUNTS(r)
	:: else ->
		if
#ifndef MISS_IS_ACK
		:: guessed && found > t ->
			/* Somebody else writes: ESTALE, and no PUT any more. */
#if defined(SUCCESSION) && !defined(REGISTER_ONLY)
			owner_is_never_stale = false;
			assert(owner_is_never_stale);
#endif
#ifdef RETRY_GUESS
			under_way[me] = 0;
			t = 0;
			has = 0;
			guessed = false;
			phase = TAGS
#else
			leave();
			n = LIMIT
#endif
		:: !(guessed && found > t) ->
#else
		:: true ->
#endif
#ifdef READ_AGAIN
			/* A guessed tag may be older than a PUT that was over when its own began: only who has just t vouches for t. */
			if
			:: phase == BACK && found > t ->
				leave();
				phase = READ
			:: else -> has = has | BIT(r)
			fi;
#else
			has = has | BIT(r);
#endif
			if
			:: COUNT(has) >= QUORUM -> answer_caller()
			:: else
			fi
		fi
	fi
}

#if CRASHES
/* A replica that adopts an epoch destroys its queue pairs: what is under way on them is not executed any more. */
inline break_connections(r)
{
	for (i : 0 .. CLIENTS - 1) {
		connection[AT(i, r)] = 0;
		under_way[i] = under_way[i] & ~BIT(r);
		left_behind[i] = left_behind[i] & ~BIT(r)
	}
}

inline adopt(r, e)
{
	epoch[r] = e;
#ifndef KEEP_QUEUE_PAIRS
	break_connections(r)
#endif
}

/* Answers of an older epoch are dropped. */
inline learn(e)
{
	known = e;
	has = 0;
	seen = 0;
	if
	:: phase == TAGS -> t = 0
	:: phase == READ -> t = 0; v = 0
	:: else
	fi
}

inline connect(r)
{
	if
	:: known > epoch[r] -> adopt(r, known)
	:: known < epoch[r] -> learn(epoch[r])
	:: else
	fi;
	connection[AT(me, r)] = epoch[r];
	left_behind[me] = left_behind[me] & ~BIT(r);
	under_way[me] = under_way[me] & ~BIT(r);
	if
	:: (phase == INSTALL || phase == BACK) && !(has & BIT(r)) -> under_way[me] = under_way[me] | BIT(r)
	:: else
	fi
}
#endif

#ifdef SUCCESSION
#define MAY_BEGIN (me == 0 || me >= WRITERS || (gone & BIT(me - 1)))
#define MAY_END (me >= WRITERS || (gone & BIT(me)))
#else
#define MAY_BEGIN true
#define MAY_END true
#endif
#define DONE (n == LIMIT && phase == IDLE)

inline steps_at(r)
{
	d_step {
		(phase == TAGS || phase == READ) && !(seen & BIT(r)) && IN_TURN(r) && CONNECTED(r) &&
			COUNTS(r) && SERVES(r) && !(STOPPED & BIT(r)) ->
		read(r);
		skip
	}
}

inline installs_at(r)
{
	d_step {
		(under_way[me] & BIT(r)) && IN_TURN(r) && !(STOPPED & BIT(r)) ->
		install(r);
		skip
	}
}

inline late_installs_at(r)
{
	d_step {
		(left_behind[me] & BIT(r)) && !(STOPPED & BIT(r)) ->
		execute_left_behind(r);
		skip
	}
}

#if BREAKS
/* The connection breaks, and is up again: requests or answers were lost, an install that has no answer is asked again. */
inline breaks_at(r)
{
	d_step {
		breaks < BREAKS &&
			((left_behind[me] & BIT(r)) || (phase == INSTALL || phase == BACK) && (has & BIT(r))) ->
		breaks++;
		left_behind[me] = left_behind[me] & ~BIT(r);
		if
		:: phase == INSTALL || phase == BACK ->
			has = has & ~BIT(r);
			under_way[me] = under_way[me] | BIT(r)
		:: else
		fi;
		skip
	}
}
#endif

#if CRASHES
/* A replica that came back has forgotten its epoch too: until it serves, only its repair, no client, tells it one. */
#ifdef HEARSAY
#define TAKES_CLIENTS(r) true
#else
#define TAKES_CLIENTS(r) (epoch[r] != 0 && (SERVES(r) || known <= epoch[r]))
#endif

inline connects_to(r)
{
	d_step {
		!DONE && connection[AT(me, r)] < known && TAKES_CLIENTS(r) ->
		connect(r);
		skip
	}
}
#endif

proctype client(byte me)
{
	byte n;     /* operations begun */
	byte phase;
	byte seen;  /* bit set of replicas that have answered in the first round */
	byte has;   /* bit set of replicas that are known to have t, or more */
	byte t, v;  /* tag and value of the operation */
	byte old_t, old_v; /* of the one before, as long as an install of it is left behind */
	byte last;  /* exclusive: tag of the last PUT that succeeded */
	byte used;  /* largest counter of a tag of our own */
	bool guessed;
#if CRASHES
	byte known = 1; /* the newest epoch */
#endif
#if TIMEOUTS
	byte timeouts;
#endif

	do
	:: d_step {
		n < LIMIT && phase == IDLE && MAY_BEGIN ->
		begin();
		skip
	}
	:: steps_at(0)
	:: steps_at(1)
	:: steps_at(2)
	:: installs_at(0)
	:: installs_at(1)
	:: installs_at(2)
	:: late_installs_at(0)
	:: late_installs_at(1)
	:: late_installs_at(2)
#if BREAKS
	:: breaks_at(0)
	:: breaks_at(1)
	:: breaks_at(2)
#endif
#if CRASHES
	:: connects_to(0)
	:: connects_to(1)
	:: connects_to(2)
#endif
#if TIMEOUTS
	:: d_step {
		phase == INSTALL && timeouts < TIMEOUTS ->
		timeouts++;
#ifndef TAG_AGAIN
		last = 0;
#endif
		leave();
		skip
	}
#endif
#ifdef SUCCESSION
	/* The writer crashes or ends; nobody is to write before it does. */
	:: d_step {
		me < WRITERS && !(gone & BIT(me)) && (me == 0 || (gone & BIT(me - 1))) ->
		gone = gone | BIT(me);
		leave();
		last = 0;
		used = 0;
		n = LIMIT;
		skip
	}
#endif
	:: atomic { DONE && MAY_END && (left_behind[me] & ~STOPPED) == 0 -> break }
	od
}

#if CRASHES
/* A replica loses its memory and comes back, at a time when the other two serve. */
inline crash(r)
{
	d_step {
		crashes < CRASHES && (CRASHING & BIT(r)) && (serving | BIT(r)) == ALL ->
		crashes++;
		tag[r] = 0;
		value[r] = 0;
		break_connections(r);
		repair_step = 0;
#ifdef NO_EPOCHS
		epoch[r] = 1;
#else
		epoch[r] = 0;
#endif
#ifdef EMPTY_SERVES
		epoch[r] = 1;
#else
		serving = serving & ~BIT(r);
#endif
		skip
	}
}

proctype fate()
{
end_fate:
	do
	:: crash(0)
	:: crash(1)
	:: crash(2)
	od
}

/* A repair that meets a larger epoch chooses again. */
#if STRAYS
#define IS_OURS(x) (epoch[x] == e)
#else
#define IS_OURS(x) (true)
#endif

/* Above all epochs that are known; the last two bits are the random part, which makes it unique. */
inline choose_epoch(random)
{
	e = epoch[0];
	e = (epoch[1] > e -> epoch[1] : e);
	e = (epoch[2] > e -> epoch[2] : e);
	e = ((e >> 2) + 1) << 2 | random
}

#define OTHER_1 (r == 0 -> 1 : 0)
#define OTHER_2 (r == 2 -> 1 : 2)
#ifdef REPAIRED_FIRST
#define TOLD(step) (step == 1 -> r : (step == 2 -> OTHER_1 : OTHER_2))
#else
/* The replica that is repaired comes last: an epoch in which it acknowledges is known to the next repair. */
#define TOLD(step) (step == 1 -> OTHER_1 : (step == 2 -> OTHER_2 : r))
#endif

proctype repair()
{
	byte r, e, x;
	byte t, v; /* the largest tag of the others, and its value */
end_repair:
	do
	:: d_step {
		repair_step == 0 && serving != ALL ->
		r = (serving == 3 -> 2 : (serving == 5 -> 1 : 0));
		t = 0;
		v = 0;
#ifdef NO_EPOCHS
		e = 1;
		repair_step = 4
#else
		choose_epoch(2);
		repair_step = 1
#endif
	}
	:: d_step {
		repair_step >= 1 && repair_step <= 3 ->
		x = TOLD(repair_step);
		if
		:: epoch[x] < e -> adopt(x, e)
		:: else
		fi;
		repair_step = (IS_OURS(x) -> repair_step + 1 : 0);
		x = 0
	}
	:: d_step {
		repair_step == 4 || repair_step == 5 ->
		x = (repair_step == 4 -> OTHER_1 : OTHER_2);
		if
		:: tag[x] > t -> t = tag[x]; v = value[x]
		:: else
		fi;
		repair_step = (IS_OURS(x) -> repair_step + 1 : 0);
		x = 0
	}
	:: d_step {
		repair_step == 6 ->
		if
		:: t > tag[r] -> tag[r] = t; value[r] = v
		:: else
		fi;
		t = 0;
		v = 0;
		repair_step++
	}
	:: d_step {
		repair_step == 7 ->
		serving = ALL;
		break_connections(r);
		r = 0;
		e = 0;
		repair_step = 0
	}
#if RESTARTS
	:: d_step {
		repair_step > 0 && restarts < RESTARTS ->
		restarts++;
		repair_step = 0
	}
#endif
	od
}

#if STRAYS
/* A repair that has lost its replica to a later one, or to a crash, and goes on with the others. */
proctype stray()
{
	byte r, e, x;
end_stray:
	do
	:: atomic {
		strays < STRAYS && e == 0 && serving != ALL ->
		strays++;
		r = (serving == 3 -> 2 : (serving == 5 -> 1 : 0));
		if
		:: d_step { true -> choose_epoch(1) }
		:: d_step { true -> choose_epoch(3) }
		fi
	}
	:: atomic {
		e != 0 ->
		if
		:: x = OTHER_1
		:: x = OTHER_2
		fi;
		d_step {
			if
			:: epoch[x] < e && (serving & BIT(x)) -> adopt(x, e)
			:: else
			fi;
			x = 0
		}
	}
	:: d_step { e != 0 -> e = 0; r = 0 }
	od
}
#endif
#endif

init
{
	atomic {
#if EXCLUSIVE || defined(SUCCESSION) || PUTS_0 != PUTS_1
		if
		:: swapped = false
		:: swapped = true
		fi;
#endif
#ifdef DEBRIS
		/* A writer that is dead has left this at one replica, after a PUT that came nowhere. */
		tag[0] = 2 << 2 | 3;
		value[0] = VALUES - 1;
		begun = begun | BIT(VALUES - 1);
		before[VALUES - 1] = 1;
#endif
#if CRASHES
		for (i : 0 .. REPLICAS - 1) {
			epoch[i] = 1
		}
		for (i : 0 .. CLIENTS * REPLICAS - 1) {
			connection[i] = 1
		}
		run fate();
		run repair();
#if STRAYS
		run stray();
#endif
#endif
		for (i : 0 .. CLIENTS - 1) {
			run client(i)
		}
	}
}
