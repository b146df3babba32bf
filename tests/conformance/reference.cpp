/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "reference.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace prism::reference
{

namespace
{

/** S.7.2: bad entries that one ALLOCATE removes. */
constexpr int most_bad_entries = 8;

unsigned modifiers_of(Op op)
{
	switch (op) {
	case Op::read:
		return indirect | bounded | conditional | redirect;
	case Op::write:
		return indirect | bounded | conditional | data_indirect;
	case Op::cas:
		return indirect | conditional | data_indirect;
	case Op::allocate:
		return bounded | conditional | redirect;
	default:
		return 0;
	}
}

/** Returns the payloads of the packets that a request is sent in; at least one packet. */
std::vector<Bytes> split(const Request &request, std::size_t mtu)
{
	std::vector<Bytes> packets;
	if (request.carries_payload())
		for (std::size_t at = 0; at < request.payload.size(); at += mtu) {
			const std::size_t end = std::min(at + mtu, request.payload.size());
			packets.emplace_back(request.payload.begin() + static_cast<std::ptrdiff_t>(at),
				request.payload.begin() + static_cast<std::ptrdiff_t>(end));
		}
	if (packets.empty())
		packets.emplace_back();
	return packets;
}

Bytes little_endian(std::uint64_t value, unsigned size)
{
	Bytes bytes;
	for (unsigned i = 0; i < size; i++)
		bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
	return bytes;
}

Bytes operand(const std::array<std::uint8_t, 32> &array, unsigned size)
{
	return {array.begin(), array.begin() + size};
}

} // namespace

bool legal(Op op, unsigned flags)
{
	if (flags & ~modifiers_of(op))
		return false;
	if (!(flags & bounded))
		return true;
	if (op == Op::allocate)
		return flags & redirect;
	return flags & indirect;
}

bool holds(unsigned mode, const Bytes &compare, const Bytes &mask, const Bytes &target)
{
	for (std::size_t i = target.size(); i-- > 0;) {
		const unsigned a = compare[i] & mask[i];
		const unsigned b = target[i] & mask[i];
		if (a == b)
			continue;
		if (mode == 0)
			return false;
		return mode == 1 ? a > b : a < b;
	}
	return mode == 0;
}

/* Memory ------------------------------------------------------------------------------------------------------- */

std::uint8_t &World::byte(std::uint64_t va)
{
	for (Arena &arena : arenas)
		if (va - arena.va < arena.bytes.size())
			return arena.bytes[va - arena.va];
	throw std::logic_error("the reference touched memory that is not there");
}

std::uint64_t World::number(std::uint64_t va, unsigned size)
{
	std::uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= std::uint64_t{byte(va + i)} << (8 * i);
	return value;
}

void World::poke(std::uint64_t va, const Bytes &bytes)
{
	for (std::size_t i = 0; i < bytes.size(); i++)
		byte(va + i) = bytes[i];
}

Bytes World::peek(std::uint64_t va, std::uint64_t length)
{
	Bytes bytes;
	for (std::uint64_t i = 0; i < length; i++)
		bytes.push_back(byte(va + i));
	return bytes;
}

void World::move(std::uint64_t to, std::uint64_t from, std::uint64_t length)
{
	const Bytes bytes = peek(from, length);
	if (length && (to - from < length || from - to < length))
		overlap = Overlap{to, length, bytes};
	poke(to, bytes);
}

bool World::covers(int number_, int of_domain, std::uint64_t va, std::uint64_t length) const
{
	if (number_ < 0)
		return false;
	const Region &region = regions[static_cast<std::size_t>(number_)];
	if (!region.live || region.domain != of_domain)
		return false;
	/* In 128 bits nothing wraps. */
	using Wide = unsigned __int128;
	return va >= region.va && Wide{va} + length <= Wide{region.va} + region.length;
}

/** S.5: one hop. */
void World::need(int region, std::uint64_t va, std::uint64_t length, bool Rights::*right) const
{
	if (length == 0)
		return;
	if (!covers(region, domain, va, length) || !(regions[static_cast<std::size_t>(region)].rights.*right))
		throw Fault{Verdict::access_error, Reason::access};
}

/* Format (W.5): the rules in their order ----------------------------------------------------------------------- */

void World::check_first(const Request &request, const std::vector<Bytes> &packets) const
{
	const bool several = packets.size() > 1;
	const auto broken_rule = [](Reason reason) { throw Fault{Verdict::invalid_request, reason}; };

	if (request.op == Op::cas) {
		if (request.size != 8 && request.size != 16 && request.size != 32)
			broken_rule(Reason::operand);
		if (request.mode > 2 || (request.compare_data && !request.has(data_indirect)))
			broken_rule(Reason::operand);
	}
	if (request.carries_payload()) {
		if (!several && request.payload.size() != request.length)
			broken_rule(Reason::format);
		if (several && request.has(indirect))
			broken_rule(Reason::format);
	}
	if (request.op == Op::read || (request.op == Op::write && request.has(data_indirect)))
		if (request.length > max_indirect)
			broken_rule(Reason::format);
	if (request.op == Op::write && request.has(indirect) && request.length > mtu)
		broken_rule(Reason::format);

	const unsigned pointer = request.has(bounded) ? 16 : 8;
	if (request.has(indirect)) {
		if (request.va % pointer)
			broken_rule(Reason::alignment);
	} else if (request.op == Op::cas && request.va % request.size) {
		broken_rule(Reason::alignment);
	}
	if (request.op == Op::allocate && request.has(redirect) && request.aux_va % pointer)
		broken_rule(Reason::alignment);
}

bool World::well_formed(const Request &request) const
{
	if (!legal(request.op, request.flags))
		return false;
	try {
		check_first(request, split(request, mtu));
	} catch (const Fault &) {
		return false;
	}
	return true;
}

void World::check_qp_access(const Request &request) const
{
	bool ok = true;
	if (request.op == Op::read || request.has(indirect) || request.has(data_indirect))
		ok = ok && granted.read;
	if (request.op == Op::write || request.op == Op::allocate || request.has(redirect))
		ok = ok && granted.write;
	if (request.op == Op::cas)
		ok = ok && granted.atomic;
	if (!ok)
		throw Fault{Verdict::invalid_request, Reason::flags};
}

/** Checks one packet of a request. The generator mangles only requests that are otherwise well formed. */
void World::check_format(const Request &request, const std::vector<Bytes> &packets, std::size_t at) const
{
	if (!legal(request.op, request.flags))
		throw Fault{Verdict::invalid_request, Reason::flags};
	if (request.mangle > Mangle::reserved_bits && request.mangled_packet == at)
		throw Fault{Verdict::invalid_request,
			request.mangle == Mangle::other_flags ? Reason::flags : Reason::format};
	if (at == 0)
		check_first(request, packets);
	check_qp_access(request);
	if (packets.size() > 1) {
		std::uint64_t sum = 0;
		for (std::size_t i = 0; i <= at; i++)
			sum += packets[i].size();
		const bool last = at + 1 == packets.size();
		if (sum > request.length || (last && sum != request.length))
			throw Fault{Verdict::invalid_request, Reason::format};
	}
}

/* Execution ---------------------------------------------------------------------------------------------------- */

/** S.2 step 3: finds the address and the number of bytes. */
void World::resolve(const Request &request, Message &message)
{
	message.va = request.va;
	message.length = request.op == Op::cas ? request.size : request.length;
	if (!request.has(indirect))
		return;
	need(request.region, request.va, request.has(bounded) ? 16 : 8, &Rights::read);
	message.va = number(request.va, 8);
	if (message.va == 0)
		throw Unsuccessful{Status::null_pointer};
	if (request.has(bounded))
		message.length = std::min(message.length, number(request.va + 8, 4));
}

int World::entry_error(const FreeList &list, const Entry &entry) const
{
	if (!covers(entry.region, list.domain, entry.va, entry.length))
		return EINVAL;
	const Region &region = regions[static_cast<std::size_t>(entry.region)];
	if (region.generation != entry.generation)
		return EINVAL;
	const Rights &rights = region.rights;
	return rights.local_write && rights.write ? 0 : EACCES;
}

/** S.7.2 */
Entry World::take(const Request &request)
{
	if (request.list == no_list)
		throw Fault{Verdict::access_error, Reason::free_list};
	FreeList &list = lists[static_cast<std::size_t>(request.list)];
	if (!list.is_free_list || list.domain != domain)
		throw Fault{Verdict::access_error, Reason::free_list};
	for (int bad = 0; bad < most_bad_entries; bad++) {
		if (list.entries.empty())
			throw Unsuccessful{Status::no_buffer};
		const Entry entry = list.entries.front();
		const int error = entry_error(list, entry);
		if (!error && entry.length < request.length)
			throw Unsuccessful{Status::no_buffer};
		list.entries.pop_front();
		if (!error) {
			list.popped++;
			return entry;
		}
		list.rejected.push_back({entry.id, error});
	}
	throw Unsuccessful{Status::no_buffer};
}

/** S.2 step 5: checks all remaining hops, before anything changes. */
void World::check_hops(const Request &request, Message &message)
{
	switch (request.op) {
	case Op::read:
		need(request.region, message.va, message.length, &Rights::read);
		if (request.has(redirect))
			need(request.aux_region, request.aux_va, message.length, &Rights::write);
		break;
	case Op::write:
		need(request.region, message.va, message.length, &Rights::write);
		if (request.has(data_indirect))
			need(request.aux_region, request.aux_va, message.length, &Rights::read);
		break;
	case Op::cas:
		if (message.va % request.size)
			throw Fault{Verdict::invalid_request, Reason::alignment};
		if (request.has(data_indirect))
			need(request.aux_region, request.aux_va, request.size, &Rights::read);
		need(request.region, message.va, request.size, &Rights::atomic);
		break;
	default:
		if (request.has(redirect))
			need(request.aux_region, request.aux_va, request.has(bounded) ? 16 : 8, &Rights::write);
		message.buffer = take(request);
		message.has_buffer = true;
		message.va = message.buffer.va;
		break;
	}
}

void World::begin(const Request &request, Message &message)
{
	try {
		if (request.has(conditional) && !chain_ok)
			throw Unsuccessful{Status::skipped};
		resolve(request, message);
		check_hops(request, message);
	} catch (const Unsuccessful &end) {
		message.status = end.status;
	}
}

/** S.2 step 6: does the part of each packet. */
void World::act(const Request &request, Message &message, const Bytes &payload)
{
	if (message.status == Status::ok && request.carries_payload()) {
		const std::uint64_t left = message.length - std::min(message.length, message.done);
		Bytes fitting = payload;
		if (request.op == Op::write && fitting.size() > left)
			fitting.resize(left);
		poke(message.va + message.done, fitting);
	}
	message.done += payload.size();
}

Outcome World::swap(const Request &request, const Message &message)
{
	Outcome outcome;
	const unsigned n = request.size;
	Bytes compare = operand(request.compare, n);
	Bytes fresh = operand(request.swap, n);
	if (request.has(data_indirect)) {
		fresh = peek(request.aux_va, n);
		if (request.compare_data)
			compare = fresh;
	}
	const Bytes old = peek(message.va, n);
	outcome.local = old;
	outcome.byte_len = n;
	if (!holds(request.mode, compare, operand(request.compare_mask, n), old)) {
		outcome.status = Status::cas_miss;
		return outcome;
	}
	Bytes target = old;
	for (unsigned i = 0; i < n; i++)
		target[i] =
			static_cast<std::uint8_t>((old[i] & ~request.swap_mask[i]) | (fresh[i] & request.swap_mask[i]));
	poke(message.va, target);
	return outcome;
}

/** S.2 step 6: does the part of the last packet. */
Outcome World::finish(const Request &request, Message &message)
{
	Outcome outcome;
	outcome.status = message.status;
	if (message.status != Status::ok) {
		if (request.op == Op::allocate)
			outcome.local = little_endian(0, 8);
		return outcome;
	}
	switch (request.op) {
	case Op::read:
		outcome.byte_len = static_cast<std::uint32_t>(message.length);
		if (request.has(redirect))
			move(request.aux_va, message.va, message.length);
		else
			outcome.local = peek(message.va, message.length);
		break;
	case Op::write:
		outcome.byte_len = static_cast<std::uint32_t>(message.length);
		if (request.has(data_indirect))
			move(message.va, request.aux_va, message.length);
		break;
	case Op::cas:
		outcome = swap(request, message);
		break;
	default:
		outcome.byte_len = 8;
		outcome.local = little_endian(message.va, 8);
		if (request.has(redirect))
			poke(request.aux_va, outcome.local);
		if (request.has(bounded)) {
			poke(request.aux_va + 8, little_endian(request.length, 4));
			poke(request.aux_va + 12, little_endian(request.tag, 4));
		}
		break;
	}
	return outcome;
}

Outcome World::run(const Request &request)
{
	const std::vector<Bytes> packets = split(request, mtu);
	Message message;
	try {
		for (std::size_t i = 0; i < packets.size(); i++) {
			check_format(request, packets, i);
			if (i == 0)
				begin(request, message);
			act(request, message, packets[i]);
		}
	} catch (const Fault &) {
		/* S.7.4: an ALLOCATE that is never complete gives its buffer back. */
		if (message.has_buffer) {
			FreeList &list = lists[static_cast<std::size_t>(request.list)];
			message.buffer.taken_back = true;
			list.entries.push_front(message.buffer);
			list.reclaimed++;
		}
		throw;
	}
	return finish(request, message);
}

/** Runs standard requests, of which the walk sends only faultless ones: they matter for chains and for atomicity. */
Outcome World::run_plain(const Request &request)
{
	Outcome outcome;
	if (request.op == Op::plain_write) {
		poke(request.va, request.payload);
		outcome.byte_len = request.length;
		return outcome;
	}
	outcome.byte_len = request.op == Op::plain_read ? request.length : 8;
	outcome.local = peek(request.va, outcome.byte_len);
	const std::uint64_t old = outcome.byte_len == 8 ? number(request.va, 8) : 0;
	const auto value = [](const std::array<std::uint8_t, 32> &bytes) {
		std::uint64_t sum = 0;
		for (unsigned i = 0; i < 8; i++)
			sum |= std::uint64_t{bytes[i]} << (8 * i);
		return sum;
	};
	if (request.op == Op::plain_add)
		poke(request.va, little_endian(old + value(request.compare), 8));
	else if (request.op == Op::plain_swap && old == value(request.compare))
		poke(request.va, little_endian(value(request.swap), 8));
	return outcome;
}

Outcome World::execute(const Request &request)
{
	Outcome outcome;
	overlap.reset();
	if (broken) {
		outcome.verdict = Verdict::flushed;
		return outcome;
	}
	if (request.op >= Op::plain_read) {
		chain_ok = true;
		return run_plain(request);
	}
	try {
		outcome = run(request);
		chain_ok = outcome.status == Status::ok;
	} catch (const Fault &fault) {
		outcome.verdict = fault.verdict;
		outcome.reason = fault.reason;
		broken = true;
	}
	return outcome;
}

void World::reset(const Rights &access)
{
	granted = access;
	chain_ok = true;
	broken = false;
}

} // namespace prism::reference
