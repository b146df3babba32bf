/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PRISM-KV: slots, claims, buffers, reclaim and recovery, at the granularity of single device operations.
 *
 * One atomic step is one device operation on one slot (a READ of a bucket takes a step for each slot), one pop of the
 * free list, or what one side does between two messages. An indirect READ takes two steps, the pointer and the object,
 * because a buffer must not change hands in between. Chains are sequences of steps, so everything may come in between.
 *
 * Both buckets of every key are the same SLOTS slots and all homes are slot 0: every key collides with every other.
 * With HINTS an operation begins at any slot, as a client does that was told where a key was some time; a hint that
 * is wrong sends it to the home slot.
 * Every put has a value of its own, which is the tag of its bounded pointer too. README.md lists sizes and variants.
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef OPS
#define OPS 1 /* operations of each client */
#endif
#ifndef OPS_0
#define OPS_0 OPS /* ... of client 0 */
#endif
#ifndef KEYS
#define KEYS 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef BUFFERS
#define BUFFERS 3
#endif
#ifndef RETRIES
#define RETRIES 1 /* an operation starts over so often, then reports that it is busy */
#endif
#ifndef KINDS
#define KINDS (PUT | GET | ERASE) /* what clients do */
#endif
#ifndef KINDS_0
#define KINDS_0 KINDS /* what client 0 does */
#endif
#ifndef MORTAL
#define MORTAL 0 /* bit set of the clients that may crash */
#endif

#define PUT 1
#define GET 2
#define ERASE 4
#define UPDATE 8  /* conditional put: read a handle, later compare all of it */
#define REMOVE 16 /* conditional erase */
#define INSERT 32 /* conditional put: only if the key is absent */

#define HOME 0
#ifdef HINTS
#define FIRST first /* the slot that an operation tries before it reads all */
#else
#define FIRST HOME
#endif
#define NOWHERE SLOTS
#define BIT(n) (1 << (n))
#define VALUE (2 + me * OPS + n) /* 0 is absence, 1 the value that a key may have in the beginning */
#define CLAIM (1 + me + CLIENTS * claims)

mtype = { ok, absent, missed, busy, table_full, no_buffer };

/* The slot table: empty is all zero, a claim has no buffer, its tag is unique and its owner the connection. */
byte slot_key[SLOTS];
bool slot_member[SLOTS];
byte slot_buffer[SLOTS];
byte slot_tag[SLOTS];
byte slot_owner[SLOTS];

/* Buffers 1..BUFFERS: handed out or in the free list, and there allocatable when nobody is awaited any more. */
bool buffer_out[BUFFERS + 1];
byte buffer_awaits[BUFFERS + 1]; /* bit set of clients whose operation began before the buffer was posted */
byte buffer_key[BUFFERS + 1];
byte buffer_value[BUFFERS + 1];

byte reading;           /* bit set of clients with an indirect READ under way */
byte reported[CLIENTS]; /* bit set of buffers in a client's next free report */
byte working;           /* bit set of clients inside an operation */
byte unacknowledged;    /* bit set of clients whose acknowledgement the recovery awaits */
byte marked;            /* bit set of buffers */
byte dead;              /* bit set of clients */
byte recovered;         /* bit set of dead clients after whom everything has been cleaned up */
byte finished;          /* bit set of clients that have done all their operations */

/* State of the checks: the values, absence being 0, that a key has had since a client's operation on it began. */
byte watched_key[CLIENTS];
short had[CLIENTS];

/* Not part of the state: scratch of a step, and what is asserted, named after the rule. */
hidden byte j;
hidden byte b;
hidden byte members;
hidden byte present;
hidden byte reaching;
hidden byte one_member_per_key;
hidden byte slot_has_its_key;
hidden byte value_is_of_this_time;
hidden byte object_is_intact;
hidden byte released_once;
hidden byte released_is_unreachable;
hidden byte installed_is_handed_out;
hidden byte installed_at_one_place;
hidden byte installed_exactly_when_ok;
hidden byte handle_is_current;
hidden byte reported_once;
hidden byte insert_sees_the_key;
hidden byte insert_replaces_nothing;
hidden byte nothing_leaked;
hidden byte no_claim_left;
hidden byte alone_is_never_busy;

inline look_at(key)
{
	members = 0;
	present = 0;
	for (j : 0 .. SLOTS - 1) {
		if
		:: slot_member[j] && slot_key[j] == key ->
			members++;
			present = slot_tag[j]
		:: else
		fi
	}
}

/* After every change of the table: the rules that hold always, and the history of the key that changed. */
inline changed(key)
{
	look_at(key);
	one_member_per_key = (members <= 1);
	assert(one_member_per_key);
	for (j : 0 .. SLOTS - 1) {
		slot_has_its_key = (slot_member[j] -> buffer_key[slot_buffer[j]] == slot_key[j] : slot_buffer[j] == 0);
		assert(slot_has_its_key)
	}
	for (j : 0 .. CLIENTS - 1) {
		if
		:: watched_key[j] == key -> had[j] = had[j] | BIT(present)
		:: else
		fi
	}
}

inline count_reaching(buffer)
{
	reaching = 0;
	for (j : 0 .. SLOTS - 1) {
		if
		:: slot_buffer[j] == buffer -> reaching++
		:: else
		fi
	}
}

/* Nobody can see the contents of an allocatable buffer: forgetting them makes more states equal. */
inline forget_contents(buffer)
{
#ifndef NO_GRACE
	if
	:: !buffer_out[buffer] && buffer_awaits[buffer] == 0 ->
		buffer_key[buffer] = 0;
		buffer_value[buffer] = 0
	:: else
	fi
#else
	skip
#endif
}

/* The server posts a buffer to its free list. */
inline release(buffer)
{
	released_once = buffer_out[buffer];
	assert(released_once);
	count_reaching(buffer);
	released_is_unreachable = (reaching == 0);
	assert(released_is_unreachable);
	buffer_out[buffer] = false;
#ifndef NO_GRACE
	buffer_awaits[buffer] = reading;
#endif
	marked = marked & ~BIT(buffer);
	forget_contents(buffer)
}

inline release_reported(client)
{
	for (b : 1 .. BUFFERS) {
		if
		:: reported[client] & BIT(b) -> release(b)
		:: else
		fi
	}
	reported[client] = 0
}

inline end_read(client)
{
	reading = reading & ~BIT(client);
	for (b : 1 .. BUFFERS) {
		if
		:: buffer_awaits[b] & BIT(client) ->
			buffer_awaits[b] = buffer_awaits[b] & ~BIT(client);
			forget_contents(b)
		:: else
		fi
	}
}

inline clear_slot(s)
{
	slot_key[s] = 0;
	slot_member[s] = false;
	slot_buffer[s] = 0;
	slot_tag[s] = 0;
	slot_owner[s] = 0
}

inline report(buffer)
{
	reported_once = !(reported[me] & BIT(buffer));
	assert(reported_once);
	reported[me] = reported[me] | BIT(buffer)
}

#define IS_EMPTY(s) (slot_key[s] == 0 && slot_buffer[s] == 0)
#define IS_MEMBER(s) (slot_member[s] && slot_key[s] == key)
#define IS_CLAIM(s, t) (!slot_member[s] && slot_key[s] == key && slot_tag[s] == t && t != 0)

/* Indirect READ, first half: the pointer. */
inline resolve(s)
{
	atomic {
		true ->
		d_step {
			read_buffer = slot_buffer[s];
			read_tag = slot_tag[s];
			if
			:: read_buffer != 0 -> reading = reading | BIT(me)
			:: else -> read_tag = 0 /* a claim has a tag, but no pointer */
			fi
		}
	}
}

/* Indirect READ, second half: the object, or none; object is its value if it is of our key. */
inline read_object()
{
	d_step {
		object = 0;
		if
		:: read_buffer != 0 ->
			object_is_intact = (buffer_value[read_buffer] == read_tag);
			assert(object_is_intact);
			if
			:: buffer_key[read_buffer] == key -> object = buffer_value[read_buffer]
			:: else
			fi;
			read_buffer = 0;
			read_tag = 0;
			end_read(me)
		:: else
		fi
	}
}

/* READ of both buckets, slot by slot. */
inline read_buckets()
{
	d_step { found = NOWHERE; free_slots = 0; i = 0 }
	do
	:: atomic {
		i < SLOTS ->
		d_step {
			if
			:: IS_EMPTY(i) -> free_slots = free_slots | BIT(i)
			:: IS_MEMBER(i) -> found = i
			:: else
			fi;
			i++
		}
		if
		:: i == SLOTS -> i = 0; break
		:: else
		fi
	}
	od
}

/* The same after the claim; notes the other claims of the key. */
inline read_buckets_again()
{
	d_step { found = NOWHERE; i = 0 }
	do
	:: atomic {
		i < SLOTS ->
		d_step {
			if
			:: IS_MEMBER(i) -> found = i
			:: !slot_member[i] && slot_key[i] == key && i != own -> rival[i] = slot_tag[i]
			:: else
			fi;
			i++
		}
		if
		:: i == SLOTS -> i = 0; break
		:: else
		fi
	}
	od
}

/* Part of a CAS that hit: slot s gets our buffer, its old one is ours to report. */
inline install(s)
{
	installed_is_handed_out = buffer_out[buffer];
	assert(installed_is_handed_out);
	count_reaching(buffer);
	installed_at_one_place = (reaching == 0);
	assert(installed_at_one_place);
	old = slot_buffer[s];
	slot_buffer[s] = buffer;
	slot_tag[s] = VALUE;
	buffer = 0;
	installs++
}

/* CAS: fingerprint EQ ours, swap the bounded pointer. */
inline cas_update(s)
{
	atomic {
		true ->
		d_step {
			if
			:: IS_MEMBER(s) ->
				insert_replaces_nothing = (kind != INSERT);
				assert(insert_replaces_nothing);
				install(s);
				changed(key);
				result = ok
			:: else -> result = missed
			fi
		}
	}
}

inline cas_erase(s)
{
	atomic {
		true ->
		d_step {
			if
			:: IS_MEMBER(s) ->
				old = slot_buffer[s];
				clear_slot(s);
				changed(key);
				result = ok
			:: else -> result = missed
			fi
		}
	}
}

/* The CAS with which every PUT begins, on the slot that it tries first. */
inline cas_first()
{
#ifdef NO_FINGERPRINT
	d_step {
		install(FIRST);
		changed(key);
		result = ok
	}
#else
	cas_update(FIRST)
#endif
}

/* ALLOCATE: pops any allocatable buffer and writes key and value; buffer stays 0 if there is none. */
inline allocate()
{
	atomic {
		if
		:: buffer == 0 ->
			i = 1;
			do
			:: i <= BUFFERS && !buffer_out[i] && buffer_awaits[i] == 0 -> break
			:: i <= BUFFERS && buffer_out[i] || i <= BUFFERS && buffer_awaits[i] != 0 -> i++
#ifdef ANY_BUFFER
			:: i <= BUFFERS && !buffer_out[i] && buffer_awaits[i] == 0 -> i++
#endif
			:: i > BUFFERS -> break
			od;
			if
			:: i <= BUFFERS ->
				buffer = i;
				buffer_out[i] = true;
				buffer_key[i] = key;
				buffer_value[i] = VALUE
			:: else
			fi;
			i = 0
		:: else
		fi
	}
}

/* CAS: our claim EQ, to all zero. That it misses is no news: somebody has cancelled the claim. */
inline withdraw()
{
	d_step {
		if
		:: IS_CLAIM(own, CLAIM) -> clear_slot(own)
		:: else
		fi;
		for (j : 0 .. SLOTS - 1) {
			rival[j] = 0
		}
		own = NOWHERE /* last: a d_step must not end with a loop */
	}
}

/*
 * Other claims of our key: cancel them all, or give way. Giving way to a claim in a lower slot keeps two inserts from
 * cancelling each other for ever, but the owner of that claim may be dead: the last attempt does not give way.
 */
inline settle_with_rivals()
{
	i = 0;
	result = ok;
	do
	:: atomic {
#ifdef ALWAYS_GIVE_WAY
		i > own &&
#endif
		i < SLOTS && rival[i] != 0 && result == ok ->
		if
		:: IS_CLAIM(i, rival[i]) -> clear_slot(i)
		:: else -> result = missed
		fi;
		i++
	}
#ifdef ALWAYS_GIVE_WAY
	:: i < own && rival[i] != 0 && result == ok -> result = missed
#else
	:: i < own && rival[i] != 0 && result == ok && attempt < RETRIES -> result = missed
#endif
	:: atomic { i < SLOTS && rival[i] == 0 && result == ok -> i++ }
	:: atomic { i == SLOTS || result == missed -> i = 0; break }
	od
}

/* CAS: our claim EQ, to a member with our buffer. */
inline commit()
{
	atomic {
		true ->
		d_step {
			if
			:: IS_CLAIM(own, CLAIM) ->
				install(own);
				slot_member[own] = true;
				slot_owner[own] = 0;
				changed(key);
				result = ok
			:: else -> result = missed
			fi
		}
	}
}

/* A client: OPS operations of any of its kinds on any key. Variables are reset so that equal states are equal. */
proctype client(byte me)
{
	byte n;         /* operations done */
	byte kind, key; /* of the operation */
	byte attempt;
	byte claims;  /* made so far: a claim's tag never recurs */
	byte buffer;  /* allocated and not installed */
	byte old;     /* replaced or erased, to be reported */
	byte found;   /* slot with a member of the key */
	byte free_slots;   /* bit set of slots */
	byte own = NOWHERE; /* slot of our claim */
	byte rival[SLOTS];  /* tags of other claims */
	byte i;
	byte read_buffer, read_tag, object;
	byte handle_buffer, handle_tag;
	byte installs;
#ifdef HINTS
	byte first; /* slot to try before reading all */
#endif
	mtype result;

	{
		skip;
next:
		atomic {
			if
			:: n == (me == 0 -> OPS_0 : OPS) ->
				finished = finished | BIT(me);
				n = 0;
				claims = 0;
				goto the_end
			:: else
			fi;
#ifdef ALONE
			me == 0 || ((finished | dead) & 1); /* one after the other */
#endif
			if
			:: (me == 0 -> KINDS_0 : KINDS) & PUT -> kind = PUT
			:: (me == 0 -> KINDS_0 : KINDS) & GET -> kind = GET
			:: (me == 0 -> KINDS_0 : KINDS) & ERASE -> kind = ERASE
			:: (me == 0 -> KINDS_0 : KINDS) & UPDATE -> kind = UPDATE
			:: (me == 0 -> KINDS_0 : KINDS) & REMOVE -> kind = REMOVE
			:: (me == 0 -> KINDS_0 : KINDS) & INSERT -> kind = INSERT
			fi;
#ifdef HINTS
			select(first : 0 .. SLOTS - 1);
#endif
			if
			:: key = 1
#if KEYS > 1
			:: key = 2
#endif
			fi;
			working = working | BIT(me);
			watched_key[me] = key;
			d_step {
				look_at(key);
				had[me] = BIT(present)
			}
			if
			:: kind == GET -> goto get
			:: kind == PUT -> goto put
			:: kind == ERASE -> goto erase
			:: kind == UPDATE || kind == REMOVE -> goto conditional
			:: kind == INSERT -> goto look
			fi
		}

get:
		resolve(FIRST);
		read_object();
		if
		:: object != 0 -> result = ok; goto done
#ifdef HINTS
		:: object == 0 && first != HOME -> first = HOME; goto get
		:: object == 0 && first == HOME
#else
		:: else
#endif
		fi;
#ifdef HOME_ONLY
		result = absent;
		goto done;
#endif
		read_buckets();
		if
		:: found == NOWHERE -> result = absent; goto done
		:: else
		fi;
		resolve(found);
		read_object();
		atomic {
			if
			:: object != 0 -> result = ok; goto done
			:: object == 0 && attempt < RETRIES -> attempt++; goto get
			:: object == 0 && attempt == RETRIES -> result = busy; goto done
			fi
		}

erase:
		cas_erase(FIRST);
		if
		:: result == ok -> goto done
#ifdef HINTS
		:: result != ok && first != HOME -> first = HOME; goto erase
		:: result != ok && first == HOME
#else
		:: else
#endif
		fi;
		read_buckets();
		if
		:: found == NOWHERE -> result = absent; goto done
		:: else
		fi;
		cas_erase(found);
		atomic {
			if
			:: result == ok -> goto done
			:: result != ok && attempt < RETRIES -> attempt++; goto erase
			:: result != ok && attempt == RETRIES -> result = busy; goto done
			fi
		}

put:
		allocate();
		if
		:: buffer == 0 -> result = no_buffer; goto done
		:: else
		fi;
		cas_first();
#ifdef LOST_BUFFER
		buffer = (result == missed -> 0 : buffer);
		allocate();
		if
		:: result == missed && buffer == 0 -> result = no_buffer; goto done
		:: else
		fi;
#endif
		if
		:: result == ok -> goto done
#ifdef HINTS
		:: result != ok && first != HOME -> first = HOME; goto put
		:: result != ok && first == HOME
#else
		:: else
#endif
		fi;
look:
		read_buckets();
		if
		:: found != NOWHERE && kind == PUT -> goto update
		:: found != NOWHERE && kind == INSERT -> result = missed; goto done
		:: found == NOWHERE && free_slots == 0 -> result = table_full; goto done
		:: else
		fi;
		if
		:: kind == INSERT -> allocate()
		:: else
		fi;
		if
		:: buffer == 0 -> result = no_buffer; goto done
		:: else
		fi;
		/* The claim: an empty slot of those seen, the home slot first. */
		atomic {
			own = 0;
			do
			:: free_slots & BIT(own) -> break
			:: own != HOME && (free_slots >> own) > 1 -> own++
			:: !(free_slots & BIT(own)) && own == HOME -> own++
			od
		}
#ifdef NAIVE_INSERT
		d_step {
			result = missed;
			if
			:: IS_EMPTY(own) ->
				slot_key[own] = key;
				slot_member[own] = true;
				install(own);
				changed(key);
				result = ok
			:: else
			fi;
			own = NOWHERE
		}
		if
		:: result == ok -> goto done
		:: else -> goto put_again
		fi;
#endif
		atomic {
			claims++;
			if
			:: IS_EMPTY(own) ->
				slot_key[own] = key;
				slot_tag[own] = CLAIM;
				slot_owner[own] = me
			:: else -> own = NOWHERE; goto put_again
			fi
		}
#ifndef NO_REREAD
		read_buckets_again();
		if
		:: found != NOWHERE && kind == PUT -> withdraw(); goto update
#ifdef INSERT_UPDATES
		:: found != NOWHERE && kind == INSERT -> withdraw(); goto update
#else
		:: found != NOWHERE && kind == INSERT -> withdraw(); goto put_again
#endif
		:: else
		fi;
		settle_with_rivals();
		if
		:: result == missed -> withdraw(); goto put_again
		:: else
		fi;
#endif
		commit();
		d_step {
			own = NOWHERE;
			for (j : 0 .. SLOTS - 1) {
				rival[j] = 0
			}
		}
		if
		:: result == ok -> goto done
		:: else -> goto put_again
		fi;
update:
		cas_update(found);
		if
		:: result == ok -> goto done
		:: else
		fi;
put_again:
		atomic {
			if
			:: attempt < RETRIES && kind == PUT -> attempt++; free_slots = 0; found = 0; goto put
			:: attempt < RETRIES && kind == INSERT -> attempt++; free_slots = 0; found = 0; goto look
			:: else -> result = busy; goto done
			fi
		}

conditional:
		read_buckets();
		if
		:: found == NOWHERE -> result = absent; goto done
		:: else
		fi;
		/* The handle: the slot, and after it the object, which tells in its header whether they belong together. */
		d_step {
			if
			:: IS_MEMBER(found) -> handle_buffer = slot_buffer[found]; handle_tag = slot_tag[found]
			:: else -> handle_tag = 0
			fi
		}
		resolve(found);
		read_object();
		atomic {
			if
			:: handle_tag != 0 && object == handle_tag
			:: !(handle_tag != 0 && object == handle_tag) && attempt < RETRIES -> attempt++; goto conditional
			:: else -> result = busy; goto done
			fi;
			value_is_of_this_time = (had[me] & BIT(object)) != 0;
			assert(value_is_of_this_time);
			object = 0
		}
		if
		:: kind == UPDATE -> allocate()
		:: else
		fi;
		if
		:: kind == UPDATE && buffer == 0 -> result = no_buffer; goto done
		:: else
		fi;
		d_step {
			if
#ifdef NO_TAG
			:: IS_MEMBER(found) && slot_buffer[found] == handle_buffer ->
#else
			:: IS_MEMBER(found) && slot_buffer[found] == handle_buffer && slot_tag[found] == handle_tag ->
#endif
				/* Every value is put once: if it is there, it has been there all the time. */
				handle_is_current = (slot_tag[found] == handle_tag);
				assert(handle_is_current);
				if
				:: kind == UPDATE -> install(found)
				:: else -> old = slot_buffer[found]; clear_slot(found)
				fi;
				changed(key);
				result = ok
			:: else -> result = missed
			fi
		}

done:
		/* The answer to the caller, and the client's next free report. */
		atomic {
			d_step {
				if
				:: kind == GET && result == ok || result == absent ->
					value_is_of_this_time = (had[me] & BIT((result == absent -> 0 : object))) != 0;
					assert(value_is_of_this_time)
				:: else
				fi;
				installed_exactly_when_ok =
					(installs == ((kind == PUT || kind == UPDATE || kind == INSERT) && result == ok -> 1 : 0));
				assert(installed_exactly_when_ok);
				/* Of all values that the key has had since the insert began one was absence, or another was not. */
				insert_sees_the_key = (kind != INSERT || (result != ok && result != missed) ||
					(result == ok -> (had[me] & 1) != 0 : (had[me] & ~1) != 0));
				assert(insert_sees_the_key);
#ifdef ALONE
				alone_is_never_busy = (me == 0 || result != busy);
				assert(alone_is_never_busy);
#endif
				if
				:: old != 0 -> report(old)
				:: else
				fi;
				if
				:: buffer != 0 -> report(buffer)
				:: else
				fi;
				watched_key[me] = 0; had[me] = 0;
				working = working & ~BIT(me);
				unacknowledged = unacknowledged & ~BIT(me);
				kind = 0; key = 0; attempt = 0; buffer = 0; old = 0; found = 0; free_slots = 0;
				object = 0; handle_buffer = 0; handle_tag = 0; installs = 0; result = 0;
				own = NOWHERE;
#ifdef HINTS
				first = HOME;
#endif
				n++
			}
			goto next
		}
	} unless {
		atomic {
			(dead & BIT(me)) ->
			d_step {
				kind = 0; key = 0; attempt = 0; buffer = 0; old = 0; found = 0; free_slots = 0;
				object = 0; handle_buffer = 0; handle_tag = 0; installs = 0; result = 0;
				read_buffer = 0; read_tag = 0; i = 0; n = 0; claims = 0;
				for (j : 0 .. SLOTS - 1) {
					rival[j] = 0
				}
#ifdef HINTS
				first = HOME;
#endif
				own = NOWHERE
			}
		}
	}
the_end:
	skip
}

/* The server takes free reports when it likes to. */
proctype reclaim()
{
end_reclaim:
	do
	:: d_step { reported[0] != 0 -> release_reported(0) }
	:: d_step { reported[1] != 0 -> release_reported(1) }
#if CLIENTS > 2
	:: d_step { reported[2] != 0 -> release_reported(2) }
#endif
	od
}

#define LIVE (BIT(CLIENTS) - 1 - dead)

/* A crash: the client's queue pairs are destroyed, which ends its operations; its unsent reports are lost. */
inline crash(c)
{
	d_step {
		(MORTAL & BIT(c)) && !((dead | finished) & BIT(c)) ->
		dead = dead | BIT(c);
		reported[c] = 0;
		watched_key[c] = 0;
		had[c] = 0;
		working = working & ~BIT(c);
		unacknowledged = unacknowledged & ~BIT(c);
		end_read(c);
		skip /* spin: a d_step must not end with a loop */
	}
}

proctype fate()
{
end_fate:
	do
	:: crash(0)
	:: crash(1)
#if CLIENTS > 2
	:: crash(2)
#endif
	od
}

/* The recovery scan, while the others go on. */
proctype recovery()
{
	byte s;
	byte whom;
end_recovery:
	do
	:: d_step {
#ifdef ALONE
		(finished & 2) &&
#endif
		(dead & ~recovered) != 0 ->
		whom = dead;
		for (b : 1 .. BUFFERS) {
			if
			:: buffer_out[b] -> marked = marked | BIT(b)
			:: else
			fi
		}
#ifndef NO_FIRST_ACK
		unacknowledged = working & LIVE
#endif
	}
		/* First acknowledgement: whoever held a marked buffer has installed or reported it. */
		unacknowledged == 0;
		do
		:: d_step {
			s < SLOTS ->
			if
			:: slot_member[s] -> marked = marked & ~BIT(slot_buffer[s])
#ifndef KEEP_CLAIMS
			:: !slot_member[s] && slot_key[s] != 0 && (whom & BIT(slot_owner[s])) -> clear_slot(s)
#endif
			:: else
			fi;
			s++
		}
		:: atomic { s == SLOTS -> s = 0; break }
		od;
		/* Second acknowledgement: whoever replaced a marked buffer before the scan saw its slot has reported it. */
#ifndef NO_SECOND_ACK
#ifndef FLUSH_AT_ONCE
		atomic { unacknowledged = working & LIVE }
		unacknowledged == 0;
#endif
		atomic {
			true ->
			d_step {
				for (s : 0 .. CLIENTS - 1) {
					release_reported(s)
				}
				s = 0
			}
		}
#endif
		atomic {
			true ->
			d_step {
				for (b : 1 .. BUFFERS) {
					if
					:: marked & BIT(b) -> release(b)
					:: else
					fi
				}
				marked = 0;
				recovered = recovered | whom;
				whom = 0
			}
		}
	od
}

#define QUIET ((finished | recovered) == BIT(CLIENTS) - 1 && reported[0] == 0 && reported[1] == 0 && \
	       reported[CLIENTS - 1] == 0)

/* Everything in order when all is over? */
inline take_stock()
{
	for (b : 1 .. BUFFERS) {
		count_reaching(b);
		nothing_leaked = (reaching == (buffer_out[b] -> 1 : 0));
		assert(nothing_leaked)
	}
	for (j : 0 .. SLOTS - 1) {
		no_claim_left = (slot_member[j] || IS_EMPTY(j));
		assert(no_claim_left)
	}
}

/* In the beginning buffer k is at slot s, with value 1 of key k. */
inline place(k, s)
{
	buffer_out[k] = true;
	buffer_key[k] = k;
	buffer_value[k] = 1;
	slot_key[s] = k;
	slot_member[s] = true;
	slot_buffer[s] = k;
	slot_tag[s] = 1
}

init
{
	atomic {
		/* The table in the beginning: free_slots, or the first key at home or elsewhere; with it or without the second. */
		if
		:: skip
#ifndef STARTS_EMPTY
		:: place(1, HOME)
		:: place(1, 1)
#endif
		fi;
		run reclaim();
#if MORTAL
		run fate();
		run recovery();
#endif
		run client(0);
		run client(1);
#if CLIENTS > 2
		run client(2);
#endif
	}
	atomic { QUIET -> d_step { take_stock(); skip } }
}
