/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The directory protocol of GAM (VLDB '18) for one block: a home, which keeps the directory and uses its memory without
 * a line, and NODES - 1 other nodes, each with a line. Between two nodes there is a queue pair, so messages between them
 * keep their order; messages of different pairs overtake each other.
 *
 * A handler never waits. What cannot be served yet is put off: by the home while the block is in transit, by a node while
 * its own grant is on its way. The value of the block is the number of the write that it is of. A write is performed when
 * it has its number: no other node can then read an older one. README.md lists sizes, rules and variants.
 */

#define NODES 3 /* the home among them, which is node 0 */
#ifndef OPS
#define OPS 2 /* reads and writes of each node */
#endif
#ifndef OPS_0
#define OPS_0 OPS /* ... of the home */
#endif
#ifndef EVICTIONS
#define EVICTIONS 1 /* of each line */
#endif

#define BIT(n) (1 << (n))
#define NOBODY 255

mtype = {
	read, write, upgrade,                 /* requests, to the home */
	evict_shared, evict_dirty,            /* to the home: the second has the value, and is answered */
	data, transferred, ack,               /* answers, to the home */
	shared_data, grant, permission, done, /* answers, from the home; permission is a grant without data */
	evicted,
	invalidate,
	fetch_shared, fetch_invalidate,       /* from the home, which wants the value itself */
	forward_read, forward_write           /* from the home, on behalf of another node */
};

/* Lines of the nodes, and of the home what its directory says */
mtype:state = { I, S, D, to_S, to_D, to_I };
mtype:state line[NODES];
byte value[NODES]; /* of the line; value[0] is the home's memory */

#define DEPTH 5
chan to_home[NODES] = [DEPTH] of { mtype, byte };         /* value */
chan from_home[NODES] = [DEPTH] of { mtype, byte, byte }; /* on whose behalf, value */
chan between[NODES * NODES] = [2] of { mtype, byte };     /* value: from the owner that was to the one that asks */
#define BETWEEN(from, to) between[(from) * NODES + (to)]

byte latest; /* the number of the last write that was performed */

hidden byte n;
hidden byte hit_is_the_last_write;
hidden byte owner_is_alone;
hidden byte holder_is_in_the_directory;
hidden byte value_is_of_this_time;
hidden byte there_is_room;
hidden byte message_is_expected;
hidden byte nobody_waits_for_ever;

/* The directory: of node 0. In transit, an operation of `asking` is under way. */
mtype:state home = S; /* S: unshared or shared; D: dirty; to_S, to_D: in transit to these; to_I: to unshared */
byte sharers;         /* bit set */
byte owner = NOBODY;
byte asking = NOBODY;
byte awaited;         /* acknowledgements */
bool left;            /* the owner, which is to send the value, has evicted it meanwhile */

inline expected(condition)
{
	message_is_expected = (condition);
	assert(message_is_expected)
}

/* A handler that found a queue full would wait. */
inline send_home(from, what, v)
{
	there_is_room = nfull(to_home[from]);
	assert(there_is_room);
	to_home[from]!what, v
}

inline send_node(to, what, who, v)
{
	there_is_room = nfull(from_home[to]);
	assert(there_is_room);
	from_home[to]!what, who, v
}

#define READABLE(x) (line[x] == S || line[x] == D)

/* Checks the value that a hit finds, in this state and in every other one that is searched. */
inline check()
{
	n = 1;
	do
	:: n < NODES ->
		hit_is_the_last_write = (!READABLE(n) || value[n] == latest);
		assert(hit_is_the_last_write);
		owner_is_alone = (line[n] != D || (home != S && !(READABLE(1) && n != 1) && !(READABLE(2) && n != 2)));
		assert(owner_is_alone);
		n++
	:: else -> break
	od;
	n = 0;
	hit_is_the_last_write = (home != S || value[0] == latest);
	assert(hit_is_the_last_write)
}

/* The home ------------------------------------------------------------------------------------------------------ */

chan put_off = [2 * NODES] of { mtype, byte }; /* requests that wait until the block is no longer in transit */
byte waiting;                                  /* so many */
byte home_left = OPS_0;

inline perform(x)
{
	latest++;
	value[x] = latest
}

/* All that may read the block, but for @except, are told; their acknowledgements are awaited. */
inline invalidate_sharers(except)
{
	awaited = 0;
	n = 1;
	do
	:: n < NODES ->
		if
		:: (sharers & BIT(n)) && n != except ->
			send_node(n, invalidate, except, 0);
			awaited++
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0
}

/* Everybody has let go: the block is the writer's. */
inline give(what, r)
{
	if
	:: r == 0 ->
		sharers = 0;
		home = S;
		perform(0);
		check()
	:: else ->
#ifdef GRANT_TO_NON_SHARER
		if
		:: what == upgrade -> send_node(r, permission, r, 0)
		:: else -> send_node(r, grant, r, value[0])
		fi;
#else
		if
		:: what == upgrade && (sharers & BIT(r)) -> send_node(r, permission, r, 0)
		:: else -> send_node(r, grant, r, value[0])
		fi;
#endif
		sharers = 0;
		owner = r;
		home = D
	fi;
	asking = NOBODY
}

mtype asked; /* what `asking` wants */

/* A request of @r, which may be the home, while the block is not in transit. */
inline serve(what, r)
{
	if
	:: what == read && home == S ->
		if
		:: r == 0 -> check()
		:: else ->
			sharers = sharers | BIT(r);
			send_node(r, shared_data, r, value[0])
		fi
	:: what == read && home == D ->
		left = false;
		asking = r;
		home = to_S;
		if
		:: r == 0 -> send_node(owner, fetch_shared, 0, 0)
		:: else -> send_node(owner, forward_read, r, 0)
		fi
	:: what != read && home == S ->
		invalidate_sharers(r);
#ifdef GRANT_EARLY
		awaited = 0;
#endif
		if
		:: awaited ->
			asking = r;
			asked = what;
			home = to_D
		:: else -> give(what, r)
		fi
	:: what != read && home == D ->
		left = false;
		asking = r;
		home = to_I;
		if
		:: r == 0 -> send_node(owner, fetch_invalidate, 0, 0)
		:: else -> send_node(owner, forward_write, r, 0)
		fi
	fi
}

/* Messages to the home from @x. A request waits its turn behind those that wait. */
inline hear(what, x, v)
{
	if
	:: what == read || what == write || what == upgrade ->
		if
		:: (home == S || home == D) && waiting == 0 -> serve(what, x)
		:: else ->
			put_off!what, x;
			waiting++
		fi
	:: what == evict_shared ->
		/* Of one that is to acknowledge an INVALIDATE, that comes as well. */
		sharers = sharers & ~BIT(x)
	:: what == evict_dirty ->
		send_node(x, evicted, x, 0);
		if
		:: home == D && owner == x ->
			value[0] = v;
			owner = NOBODY;
			home = S;
			check()
		:: (home == to_S || home == to_I) && owner == x ->
			/* It serves what was forwarded from the line that it still holds, behind this. */
			left = true
		:: else
		fi
#ifdef GRANT_EARLY
	:: what == ack
#else
	:: what == ack ->
		expected(home == to_D && awaited > 0);
		sharers = sharers & ~BIT(x);
		awaited--;
		if
		:: awaited == 0 -> give(asked, asking)
		:: else
		fi
#endif
	:: what == data ->
		expected(owner == x && (home == to_S || home == to_I));
		value[0] = v;
		owner = NOBODY;
		if
		:: home == to_S ->
			sharers = (left -> 0 : BIT(x));
			home = S;
			if
			:: asking -> sharers = sharers | BIT(asking)
			:: else
			fi;
			check();
			asking = NOBODY
		:: else ->
			sharers = 0;
			give(write, 0)
		fi
	:: what == transferred ->
		expected(owner == x && home == to_I);
		owner = asking;
		home = D;
		send_node(asking, done, asking, 0);
		asking = NOBODY
	fi
}

proctype home_node()
{
	mtype what;
	byte x, v;

end_home:
	do
	:: d_step {
		nempty(to_home[1]) -> to_home[1]?what, v; hear(what, 1, v); what = 0; v = 0
	}
	:: d_step {
		nempty(to_home[2]) -> to_home[2]?what, v; hear(what, 2, v); what = 0; v = 0
	}
	:: d_step {
		(home == S || home == D) && waiting -> put_off?what, x; waiting--; serve(what, x); what = 0; x = 0
	}
	/* Its own operations: one at a time, as a node has one thread here */
	:: d_step {
		home_left && asking != 0 && (home == S || home == D) && waiting == 0 -> home_left--; serve(read, 0)
	}
	:: d_step {
		home_left && asking != 0 && (home == S || home == D) && waiting == 0 -> home_left--; serve(write, 0)
	}
	od
}

/* The other nodes ----------------------------------------------------------------------------------------------- */

byte ended[NODES]; /* operations */

/* Answers what the home has sent on behalf of itself or of @r, while the line is D or held until its eviction ends. */
inline answer(me, what, r)
{
	if
	:: what == fetch_shared -> send_home(me, data, value[me])
	:: what == fetch_invalidate -> send_home(me, data, value[me])
	:: what == forward_read ->
		BETWEEN(me, r)!data, value[me];
		send_home(me, data, value[me])
	:: what == forward_write ->
		BETWEEN(me, r)!grant, value[me];
		send_home(me, transferred, 0)
	fi;
	if
	:: line[me] == to_I
	:: line[me] == D && (what == fetch_shared || what == forward_read) -> line[me] = S
	:: else -> line[me] = I
	fi
}

/* A write that was asked for has what it needs. What has come for the owner meanwhile is answered. */
inline own(me)
{
	line[me] = D;
	perform(me);
	check();
	ended[me]++;
	if
	:: later ->
		answer(me, later, later_for);
		later = 0;
		later_for = 0
	:: else
	fi
}

/* The data that a read has waited for */
inline take_shared(me, v)
{
	expected(line[me] == to_S);
	value_is_of_this_time = (v >= started);
	assert(value_is_of_this_time);
#ifdef KEEP_INVALIDATED
	dropped = false;
#endif
	if
	:: dropped ->
		/* For the reads that waited before, and for no other */
		line[me] = I;
		value[me] = 0
	:: else ->
		line[me] = S;
		value[me] = v
	fi;
	dropped = false;
	started = 0;
	ended[me]++;
	check()
}

inline obey(me, what, who, v)
{
	if
	:: what == shared_data -> take_shared(me, v)
	:: what == grant || what == permission ->
		expected(line[me] == to_D);
		if
		:: what == grant -> value[me] = v
		:: else
			/* The copy that it has upgraded must be the last write's. */
			hit_is_the_last_write = (value[me] == latest);
			assert(hit_is_the_last_write)
		fi;
		own(me)
#ifdef OWN_WITHOUT_HOME
	:: what == done
#else
	:: what == done ->
		expected(line[me] == to_D);
		is_done = true
#endif
	:: what == evicted ->
		expected(line[me] == to_I);
		line[me] = I;
		value[me] = 0
	:: what == invalidate ->
		if
		:: line[me] == S ->
			line[me] = I;
			value[me] = 0
		:: line[me] == to_S ->
			/* It had evicted the block, or the data is still on its way from the owner. */
			dropped = true
		:: line[me] == to_D ->
			/* The home has yet to serve the upgrade, as a write. */
			value[me] = 0
		:: else
		fi;
		send_home(me, ack, 0)
	:: else ->
		/* For the owner */
		if
		:: line[me] == D -> answer(me, what, who)
#ifdef FORGET_EVICTED
		:: line[me] == to_I
#else
		:: line[me] == to_I -> answer(me, what, who)
#endif
#ifdef ANSWER_AT_ONCE
		:: line[me] == to_D -> answer(me, what, who)
#endif
		:: else ->
			expected(line[me] == to_D && later == 0);
			later = what;
			later_for = who
		fi
	fi
}

#define OTHER (3 - me)
#ifdef QUEUE_INVALIDATE
#define MAY_HEAR (len(from_home[me]) > 0 && !(line[me] == to_D && from_home[me]?[invalidate, _, _]))
#else
#define MAY_HEAR nempty(from_home[me])
#endif

proctype node(byte me)
{
	byte left_to_do = OPS, evictions = EVICTIONS;
	byte started;         /* of a read: what was the last write then */
	bool dropped;         /* what a read waits for may be read by nobody else */
	bool is_done, is_here; /* of a write that was forwarded: the home knows; the data has come */
	mtype later;          /* put off until the write is performed */
	byte later_for;
	mtype what;
	byte who, v;

end_node:
	do
	/* Reads */
	:: d_step {
		left_to_do && READABLE(me) -> left_to_do--; check(); ended[me]++
	}
	:: d_step {
		left_to_do && line[me] == I ->
		left_to_do--;
		started = latest;
		line[me] = to_S;
		send_home(me, read, 0)
	}
	/* Writes */
	:: d_step {
		left_to_do && line[me] == D -> left_to_do--; perform(me); check(); ended[me]++
	}
	:: d_step {
		left_to_do && line[me] == S -> left_to_do--; line[me] = to_D; send_home(me, upgrade, 0)
	}
	:: d_step {
		left_to_do && line[me] == I -> left_to_do--; line[me] = to_D; send_home(me, write, 0)
	}
	/* Evictions */
	:: d_step {
		evictions && line[me] == S ->
		evictions--;
		line[me] = I;
		value[me] = 0;
		send_home(me, evict_shared, 0)
	}
	:: d_step {
		evictions && line[me] == D ->
		evictions--;
		line[me] = to_I;
		send_home(me, evict_dirty, value[me])
	}
	/* Messages */
	:: d_step {
		MAY_HEAR -> from_home[me]?what, who, v; obey(me, what, who, v); what = 0; who = 0; v = 0
	}
	:: d_step {
		nempty(BETWEEN(OTHER, me)) ->
		BETWEEN(OTHER, me)?what, v;
		if
		:: what == data -> take_shared(me, v)
		:: else ->
			expected(line[me] == to_D);
			value[me] = v;
			is_here = true
		fi;
		what = 0;
		v = 0
	}
#ifdef OWN_WITHOUT_HOME
	:: d_step { is_here && line[me] == to_D -> is_here = false; own(me) }
#else
	:: d_step { is_here && is_done -> is_here = false; is_done = false; own(me) }
#endif
	od
}

/* When nothing can happen any more, all operations have ended, and directory and lines agree. */
proctype monitor()
{
	timeout ->
	d_step {
		nobody_waits_for_ever = (ended[1] == OPS && ended[2] == OPS && home_left == 0 && asking == NOBODY);
		assert(nobody_waits_for_ever);
		n = 1;
		do
		:: n < NODES ->
			holder_is_in_the_directory = ((line[n] != S || (home == S && (sharers & BIT(n)))) &&
						      (line[n] != D || (home == D && owner == n)));
			assert(holder_is_in_the_directory);
			n++
		:: else -> break
		od
	}
}

init
{
	atomic {
		line[0] = I;
		line[1] = I;
		line[2] = I;
		run home_node();
		run node(1);
		run node(2);
		run monitor()
	}
}
