/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * core/ alone: requests are encoded to packets, decoded, and executed over arrays. The memory environment is strict: it
 * checks that spans are given back, that nothing is accessed outside one, and that the block lock covers every access
 * that core calls atomic.
 */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "backend.hpp"

extern "C" {
#include "prism_exec.h"
}

namespace prism::conformance
{

using reference::Entry;
using reference::Mangle;
using reference::Op;
using reference::Outcome;
using reference::Reason;
using reference::Region;
using reference::Request;
using reference::Status;
using reference::Verdict;

namespace
{

constexpr std::uint32_t bad_key = 0xdeadbe;

struct List {
	reference::FreeList description;
	std::deque<Entry> entries;
	ListState state;
	std::vector<reference::Rejected> rejected;
};

class ExecutorBackend final : public Backend
{
public:
	[[nodiscard]] const char *name() const override { return "executor"; }
	[[nodiscard]] bool mangles() const override { return true; }
	void build(reference::World &world) override;
	void reset(const reference::Rights &access) override;
	void poke(std::uint64_t va, const Bytes &bytes) override;
	void set_live(int region, bool live) override
	{
		Region &of = regions_[static_cast<std::size_t>(region)];
		of.live = live;
		of.generation += live;
	}
	bool post(int list, const Entry &entry) override;
	std::vector<Outcome> run(std::span<const Request> requests) override;
	[[nodiscard]] std::span<const std::uint8_t> memory(std::size_t arena) const override
	{
		return arenas_[arena].bytes;
	}
	[[nodiscard]] ListState list_state(int list) override;
	[[nodiscard]] std::vector<reference::Rejected> take_rejected(int list) override;
	[[nodiscard]] std::optional<bool> chain_ok() const override { return chain_ok_; }
	[[nodiscard]] std::string complaint() override;

private:
	static ExecutorBackend &self(void *ctx) { return *static_cast<ExecutorBackend *>(ctx); }
	static bool get(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, prism_span *span);
	static void put(void *ctx, prism_span *span);
	static void load(void *ctx, const prism_span *span, u32 offset, void *to, u32 length);
	static void store(void *ctx, const prism_span *span, u32 offset, const void *from, u32 length);
	static void copy(void *ctx, const prism_span *to, const prism_span *from, u32 length);
	static void lock(void *ctx, const prism_span *span, u32 offset, u32 length);
	static void unlock(void *ctx, const prism_span *span, u32 offset, u32 length);
	static prism_pop pop(void *ctx, u32 free_list, u32 length, prism_buffer *buffer);
	static void give_back(void *ctx, prism_buffer *buffer);

	[[nodiscard]] std::uint32_t key_of(int region, unsigned generation) const
	{
		return region < 0 ? bad_key : static_cast<std::uint32_t>(region + 1) << 8 | (generation & 0xff);
	}
	[[nodiscard]] std::uint32_t key_of(int region) const
	{
		return key_of(region, region < 0 ? 0 : regions_[static_cast<std::size_t>(region)].generation);
	}
	Region *find(std::uint32_t key, int domain, std::uint64_t va, std::uint64_t length);
	std::uint8_t *at(const prism_span &span, std::uint32_t offset, std::uint32_t length);
	void complain(const char *what)
	{
		if (complaint_.empty())
			complaint_ = what;
	}

	Outcome execute(const Request &request);
	Outcome execute_plain(const Request &request);
	Outcome outcome_of(const Request &request, const prism_result &result);
	bool packet(const Request &request, prism_request &fields, std::uint32_t index, Outcome &outcome,
		prism_result &result);

	static constexpr prism_env env_{get, put, load, store, copy, lock, unlock, pop, give_back};

	std::uint32_t mtu_ = 0;
	std::uint32_t max_indirect_ = 0;
	int domain_ = 1;
	std::vector<reference::Arena> arenas_;
	std::vector<Region> regions_;
	std::vector<List> lists_;
	bool chain_ok_ = true;
	bool broken_ = false;
	prism_message message_{};
	int spans_ = 0;
	std::uint64_t locked_ = 0; /* address of the locked block, plus one */
	std::string complaint_;
	std::uint8_t operands_[4 * 32]{};
	std::vector<std::uint8_t> bytes_;
};

/* The environment ---------------------------------------------------------------------------------------------- */

Region *ExecutorBackend::find(std::uint32_t key, int domain, std::uint64_t va, std::uint64_t length)
{
	const std::size_t index = (key >> 8) - 1;
	if (index >= regions_.size() || key != key_of(static_cast<int>(index)))
		return nullptr;
	Region &region = regions_[index];
	if (!region.live || region.domain != domain)
		return nullptr;
	if (va < region.va || length > region.length || va - region.va > region.length - length)
		return nullptr;
	return &region;
}

bool ExecutorBackend::get(void *ctx, u32 rkey, u64 va, u32 length, u32 rights, prism_span *span)
{
	*span = {nullptr, va, length};
	if (!length)
		return true;
	Region *region = self(ctx).find(rkey, self(ctx).domain_, va, length);
	if (!region)
		return false;
	if (((rights & PRISM_RIGHT_READ) && !region->rights.read) ||
		((rights & PRISM_RIGHT_WRITE) && !region->rights.write) ||
		((rights & PRISM_RIGHT_ATOMIC) && !region->rights.atomic))
		return false;
	span->region = region;
	self(ctx).spans_++;
	return true;
}

void ExecutorBackend::put(void *ctx, prism_span *span)
{
	if (!span->region)
		return;
	self(ctx).spans_--;
	span->region = nullptr;
}

std::uint8_t *ExecutorBackend::at(const prism_span &span, std::uint32_t offset, std::uint32_t length)
{
	if (offset > span.length || length > span.length - offset)
		complain("access outside a span");
	if (!length)
		return operands_;
	if (!span.region) {
		complain("access to a span that is not held");
		return operands_;
	}
	const std::uint64_t va = span.va + offset;
	if (locked_ && (va / PRISM_BLOCK != (locked_ - 1) / PRISM_BLOCK ||
			       (va + length - 1) / PRISM_BLOCK != (locked_ - 1) / PRISM_BLOCK))
		complain("access outside the locked block");
	if (!locked_ && va / PRISM_BLOCK == (va + length - 1) / PRISM_BLOCK)
		complain("access inside one block without its lock");
	reference::Arena &arena = arenas_[static_cast<const Region *>(span.region)->arena];
	return arena.bytes.data() + (va - arena.va);
}

void ExecutorBackend::load(void *ctx, const prism_span *span, u32 offset, void *to, u32 length)
{
	const std::uint8_t *from = self(ctx).at(*span, offset, length);
	std::copy_n(from, length, static_cast<std::uint8_t *>(to));
}

void ExecutorBackend::store(void *ctx, const prism_span *span, u32 offset, const void *from, u32 length)
{
	std::copy_n(static_cast<const std::uint8_t *>(from), length, self(ctx).at(*span, offset, length));
}

void ExecutorBackend::copy(void *ctx, const prism_span *to, const prism_span *from, u32 length)
{
	std::memmove(self(ctx).at(*to, 0, length), self(ctx).at(*from, 0, length), length);
}

void ExecutorBackend::lock(void *ctx, const prism_span *span, u32 offset, u32 length)
{
	ExecutorBackend &me = self(ctx);
	const std::uint64_t va = span->va + offset;
	if (me.locked_)
		me.complain("two block locks at once");
	if (!length || va / PRISM_BLOCK != (va + length - 1) / PRISM_BLOCK)
		me.complain("a lock over more than one block");
	me.locked_ = va / PRISM_BLOCK * PRISM_BLOCK + 1;
}

void ExecutorBackend::unlock(void *ctx, const prism_span *span, u32 offset, u32)
{
	if (self(ctx).locked_ != (span->va + offset) / PRISM_BLOCK * PRISM_BLOCK + 1)
		self(ctx).complain("unlock of a block that is not locked");
	self(ctx).locked_ = 0;
}

prism_pop ExecutorBackend::pop(void *ctx, u32 free_list, u32 length, prism_buffer *buffer)
{
	ExecutorBackend &me = self(ctx);
	if (free_list >= me.lists_.size())
		return PRISM_POP_NO_LIST;
	List &list = me.lists_[free_list];
	if (!list.description.is_free_list || list.description.domain != me.domain_)
		return PRISM_POP_NO_LIST;
	for (int tries = 0; tries < 8; tries++) {
		if (list.entries.empty())
			return PRISM_POP_EMPTY;
		const Entry entry = list.entries.front();
		const std::uint32_t key = me.key_of(entry.region, entry.generation);
		const Region *region = me.find(key, me.domain_, entry.va, entry.length);
		const bool good = region && region->rights.local_write && region->rights.write;
		if (good && entry.length < length)
			return PRISM_POP_TOO_LARGE;
		list.entries.pop_front();
		if (good) {
			list.state.popped++;
			*buffer = {entry.va, entry.length, key, free_list, entry.id};
			return PRISM_POP_OK;
		}
		list.state.rejected++;
		list.rejected.push_back({entry.id, region ? EACCES : EINVAL});
	}
	return PRISM_POP_EMPTY;
}

void ExecutorBackend::give_back(void *ctx, prism_buffer *buffer)
{
	List &list = self(ctx).lists_[buffer->free_list];
	const int region = static_cast<int>(buffer->key >> 8) - 1;
	list.entries.push_front({buffer->wr_id, buffer->va, buffer->length, region, buffer->key & 0xff, true});
	list.state.reclaimed++;
}

/* The world ---------------------------------------------------------------------------------------------------- */

void ExecutorBackend::build(reference::World &world)
{
	mtu_ = world.mtu;
	max_indirect_ = world.max_indirect;
	domain_ = world.domain;
	arenas_ = world.arenas;
	regions_ = world.regions;
	for (const reference::FreeList &list : world.lists)
		lists_.push_back({list, {}, {}, {}});
}

void ExecutorBackend::reset(const reference::Rights &)
{
	prism_message_abort(&env_, this, &message_);
	chain_ok_ = true;
	broken_ = false;
}

void ExecutorBackend::poke(std::uint64_t va, const Bytes &bytes)
{
	for (reference::Arena &arena : arenas_)
		if (va - arena.va < arena.bytes.size())
			std::copy(bytes.begin(), bytes.end(),
				arena.bytes.begin() + static_cast<std::ptrdiff_t>(va - arena.va));
}

bool ExecutorBackend::post(int list, const Entry &entry)
{
	List &to = lists_[static_cast<std::size_t>(list)];
	if (std::count_if(to.entries.begin(), to.entries.end(), [](const Entry &e) { return !e.taken_back; }) ==
		to.description.capacity)
		return false;
	to.entries.push_back(entry);
	to.state.posted++;
	return true;
}

ListState ExecutorBackend::list_state(int list)
{
	List &of = lists_[static_cast<std::size_t>(list)];
	of.state.available = of.entries.size();
	return of.state;
}

std::vector<reference::Rejected> ExecutorBackend::take_rejected(int list)
{
	return std::exchange(lists_[static_cast<std::size_t>(list)].rejected, {});
}

std::string ExecutorBackend::complaint()
{
	if (spans_)
		complain("a span was not given back");
	if (locked_)
		complain("a block stays locked");
	return complaint_;
}

/* Requests ----------------------------------------------------------------------------------------------------- */

Reason reason_of(prism_reject reject)
{
	switch (reject) {
	case PRISM_BAD_FLAGS:
		return Reason::flags;
	case PRISM_BAD_OPERAND:
		return Reason::operand;
	case PRISM_BAD_ALIGNMENT:
		return Reason::alignment;
	default:
		return Reason::format;
	}
}

void set_fault(Outcome &outcome, unsigned fault)
{
	const bool invalid = fault == PRISM_FAULT_INVALID;
	outcome.verdict = invalid ? Verdict::invalid_request : Verdict::access_error;
	switch (fault) {
	case PRISM_FAULT_INVALID:
		outcome.reason = Reason::alignment;
		break;
	case PRISM_FAULT_FREE_LIST:
		outcome.reason = Reason::free_list;
		break;
	default:
		outcome.reason = Reason::access;
		break;
	}
}

Outcome ExecutorBackend::outcome_of(const Request &request, const prism_result &result)
{
	Outcome outcome;
	outcome.status = static_cast<Status>(result.status);
	const bool ok = result.status == PRISM_STATUS_OK;
	switch (request.op) {
	case Op::read:
		outcome.byte_len = static_cast<std::uint32_t>(result.reads ? result.read_length : result.value);
		if (result.reads && result.read_length)
			for (const reference::Arena &arena : arenas_)
				if (result.read_va - arena.va < arena.bytes.size()) {
					const std::uint8_t *from = arena.bytes.data() + (result.read_va - arena.va);
					outcome.local.assign(from, from + result.read_length);
				}
		break;
	case Op::cas:
		if (ok || result.status == PRISM_STATUS_CAS_MISS) {
			outcome.byte_len = request.size;
			outcome.local.assign(result.bytes, result.bytes + request.size);
		}
		break;
	case Op::allocate:
		outcome.byte_len = ok ? 8 : 0;
		outcome.local.resize(8);
		put_unaligned_le64(result.value, outcome.local.data());
		break;
	default:
		outcome.byte_len = static_cast<std::uint32_t>(result.value);
		break;
	}
	return outcome;
}

/** Encodes, mangles, decodes and executes one packet; returns false when a fault ends the request. */
bool ExecutorBackend::packet(
	const Request &request, prism_request &fields, std::uint32_t index, Outcome &outcome, prism_result &result)
{
	const std::uint32_t offset = index * mtu_;
	const std::uint32_t total = request.carries_payload() ? static_cast<std::uint32_t>(request.payload.size()) : 0;
	const std::uint32_t n = std::min(mtu_, total - offset);
	fields.first = index == 0;
	fields.last = offset + n == total;
	const std::uint32_t header = prism_request_header_size(&fields);
	const std::uint32_t pad = -n & 3;
	bytes_.assign(header + n + pad, 0);
	prism_bth bth{};
	bth.opcode = prism_request_opcode(&fields);
	bth.flags = fields.flags;
	bth.pad = static_cast<u8>(pad);
	prism_bth_encode(bytes_.data(), &bth);
	prism_request_encode(bytes_.data(), &fields);
	if (n)
		std::copy_n(request.payload.begin() + offset, n, bytes_.begin() + header);
	if (request.mangle != Mangle::none && request.mangled_packet == index)
		mangle_packet(bytes_, request.mangle);

	prism_request decoded{};
	prism_reject reject =
		prism_request_decode(bytes_.data(), static_cast<u32>(bytes_.size()), mtu_, max_indirect_, &decoded);
	if (!reject) {
		if (decoded.first && decoded.last && !message_.active)
			prism_execute(&env_, this, &decoded, chain_ok_, &result);
		else
			reject = prism_message_packet(&env_, this, &message_, &decoded, chain_ok_, &result);
	}
	if (reject) {
		outcome.verdict = Verdict::invalid_request;
		outcome.reason = reason_of(reject);
	} else if (result.fault) {
		set_fault(outcome, result.fault);
	}
	return outcome.verdict == Verdict::completed;
}

Outcome ExecutorBackend::execute(const Request &request)
{
	Outcome outcome;
	prism_result result{};
	prism_request fields = to_wire(request,
		{key_of(request.region), key_of(request.aux_region), static_cast<u32>(request.list) & PRISM_QPN_MASK},
		operands_);
	const std::uint32_t total = request.carries_payload() ? static_cast<std::uint32_t>(request.payload.size()) : 0;
	const std::uint32_t packets = total ? (total - 1) / mtu_ + 1 : 1;
	for (std::uint32_t i = 0; i < packets; i++)
		if (!packet(request, fields, i, outcome, result)) {
			broken_ = true;
			prism_message_abort(&env_, this, &message_);
			return outcome;
		}
	chain_ok_ = result.status == PRISM_STATUS_OK;
	return outcome_of(request, result);
}

/**
 * Executes a standard request, which is not part of core: it is here for its effect on the chain state and on memory.
 */
Outcome ExecutorBackend::execute_plain(const Request &request)
{
	Outcome outcome;
	chain_ok_ = true;
	if (request.op == Op::plain_write) {
		poke(request.va, request.payload);
		outcome.byte_len = request.length;
		return outcome;
	}
	outcome.byte_len = request.op == Op::plain_read ? request.length : 8;
	reference::Arena &arena = arenas_[regions_[static_cast<std::size_t>(request.region)].arena];
	std::uint8_t *target = arena.bytes.data() + (request.va - arena.va);
	outcome.local.assign(target, target + outcome.byte_len);
	if (request.op == Op::plain_add)
		put_unaligned_le64(get_unaligned_le64(target) + get_unaligned_le64(request.compare.data()), target);
	else if (request.op == Op::plain_swap &&
		 get_unaligned_le64(target) == get_unaligned_le64(request.compare.data()))
		put_unaligned_le64(get_unaligned_le64(request.swap.data()), target);
	return outcome;
}

std::vector<Outcome> ExecutorBackend::run(std::span<const Request> requests)
{
	std::vector<Outcome> outcomes;
	for (const Request &request : requests) {
		if (broken_) {
			Outcome flushed;
			flushed.verdict = Verdict::flushed;
			outcomes.push_back(flushed);
		} else if (request.op >= Op::plain_read) {
			outcomes.push_back(execute_plain(request));
		} else {
			outcomes.push_back(execute(request));
		}
	}
	return outcomes;
}

} // namespace

std::unique_ptr<Backend> make_executor_backend()
{
	return std::make_unique<ExecutorBackend>();
}

} // namespace prism::conformance
