/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Remote calls whose answers the client fetches, at the granularity of single words of the server's memory. PROTOCOL is
 * one of three: FETCH (RFP as published, with a sequence number and a CRC), SLOTS (one slot for each call under way, the
 * answer behind a bounded pointer) and WINDOW (one ring of answers for all calls of a connection).
 *
 * The server's processor stores into a buffer, from which words reach memory in any order; a fence waits until all have.
 * The device stores what a WRITE carries word by word, in any order, and READs words at different times. It publishes an
 * ALLOCATE's pointer last, and resolves a bounded pointer pointer first. A READ whose response was lost is executed again,
 * from any of its words on, until its requester has completed it.
 *
 * A polling loop is not modelled turn by turn: who polls tries EARLY times in vain at most, then waits until there is
 * something to see. So whoever waits for ever stops, and when all processes have stopped the monitor takes stock.
 * README.md lists sizes, rules and variants.
 */

#define FETCH 1
#define SLOTS 2
#define WINDOW 3

#ifndef PROTOCOL
#define PROTOCOL SLOTS
#endif
#ifndef CLIENTS
#define CLIENTS 1 /* connections, each with one call under way; SLOTS only */
#endif
#ifndef CALLS
#define CALLS 3 /* of each client; a call's number is its sequence number and its argument */
#endif
#ifndef EARLY
#define EARLY 1 /* failed fetches of a call */
#endif
#ifndef DUPLICATES
#define DUPLICATES 0 /* READs that are executed again */
#endif
#ifndef BREAKS
#define BREAKS 0 /* connections that break and are set up again */
#endif
#ifndef MORTAL
#define MORTAL 0 /* bit set: 1 client 0 may die at any step, 2 the server */
#endif

#define BIT(n) (1 << (n))
#define GARBAGE 255

/* The server's memory ------------------------------------------------------------------------------------------ */

#if PROTOCOL == FETCH
#define REQUEST(k) (k)        /* 0: seq and size; 1: mode and CRC; 2: payload */
#define RESPONSE(k) (3 + (k)) /* 0: seq and size; 1: CRC; 2: payload inside of the fetch size; 3: the rest */
#define FLAG 7                /* the seq of the call that wants a reply after all */
#define REPLY 64              /* in word 1: the call wants a reply from the beginning */
#define WORDS 8
#elif PROTOCOL == SLOTS
#ifndef BUFFERS
#define BUFFERS 1 /* in the worker's free list */
#endif
#ifndef ANSWERS
#define ANSWERS 2 /* objects that answers are in */
#endif
#define SLOT(c) (7 * (c))
#define TAKE_PTR(c) SLOT(c)
#define TAKE_TAG(c) (SLOT(c) + 1) /* bound and tag of the request: its seq stands for both */
#define ACKED(c) (SLOT(c) + 2)
#ifdef ONE_HALF
#define HALF(seq) 0
#else
#define HALF(seq) ((seq) & 1)
#endif
#define ANSWER_PTR(c, seq) (SLOT(c) + 3 + 2 * HALF(seq))
#define ANSWER_BOUND(c, seq) (SLOT(c) + 4 + 2 * HALF(seq)) /* the seq stands for the length */
#define BUFFER(b, k) (7 * CLIENTS + 2 * ((b) - 1) + (k))
#define OBJECT(a, k) (7 * CLIENTS + 2 * BUFFERS + 2 * ((a) - 1) + (k)) /* 0: header; 1: payload */
#define WORDS (7 * CLIENTS + 2 * BUFFERS + 2 * ANSWERS)
#else
#ifndef W
#define W 2 /* calls under way */
#endif
#ifndef CELLS
#define CELLS (4 * W + 1) /* records that fit in the ring */
#endif
#ifdef ONE_POINTER
#define PTR(epoch) 0
#else
#define PTR(epoch) (2 * ((epoch) & 1)) /* one more than the number of the record that it points at: 0 is null */
#endif
#define BOUND(epoch) (PTR(epoch) + 1)                  /* records */
#define CELL(record, k) (4 + 2 * ((record) % CELLS) + (k)) /* 0: header, with the record's number; 1: payload */
#define WORDS (4 + 2 * CELLS)
#endif

byte memory[WORDS];
int pending;           /* bit set of words in the processor's store buffer */
byte in_buffer[WORDS]; /* ... and what they will be */

byte runs[CLIENTS * (CALLS + 1)]; /* how often a call ran */
byte taken[CLIENTS];              /* seq of the last call that the server ran */
byte done[CLIENTS];               /* calls that the client has the answer of */
byte reconnects[CLIENTS];         /* 1: the client asks what became of its call; 2: it is to send it again; 3: not */
byte dead;                        /* bit set of clients */
byte buried;                      /* bit set of dead clients after whom the server has cleaned up */
bool server_dead;
byte duplicates;
byte breaks;

hidden byte b;
hidden byte h;
hidden byte named;
hidden byte call_runs_once;
hidden byte request_is_whole;
hidden byte answer_is_its_calls;
hidden byte answer_is_whole;
hidden byte pair_is_whole;
hidden byte consumed_is_there;
hidden byte next_epoch_is_open;
hidden byte reads_no_more;
hidden byte freed_once;
hidden byte nobody_waits_for_ever;
hidden byte buffer_is_accounted_for;
hidden byte answer_is_accounted_for;

#define LOAD(w) ((pending & BIT(w)) -> in_buffer[w] : memory[w])

inline store(w, v)
{
	pending = pending | BIT(w);
	in_buffer[w] = v
}

/* Stores before it in program order are in memory before it. */
#ifdef NO_FENCES
#define FENCE skip
#else
#define FENCE pending == 0
#endif

proctype store_buffer()
{
	byte w;
end_store_buffer:
	do
	:: atomic {
		pending != 0 && !server_dead ->
		do
		:: pending & BIT(w) -> break
		:: pending >> (w + 1) != 0 -> w++
		od;
		memory[w] = in_buffer[w];
		in_buffer[w] = 0;
		pending = pending & ~BIT(w);
		w = 0
	}
	od
}

inline run_call(c, seq)
{
	runs[(c) * (CALLS + 1) + (seq)]++;
	call_runs_once = (runs[(c) * (CALLS + 1) + (seq)] == 1);
	assert(call_runs_once)
}

#define GONE (server_dead || (dead & BIT(me)))

/* FETCH --------------------------------------------------------------------------------------------------------- */

#if PROTOCOL == FETCH

byte reply[4];   /* the client's memory, where replies arrive; with SHARED_LANDING what it READs, too */
byte reply_left; /* bit set of the reply's words that have not landed */

/* The server's device sends an answer: it reads the words when it sends them, and they land in any order. */
proctype sender()
{
	byte k;
end_sender:
	do
	:: atomic {
		reply_left != 0 && !server_dead ->
		do
		:: reply_left & BIT(k) -> break
		:: reply_left >> (k + 1) != 0 -> k++
		od;
		reply[k] = memory[RESPONSE(k)];
		reply_left = reply_left & ~BIT(k);
		k = 0
	}
	od
}

#define IS_NEW(k) ((memory[REQUEST(k)] & ~REPLY) != taken[0])
#define LOOK(k) atomic { !(seen & BIT(k)) -> got[k] = memory[REQUEST(k)]; seen = seen | BIT(k) }
#ifdef NO_REQUEST_CRC
#define IS_REQUEST (got[0] != taken[0])
#else
#define IS_REQUEST (got[0] != taken[0] && (got[1] & ~REPLY) == got[0] && got[2] == got[0])
#endif

proctype server()
{
	byte got[3];
	byte seen;
	{
		skip;
end_server:
		do
		:: (IS_NEW(0) || IS_NEW(1) || IS_NEW(2)) && !(dead & 1) ->
			do
			:: LOOK(0)
			:: LOOK(1)
			:: LOOK(2)
			:: atomic { seen == 7 -> seen = 0; break }
			od;
			if
			:: d_step {
				IS_REQUEST ->
				request_is_whole = ((got[1] & ~REPLY) == got[0] && got[2] == got[0]);
				assert(request_is_whole);
				run_call(0, got[0]);
				taken[0] = got[0];
#ifdef BARE_STATUS
				memory[RESPONSE(0)] = 0; /* it has taken the request, so there is no answer yet */
#endif
				store(RESPONSE(0), got[0]);
				store(RESPONSE(1), got[0]);
				store(RESPONSE(2), got[0]);
				store(RESPONSE(3), got[0])
			}
				FENCE; /* first publish, then look at the flag */
				atomic {
					if
					:: memory[FLAG] == taken[0] || (got[1] & REPLY) -> reply_left = 15
					:: else
					fi
				}
			:: else
			fi;
			d_step { got[0] = 0; got[1] = 0; got[2] = 0 }
		od
	} unless {
		server_dead
	}
}

#define LAND(k, word) atomic { !(landed & BIT(k)) -> memory[REQUEST(k)] = word; landed = landed | BIT(k) }
#define READ(k) atomic { !(seen & BIT(k)) -> got[k] = memory[RESPONSE(k)]; seen = seen | BIT(k) }
#define LOOK_AT(k) atomic { !(seen & BIT(k)) -> got[k] = reply[k]; seen = seen | BIT(k) }

#define ARRIVE(k) atomic { !(landed & BIT(k)) -> reply[k] = got[k]; landed = landed | BIT(k) }

#ifdef BARE_STATUS
#define IS_ANSWER(first) ((first) != 0)
#else
#define IS_ANSWER(first) ((first) == n)
#endif
#ifdef NO_CRC
#define IS_SOUND true
#else
#define IS_SOUND (got[1] == got[0] && got[2] == got[0] && got[3] == got[0])
#endif

inline forget()
{
	got[0] = 0;
	got[1] = 0;
	got[2] = 0;
	got[3] = 0
}

proctype client(byte me)
{
	byte n, tries;
	byte landed, seen; /* bit sets of words */
	byte got[4];
	bool replies; /* the mode */
	bool last;    /* this READ is the one after the flag */
	{
		skip;
next:
		atomic {
			if
			:: n == CALLS -> goto the_end
			:: n < CALLS -> n++; tries = 0
			fi
		}
		if
		:: atomic { replies -> replies = false } /* the server has become fast again */
		:: true
		fi;
request:
		do
		:: LAND(0, n)
		:: LAND(1, n + (replies -> REPLY : 0))
		:: LAND(2, n)
		:: atomic { breaks < BREAKS && landed != 0 -> goto broken }
		:: atomic { landed == 7 -> landed = 0; break }
		od;
		if
		:: replies -> goto read_last /* after a reconnection the answer may be there, and its reply lost */
		:: else
		fi;
fetch:
		if
		:: atomic { tries < EARLY -> tries++ }
		:: IS_ANSWER(memory[RESPONSE(0)])
		:: tries == EARLY -> goto switch
		fi;
read:
		do
		:: READ(0)
		:: READ(1)
		:: READ(2)
		:: atomic { duplicates < DUPLICATES && seen != 0 -> duplicates++; seen = 0 }
		:: atomic { breaks < BREAKS -> goto broken }
		:: atomic { seen == 7 -> seen = 0; break }
		od;
		if
		:: atomic { IS_ANSWER(got[0]) -> got[3] = memory[RESPONSE(3)] } /* the second READ */
		:: else
		fi;
#ifdef SHARED_LANDING
		do
		:: ARRIVE(0)
		:: ARRIVE(1)
		:: ARRIVE(2)
		:: ARRIVE(3)
		:: atomic { landed == 15 -> landed = 0; break }
		od;
		skip;
		d_step { forget() }
		do
		:: LOOK_AT(0)
		:: LOOK_AT(1)
		:: LOOK_AT(2)
		:: LOOK_AT(3)
		:: atomic { seen == 15 -> seen = 0; break }
		od;
#endif
		if
		:: IS_ANSWER(got[0]) && IS_SOUND -> goto accept
		:: else
		fi;
		atomic {
			d_step { forget() }
			if
			:: last -> last = false; goto await
			:: else -> goto fetch
			fi
		}
switch:
		atomic { replies = true; memory[FLAG] = n }
read_last:
#ifdef NO_LAST_READ
		goto await;
#endif
		atomic { last = true; goto read }
await:
		if
		:: reply[0] == n
#ifdef PATIENCE
		:: atomic { reply[0] != n && memory[RESPONSE(0)] == n && !reply_left -> goto read_last }
#endif
		:: atomic { breaks < BREAKS -> goto broken }
		fi;
		do
		:: LOOK_AT(0)
		:: LOOK_AT(1)
		:: LOOK_AT(2)
		:: LOOK_AT(3)
		:: atomic { seen == 15 -> seen = 0; break }
		od;
		if
		:: got[0] == n && IS_SOUND
		:: else -> goto await
		fi;
accept:
		skip;
		d_step {
			answer_is_whole = (got[1] == got[0] && got[2] == got[0] && got[3] == got[0]);
			assert(answer_is_whole);
			answer_is_its_calls = (got[0] == n);
			assert(answer_is_its_calls);
			done[0]++;
			last = false;
			forget()
		}
		goto next;
broken: /* what was under way is gone; the same request goes out again */
		skip;
		d_step {
			breaks++;
			reply_left = 0;
			landed = 0;
			seen = 0;
			last = false;
			forget()
		}
		goto request
	} unless {
		GONE
	}
the_end:
	skip
}

inline take_stock()
{
	skip
}

/* SLOTS --------------------------------------------------------------------------------------------------------- */

#elif PROTOCOL == SLOTS

byte free_buffers = BIT(BUFFERS + 1) - 2; /* bit set of 1..BUFFERS */
byte free_answers = BIT(ANSWERS + 1) - 2;
byte limbo[CLIENTS]; /* the buffer that an ALLOCATE has taken and not yet published */
byte held[CLIENTS];  /* the answer that a half names, pinned */

/* Takes the lowest of a set that is not empty. */
inline take_lowest(which, set)
{
	which = 1;
	do
	:: !(set & BIT(which)) -> which++
	:: else -> break
	od;
	set = set & ~BIT(which)
}

/* Whoever has an object next stores something else into it. */
inline free_answer(a)
{
	freed_once = !(free_answers & BIT(a));
	assert(freed_once);
	free_answers = free_answers | BIT(a);
	store(OBJECT(a, 0), GARBAGE);
	store(OBJECT(a, 1), GARBAGE)
}

inline free_buffer(which)
{
	freed_once = !(free_buffers & BIT(which));
	assert(freed_once);
	free_buffers = free_buffers | BIT(which)
}

inline free_limbo(c)
{
	if
	:: limbo[c] != 0 -> free_buffer(limbo[c]); limbo[c] = 0
	:: else
	fi
}

/* The client has fetched the last answer. The bound may stay: a null pointer is enough. */
inline retract(c)
{
	d_step {
		if
		:: held[c] != 0 ->
#ifndef NO_NULL
			store(ANSWER_PTR(c, taken[c]), 0);
#endif
			free_answer(held[c]);
			held[c] = 0
		:: else
		fi
	}
	FENCE
}

inline publish(c)
{
	atomic {
		free_answers != 0 ->
		d_step {
			take_lowest(answer, free_answers);
			held[c] = answer;
			store(OBJECT(answer, 0), tag);
			store(OBJECT(answer, 1), tag);
#ifndef PTR_FIRST
			store(ANSWER_BOUND(c, tag), tag)
#endif
		}
	}
	FENCE;
	d_step { store(ANSWER_PTR(c, tag), answer) }
#ifdef PTR_FIRST
	FENCE;
	d_step { store(ANSWER_BOUND(c, tag), tag) }
#endif
#ifdef FORGOTTEN_PIN
	d_step { free_answer(answer); held[c] = 0 }
#endif
	answer = 0
}

#ifdef NO_SEQ
#define IS_ANOTHER(c) true
#else
#define IS_ANOTHER(c) (tag != taken[c])
#endif

/* One request of client c, whose pointer has been seen. */
inline serve(c)
{
	buffer = LOAD(TAKE_PTR(c));
#ifndef NO_ACQUIRE
	tag = memory[TAKE_TAG(c)];
#endif
	d_step {
		request_is_whole = (memory[BUFFER(buffer, 0)] == tag && memory[BUFFER(buffer, 1)] == tag);
		assert(request_is_whole);
		store(TAKE_PTR(c), 0)
	}
	if
	:: IS_ANOTHER(c) ->
		retract(c);
		d_step {
			run_call(c, tag);
			taken[c] = tag
		}
		publish(c)
	:: else /* sent again by a client that came back */
	fi;
	FENCE;
	d_step { free_buffer(buffer); buffer = 0; tag = 0 }
}

/* Client c has come back on a new connection: nothing of the old one is under way any more. Has its call arrived? */
inline welcome(c)
{
	FENCE;
	d_step {
		free_limbo(c);
		if
#ifndef RESEND_BLINDLY
		:: memory[TAKE_PTR(c)] != 0 || taken[c] == done[c] + 1 -> reconnects[c] = 3
#endif
		:: else -> reconnects[c] = 2
		fi
	}
}

/* Client c is dead, and its queue pair destroyed. */
inline bury(c)
{
	retract(c);
	d_step {
		free_limbo(c);
		if
		:: memory[TAKE_PTR(c)] != 0 -> free_buffer(memory[TAKE_PTR(c)]); memory[TAKE_PTR(c)] = 0
		:: else
		fi;
		buried = buried | BIT(c)
	}
}

#define LIVES(c) (!(dead & BIT(c)) && reconnects[c] != 1)
#define HAS_REQUEST(c) (LIVES(c) && LOAD(TAKE_PTR(c)) != 0)
#define HAS_ACKNOWLEDGED(c) (LIVES(c) && memory[ACKED(c)] == taken[c] && held[c] != 0)

proctype server()
{
	byte buffer, tag, answer;
	{
		skip;
end_server:
		do
#ifdef NO_ACQUIRE
		:: tag == 0 && memory[TAKE_TAG(0)] != 0 -> tag = memory[TAKE_TAG(0)] /* loaded ahead of the pointer */
		:: HAS_REQUEST(0) && tag != 0 -> serve(0)
#else
		:: HAS_REQUEST(0) -> serve(0)
#endif
		:: HAS_ACKNOWLEDGED(0) -> retract(0)
		:: reconnects[0] == 1 -> welcome(0)
		:: dead & ~buried & 1 -> bury(0)
#if CLIENTS > 1
		:: HAS_REQUEST(1) -> serve(1)
		:: HAS_ACKNOWLEDGED(1) -> retract(1)
		:: reconnects[1] == 1 -> welcome(1)
#endif
		od
	} unless {
		server_dead
	}
}

#define READ(k) atomic { !(seen & BIT(k)) -> got[k] = memory[OBJECT(pointer, k)]; seen = seen | BIT(k) }

inline forget()
{
	seen = 0;
	pointer = 0;
	bound = 0;
	got[0] = 0;
	got[1] = 0
}

/* The READ's response was lost: it is executed again, from its second word on or as a whole. */
inline execute_again()
{
	duplicates++;
	pointer = 0;
	if
	:: seen & 1 -> seen = 1
	:: seen = 0
	fi
}

proctype client(byte me)
{
	byte n, tries;
	byte seen; /* bit set of words */
	byte pointer, bound;
	byte got[2];
	{
		skip;
next:
		atomic {
			if
			:: n == CALLS -> goto the_end
			:: n < CALLS -> n++; tries = 0
			fi
		}
request: /* ALLOCATE. Nothing is free: NO_BUFFER, the client tries again. */
		atomic {
			free_buffers != 0 ->
			d_step { take_lowest(limbo[me], free_buffers) }
		}
		if
		:: atomic { breaks < BREAKS -> goto broken }
		:: memory[BUFFER(limbo[me], 0)] = n
		fi;
		memory[BUFFER(limbo[me], 1)] = n;
		memory[TAKE_TAG(me)] = n;
		d_step { memory[TAKE_PTR(me)] = limbo[me]; limbo[me] = 0 }
fetch:
		if
		:: atomic { tries < EARLY -> tries++ }
		:: memory[ANSWER_PTR(me, n)] != 0
		:: atomic { breaks < BREAKS -> goto broken }
#ifdef ABANDON
		:: atomic { tries == EARLY -> done[me]++; goto next }
#endif
		fi;
read: /* the pointer, then the bound, then what it points at */
		pointer = memory[ANSWER_PTR(me, n)];
		if
		:: atomic { pointer == 0 -> d_step { forget() } goto fetch }
		:: else
		fi;
		bound = memory[ANSWER_BOUND(me, n)];
		do
		:: READ(0)
		:: READ(1)
		:: atomic { duplicates < DUPLICATES && seen != 0 -> execute_again(); goto read }
		:: atomic { breaks < BREAKS -> goto broken }
		:: seen == 3 -> break
		od;
#ifdef ACK_IN_CHAIN
		memory[ACKED(me)] = n;
		if
		:: atomic { duplicates < DUPLICATES -> execute_again(); goto read }
		:: true
		fi;
#endif
		atomic {
			if
			:: got[0] != n -> d_step { forget() } goto fetch /* of another call */
			:: else
			fi;
			d_step {
				pair_is_whole = (bound == n);
				assert(pair_is_whole);
				answer_is_whole = (got[1] == n);
				assert(answer_is_whole);
				done[me]++;
				forget()
			}
		}
#ifndef ACK_IN_CHAIN
		if
		:: memory[ACKED(me)] = n /* it goes idle */
		:: true
		fi;
#endif
		goto next;
broken:
		skip;
		d_step {
			breaks++;
			forget();
			reconnects[me] = 1
		}
		atomic {
			reconnects[me] > 1;
			if
			:: reconnects[me] == 2 -> reconnects[me] = 0; goto request
			:: else -> reconnects[me] = 0; goto fetch
			fi
		}
	} unless {
		GONE
	}
the_end:
	skip
}

/* Each buffer is in one place, and each object that is not free is behind one half. */
inline take_stock()
{
	for (b : 1 .. BUFFERS) {
		named = (free_buffers >> b) & 1;
		for (h : 0 .. CLIENTS - 1) {
			named = named + (memory[TAKE_PTR(h)] == b -> 1 : 0)
		}
		buffer_is_accounted_for = (named == 1);
		assert(buffer_is_accounted_for)
	}
	for (b : 1 .. ANSWERS) {
		named = (free_answers >> b) & 1;
		for (h : 0 .. CLIENTS - 1) {
			named = named + (memory[SLOT(h) + 3] == b -> 1 : 0) + (memory[SLOT(h) + 5] == b -> 1 : 0)
		}
		answer_is_accounted_for = (named == 1);
		assert(answer_is_accounted_for)
	}
}

/* WINDOW -------------------------------------------------------------------------------------------------------- */

#else

/*
 * SEND: a call, and the client's epoch with how many records it has had altogether when it first said so; with EAGER with
 * how many it had had where the epoch begins.
 */
chan requests = [W + 1] of { byte, byte, byte };

/*
 * With EAGER a client is in the next epoch as soon as it has said where that begins: the pointer is null until the server
 * has read this. Without, it goes on with the old pointer until it finds that null, and only then knows the next one open.
 */
#ifdef EAGER
#ifndef OTHER_ORDER
#define NULL_FIRST
#endif
#else
#ifdef OTHER_ORDER
#define NULL_FIRST
#endif
#endif

/* The next epoch begins where the client says. */
inline open_next()
{
#ifdef NULL_FIRST
	d_step { store(PTR(epoch), 0) }
	FENCE;
#endif
	d_step {
		base = used;
#ifdef EAGER
		free = used; /* it has no READ of what is before */
#endif
		store(BOUND(epoch + 1), produced - base)
	}
	FENCE;
	d_step { store(PTR(epoch + 1), base + 1) }
	FENCE;
#ifndef NULL_FIRST
	d_step { store(PTR(epoch), 0) }
	FENCE;
#endif
	d_step { epoch++; said = 0; used = 0 }
}

/* Takes in what a request says of the records. */
inline hear()
{
	d_step {
#ifdef EAGER
		consumed_is_there = (said <= epoch || said == epoch + 1 && used > base && used <= produced);
		assert(consumed_is_there);
		if
		:: said == epoch + 1
		:: else -> used = base
		fi
#else
		consumed_is_there = (said + 1 == epoch || said == epoch && used >= base && used <= produced);
		assert(consumed_is_there);
		if
		:: said == epoch -> free = (base > free -> base : free) /* it has found this epoch */
		:: else -> used = base
		fi
#endif
	}
	if
	:: used != base -> open_next()
	:: else -> d_step { said = 0; used = 0 }
	fi
}

/* Runs the next call and appends its record, then the bound grows. */
inline append()
{
	d_step {
		todo ? seq;
		run_call(0, seq);
		store(CELL(produced, 0), produced + 1);
		store(CELL(produced, 1), produced + 1);
		produced++;
		seq = 0;
#ifdef BOUND_FIRST
		store(BOUND(epoch), produced - base)
#endif
	}
	FENCE;
	d_step { store(BOUND(epoch), produced - base) }
}

proctype server()
{
	chan todo = [W + 1] of { byte };
	byte seq, said, used;
	byte epoch = 1;
	byte base, produced, free; /* records: where the epoch begins, the next one, the first that is still in the ring */
	{
		skip;
end_server:
		do
		:: requests ? seq, said, used ->
			d_step {
				if
				:: seq != 0 -> todo ! seq; seq = 0
				:: else
				fi
			}
			hear()
#ifdef REORDERED
		:: d_step { /* requests that are posted at once may go out in another order */
			len(requests) == 2 ->
			requests ? seq, said, used;
			requests ! seq, said, used;
			seq = 0;
			said = 0;
			used = 0
		}
#endif
		:: nempty(todo) && produced - free < CELLS -> append()
		od
	} unless {
		server_dead
	}
}

#define KNOWN (consumed >= read_base -> consumed - read_base : 255) /* no epoch has what is before its base */
#define NEWS (consumed >= base -> consumed - base : 255)
#ifdef EAGER
#define HAS_NEWS (memory[PTR(epoch)] != 0 && memory[BOUND(epoch)] > NEWS)
#else
#define HAS_NEWS (memory[PTR(epoch)] == 0 || memory[BOUND(epoch)] > NEWS)
#endif

inline forget()
{
	for (h : 0 .. W - 1) {
		header[h] = 0;
		payload[h] = 0
	}
	i = 0;
	half = 0;
	pointer = 0;
	bound = 0
}

/* The records that a READ has brought. */
inline take()
{
	i = 0;
	do
	:: i < bound ->
		answer_is_its_calls = (header[i] == consumed + 1);
		assert(answer_is_its_calls);
		answer_is_whole = (payload[i] == consumed + 1);
		assert(answer_is_whole);
		consumed++;
		done[0]++;
		i++
	:: else -> break
	od;
	forget()
}

/* A request, or with ACK_IN_CHAIN none, says what the client has had. */
inline tell(call, had)
{
#ifdef EAGER
	if
	:: had > base && open -> epoch++; base = had; open = false
	:: else
	fi;
	requests ! call, epoch, base
#else
	if
	:: next_base == 0 && had > base -> next_base = had
	:: else
	fi;
	requests ! call, epoch, (next_base != 0 -> next_base : base)
#endif
}

proctype client(byte me)
{
	byte n, tries;
	byte epoch = 1;
	byte base, consumed; /* records: where this epoch begins, and those that it has had */
	byte next_base;      /* where the next epoch begins, or 0: no request has said so */
	byte read_epoch, read_base; /* those of the READ that is under way */
#ifdef EAGER
	bool open; /* a READ has found this epoch's pointer */
#endif
	byte pointer, bound, i, half;
	byte header[W], payload[W];
	{
		skip;
next:
		if
		:: atomic { n < CALLS && n - consumed < W -> n++; tries = 0; tell(n, consumed); goto next }
		:: atomic { n != consumed && tries < EARLY -> tries++ }
		:: n != consumed && HAS_NEWS
		:: n == CALLS && consumed == CALLS -> read_epoch = 0; goto the_end
		fi;
		atomic { read_epoch = epoch; read_base = base }
read: /* the pointer, then the bound, then what it points at: all that is not known yet */
		pointer = memory[PTR(read_epoch)];
		if
#ifdef EAGER
		:: atomic { pointer == 0 -> goto next }
#else
		:: atomic {
			pointer == 0 ->
			next_epoch_is_open = (next_base != 0);
			assert(next_epoch_is_open);
			epoch++;
			base = next_base;
			next_base = 0;
			goto next
		}
#endif
		:: else
		fi;
		bound = memory[BOUND(read_epoch)];
		d_step {
			if
			:: bound > KNOWN ->
				pointer = pointer + KNOWN;
				bound = bound - KNOWN;
				reads_no_more = (bound <= W);
				assert(reads_no_more)
			:: else -> bound = 0
			fi
		}
		do
		:: atomic { i < bound && !(half & 1) -> header[i] = memory[CELL(pointer - 1 + i, 0)]; half = half | 1 }
		:: atomic { i < bound && !(half & 2) -> payload[i] = memory[CELL(pointer - 1 + i, 1)]; half = half | 2 }
		:: atomic { half == 3 -> half = 0; i++ }
		:: atomic { n < CALLS && n - consumed < W -> n++; tries = 0; tell(n, consumed) } /* meanwhile */
		:: atomic { duplicates < DUPLICATES && i + half != 0 -> duplicates++; d_step { forget() } goto read }
		:: i == bound && half == 0 -> break
		od;
#ifdef ACK_IN_CHAIN
		atomic { tell(0, consumed + bound) }
		if
		:: atomic { duplicates < DUPLICATES && bound != 0 -> duplicates++; d_step { forget() } goto read }
		:: true
		fi;
#endif
#ifdef EAGER
#ifdef TWO_AHEAD
		open = true;
#else
		open = (read_epoch == epoch);
#endif
#endif
		skip;
		d_step { take() }
		goto next
	} unless {
		GONE
	}
the_end:
	skip
}

inline take_stock()
{
	skip
}

#endif

/* Everything ---------------------------------------------------------------------------------------------------- */

proctype fate()
{
	if
#if MORTAL & 1
	:: d_step { dead = 1; reconnects[0] = 0 }
#endif
#if MORTAL & 2
	:: server_dead = true
#endif
	:: true
	fi
}

#if PROTOCOL == SLOTS
#define OVER(c) (done[c] == CALLS || (buried & BIT(c)))
#else
#define OVER(c) (done[c] == CALLS || (dead & BIT(c)))
#endif

/* No process can go on. The dead server's memory is gone, and so is whatever it owed. */
proctype monitor()
{
	timeout;
	d_step {
		if
		:: !server_dead ->
			for (b : 0 .. CLIENTS - 1) {
				nobody_waits_for_ever = OVER(b);
				assert(nobody_waits_for_ever)
			}
			take_stock()
		:: else
		fi;
		skip
	}
}

init
{
	atomic {
#if PROTOCOL == WINDOW
		memory[PTR(1)] = 1; /* an epoch without records */
#endif
		run store_buffer();
		run server();
#if PROTOCOL == FETCH
		run sender();
#endif
		run client(0);
#if CLIENTS > 1
		run client(1);
#endif
#if MORTAL
		run fate();
#endif
		run monitor()
	}
}
