/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/api/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "base/recent_clock.hpp"

namespace prism::gam
{

namespace
{

/** Accesses under way together, on the stack of the thread that waits for them. */
constexpr std::size_t at_once = 32;

/** Calls @p visit(address, offset, length) for the part in each block, in order, until it returns an error. */
template <typename Visit>
int for_each_block(Address at, std::size_t bytes, const Visit &visit)
{
	for (std::size_t done = 0; done < bytes;) {
		const Address part = at + done;
		const std::size_t length = std::min(bytes - done, block_size - part.in_block());
		if (const int error = visit(part, done, length))
			return error;
		done += length;
	}
	return 0;
}

/*
 * Orders all earlier accesses of this thread before its next read, as accesses beside the shards take no lock. The
 * thread sanitizer does not support fences, but nothing that it checks depends on this one.
 */
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void fence() noexcept
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
}
#pragma GCC diagnostic pop

} // namespace

/** Writes that have begun but are not performed, each with a copy of its bytes. */
class Session::Writes final : Waiting
{
public:
	Writes(Node &node, ThreadId thread) : node_(node), thread_(thread)
	{
		for (Slot &slot : slots_) {
			slot.access.context = static_cast<Waiting *>(this);
			slot.access.thread = thread; /* so that its own locks do not block it */
		}
	}

	/**
	 * Begins to write @p bytes, within one block, as soon as fewer than @p most writes are under way. Returns 0 or
	 * its error.
	 */
	int begin(Address to, std::span<const std::byte> bytes, std::size_t most, bool uncached, std::uint32_t losses,
		Time room_until)
	{
		node_.wait_until(
			[&] { return under_way_.load(std::memory_order_acquire) < std::max<std::size_t>(most, 1); });
		if (!uncached && losses == any_losses && node_.write_beside(to, bytes, thread_))
			return 0;
		Slot &slot = free_slot();
		Access &access = slot.access;
		access.kind = AccessKind::write;
		access.at = to;
		access.length = static_cast<std::uint16_t>(bytes.size());
		access.uncached = uncached;
		access.losses = losses;
		access.room_until = room_until;
		access.error = 0;
		/* The protocol only reads them. */
		access.bytes = const_cast<std::byte *>(bytes.data());
		const bool over = node_.start(access, [&] {
			std::memcpy(slot.bytes.data(), bytes.data(), bytes.size());
			access.bytes = slot.bytes.data();
			slot.busy.store(true, std::memory_order_relaxed);
			under_way_.fetch_add(1, std::memory_order_relaxed);
		});
		return over ? access.error : 0;
	}

	/** Waits until no more than @p most are under way. */
	void wait(std::size_t most)
	{
		node_.wait_until([&] { return under_way_.load(std::memory_order_acquire) <= most; });
	}

	/** Returns the error of the first write that failed, once. */
	[[nodiscard]] int take_error() noexcept
	{
		return error_.load(std::memory_order_relaxed) ? error_.exchange(0, std::memory_order_relaxed) : 0;
	}
	/** Records @p error for take_error(), unless there is one that tells more. */
	void note(int error) noexcept
	{
		int noted = error_.load(std::memory_order_relaxed);
		while (graver(noted, error) != noted &&
			!error_.compare_exchange_weak(noted, error, std::memory_order_relaxed)) {}
	}

	void ended(Access &access) override
	{
		if (access.error)
			note(access.error);
		reinterpret_cast<Slot &>(access).busy.store(false, std::memory_order_release);
		under_way_.fetch_sub(1, std::memory_order_release);
	}

private:
	struct Slot {
		Access access; /* first member: ended() converts it to the slot */
		std::atomic<bool> busy{false};
		std::array<std::byte, block_size> bytes;
	};

	Slot &free_slot() noexcept
	{
		while (slots_[next_].busy.load(std::memory_order_acquire))
			next_ = (next_ + 1) % slots_.size();
		return slots_[next_];
	}

	Node &node_;
	const ThreadId thread_;
	std::array<Slot, max_writes> slots_;
	std::size_t next_ = 0;
	std::atomic<std::size_t> under_way_{0};
	std::atomic<int> error_{0};
};

Session::Session(Node &node)
	: node_(node), thread_(node.next_thread_.fetch_add(1)),
	  most_writes_(node.options().consistency == Consistency::pso   ? max_writes
		       : node.options().consistency == Consistency::tso ? 1
									: 0),
	  writes_(std::make_unique<Writes>(node, thread_)), random_(thread_ * 0x9e3779b9u + node.self())
{
}

Session::~Session()
{
	if (node_.is_inherited())
		return;
	(void)mfence();
	while (!locked_.empty())
		(void)give_back(locked_.back(), 1);
}

int Session::check(Address at, std::size_t bytes) const noexcept
{
	if (node_.is_inherited())
		return ESTALE;
	const std::uint64_t end = (std::uint64_t{1} << Address::offset_bits) - at.offset();
	if (at.is_null() || bytes == 0 || bytes > end)
		return EINVAL;
	return node_.is_member(at.home()) || node_.is_away(at.home()) ? 0 : after(EHOSTUNREACH);
}

Time Session::room_until() const noexcept
{
	constexpr auto patience = std::chrono::seconds(1);
	return locked_.empty() ? Time::max() : RecentClock::now().time_since_epoch() + patience;
}

/** Begins an access. Returns true if it has already ended; else another thread may end it before this returns. */
bool Session::begin(Awaited &awaited)
{
	awaited.access.thread = thread_;
	awaited.access.room_until = room_until();
	awaited.access.uncached = !node_.options().cached;
	if (awaited.access.kind != AccessKind::unlock)
		awaited.access.losses = losses_;
	if (!node_.start(awaited.access))
		return false;
	awaited.done = true;
	return true;
}

int Session::run(Awaited &awaited)
{
	if (!begin(awaited))
		node_.wait_until([&] { return awaited.is_done(); });
	return awaited.access.error;
}

int Session::read(Address from, std::span<std::byte> into)
{
	if (const int wrong = check(from, into.size()))
		return wrong;
	const int error = for_each_block(from, into.size(), [&](Address part, std::size_t offset, std::size_t length) {
		if (node_.options().cached && node_.read_beside(part, into.subspan(offset, length), thread_))
			return 0;
		Awaited read;
		read.access.kind = AccessKind::read;
		read.access.at = part;
		read.access.length = static_cast<std::uint16_t>(length);
		read.access.bytes = into.data() + offset;
		return run(read);
	});
	/* Behind it, for what was read beside the shards. */
	return after(error ? error : check_bound(from.home()));
}

int Session::write(Address to, std::span<const std::byte> bytes)
{
	if (const int error = check(to, bytes.size()))
		return error;
	has_written_ = true;
	int error = 0;
	/* Goes on after an error of a log: what it does not take is done all the same, and so must be the rest. */
	(void)for_each_block(to, bytes.size(), [&](Address part, std::size_t offset, std::size_t length) {
		error = graver(error, writes_->begin(part, bytes.subspan(offset, length), most_writes_,
					      !node_.options().cached, losses_, room_until()));
		return is_of_log(error) ? 0 : error;
	});
	if (most_writes_ > 0 || (error && !is_of_log(error)))
		return after(error);
	return after(graver(error, mfence()));
}

int Session::settle()
{
	if (node_.is_inherited())
		return ESTALE;
	writes_->wait(0);
	fence();
	return after(writes_->take_error());
}

int Session::mfence()
{
	if (node_.is_inherited())
		return ESTALE;
	const int error = settle();
	return after(graver(error, wait_for_log()));
}

int Session::wait_for_log()
{
	return std::exchange(has_written_, false) ? node_.wait_for_log() : 0;
}

int Session::atomic(Address at, std::size_t length, Function function, std::uint64_t operand, std::uint64_t &old,
	std::uint64_t compare)
{
	if (!std::has_single_bit(length) || length > sizeof(old) || at.value % length)
		return EINVAL;
	if (const int error = check(at, length))
		return error;
	if (const int error = mfence())
		return error;
	Awaited atomic;
	atomic.access.kind = AccessKind::atomic;
	atomic.access.function = function;
	atomic.access.at = at;
	atomic.access.length = static_cast<std::uint16_t>(length);
	atomic.access.operand = operand;
	atomic.access.compare = compare;
	has_written_ = true;
	int error = run(atomic);
	fence();
	old = atomic.access.old_value;
	error = error ? error : wait_for_log();
	return after(error);
}

/** Makes room for the names of @p blocks more locks: a lock that is not noted is never given back. */
int Session::make_room(std::size_t blocks) noexcept
try {
	if (locked_.capacity() - locked_.size() < blocks)
		locked_.reserve(std::max(locked_.size() + blocks, 2 * locked_.size()));
	return 0;
} catch (const std::bad_alloc &) {
	return ENOMEM;
}

int Session::lock(AccessKind kind, Address at, std::size_t bytes, bool tries)
{
	if (const int error = check(at, bytes))
		return error;
	const Address first = at.block();
	const std::size_t blocks = (at.in_block() + bytes + block_size - 1) / block_size;
	if (blocks > max_locked_blocks)
		return E2BIG;
	if (const int error = make_room(blocks))
		return error;
	if (const int error = mfence())
		return error;
	for (std::size_t i = 0; i < blocks; i++) {
		Awaited lock;
		lock.access.kind = kind;
		lock.access.tries = tries;
		lock.access.at = first + i * block_size;
		if (const int error = run(lock)) {
			(void)give_back(first, i);
			return after(error);
		}
		locked_.push_back(lock.access.at);
	}
	fence();
	if (const int stale = after(0)) {
		(void)give_back(first, blocks);
		return stale;
	}
	return 0;
}

int Session::try_lock_all(AccessKind kind, std::span<const Address> at)
{
	for (const Address one : at) {
		if (const int error = check(one, 1))
			return error;
	}
	if (const int error = make_room(at.size()))
		return error;
	if (const int error = mfence())
		return error;
	const std::size_t before = locked_.size();
	int error = 0;
	for (std::size_t tried = 0; tried < at.size() && !error; tried += at_once)
		error = try_at_once(kind, at.subspan(tried, std::min(at_once, at.size() - tried)));
	fence();
	error = after(error);
	while (error && locked_.size() > before)
		(void)give_back(locked_.back(), 1);
	return error;
}

/**
 * Tries the locks of the blocks @p at together, and keeps those it gets even if others fail. Returns the first error.
 */
int Session::try_at_once(AccessKind kind, std::span<const Address> at)
{
	std::array<Awaited, at_once> tries;
	for (std::size_t i = 0; i < at.size(); i++) {
		Access &access = tries[i].access;
		access.kind = kind;
		access.tries = true;
		access.at = at[i].block();
		(void)begin(tries[i]);
	}
	int first_error = 0;
	for (std::size_t i = 0; i < at.size(); i++) {
		node_.wait_until([&] { return tries[i].is_done(); });
		const Access &access = tries[i].access;
		if (!access.error)
			locked_.push_back(access.at);
		first_error = first_error ? first_error : access.error;
	}
	return first_error;
}

int Session::unlock(Address at, std::size_t bytes)
{
	const int wrong = check(at, bytes);
	if (wrong == EINVAL || node_.is_inherited())
		return wrong;
	const int fenced = mfence();
	const std::size_t blocks = (at.in_block() + bytes + block_size - 1) / block_size;
	const int error =
		blocks > locked_.size() ? give_back_held(at.block(), at + bytes) : give_back(at.block(), blocks);
	fence();
	if (error && fenced)
		writes_->note(fenced); /* the next fence tells it */
	return error ? error : fenced;
}

/** Releases the held locks of a range that has more blocks than are held, perhaps more than can exist. */
int Session::give_back_held(Address first, Address end)
{
	std::vector<Address> held;
	std::copy_if(locked_.begin(), locked_.end(), std::back_inserter(held),
		[&](Address block) { return block >= first && block < end; });
	for (auto block = held.rbegin(); block != held.rend(); ++block)
		(void)give_back(*block, 1);
	return after(EPERM);
}

/**
 * Releases all these locks, even if one fails. Backwards, as the last one locked is found fastest. Returns the error of
 * one that failed.
 */
int Session::give_back(Address first, std::size_t blocks)
{
	int failed = 0;
	while (blocks--) {
		Awaited unlock;
		unlock.access.kind = AccessKind::unlock;
		unlock.access.at = first + blocks * block_size;
		const int error = run(unlock);
		failed = failed ? failed : error;
		const auto held = std::find(locked_.rbegin(), locked_.rend(), unlock.access.at);
		if (held != locked_.rend())
			locked_.erase(std::next(held).base());
	}
	return after(failed);
}

int Session::write_back(Address at, std::size_t bytes)
{
	if (const int error = check(at, bytes))
		return error;
	int error = mfence();
	const std::size_t blocks = (at.in_block() + bytes + block_size - 1) / block_size;
	for (std::size_t done = 0; done < blocks && !error; done += at_once)
		error = write_back_at_once(at.block() + done * block_size, std::min(at_once, blocks - done));
	return after(error);
}

/** Writes back @p blocks blocks from @p first on, all at once. Returns the first error. */
int Session::write_back_at_once(Address first, std::size_t blocks)
{
	std::array<Awaited, at_once> under_way;
	for (std::size_t i = 0; i < blocks; i++) {
		under_way[i].access.kind = AccessKind::write_back;
		under_way[i].access.at = first + i * block_size;
		(void)begin(under_way[i]);
	}
	int first_error = 0;
	for (std::size_t i = 0; i < blocks; i++) {
		node_.wait_until([&] { return under_way[i].is_done(); });
		first_error = first_error ? first_error : under_way[i].access.error;
	}
	return first_error;
}

NodeId Session::choose(const Placement &where)
{
	switch (where.rule) {
	case Placement::Rule::local:
		return node_.self();
	case Placement::Rule::near:
		return where.base.home();
	case Placement::Rule::random: {
		const std::vector<NodeId> members = node_.members();
		return members.empty() ? node_.self() : members[random_() % members.size()]; /* the lease is over */
	}
	case Placement::Rule::remote:
		break;
	}
	NodeId best = node_.self();
	for (const NodeId member : node_.members()) {
		if (member != node_.self() && (best == node_.self() || node_.available(member) > node_.available(best)))
			best = member;
	}
	return best;
}

int Session::ask(HomeRequest &request)
{
	if (!node_.is_member(request.to))
		return EHOSTUNREACH;
	request.losses = losses_;
	node_.home_.begin(request);
	node_.wait_until([&] { return request.done.load(std::memory_order_acquire); });
	return request.error;
}

int Session::malloc(std::size_t bytes, Address &address, const Placement &where, std::size_t alignment)
{
	if (node_.is_inherited())
		return ESTALE;
	if (!std::has_single_bit(alignment) || alignment > Allocator::max_alignment)
		return EINVAL;
	HomeRequest request;
	request.type = HomeMessage::malloc;
	request.counter = bytes;
	request.alignment = static_cast<std::uint8_t>(std::countr_zero(alignment));
	request.to = choose(where);
	if (where.rule == Placement::Rule::remote && request.to == node_.self())
		return after(EHOSTUNREACH); /* there is no other */
	const int error = ask(request);
	address = Address(error ? 0 : request.result);
	return after(error);
}

int Session::free(Address address)
{
	if (address.is_null())
		return EINVAL;
	if (const int error = mfence())
		return error;
	HomeRequest request;
	request.type = HomeMessage::free;
	request.counter = address.value;
	request.to = address.home();
	return after(ask(request));
}

Session::AsyncRead::AsyncRead(Session &session, Address from, std::span<std::byte> into) : session_(session)
{
	Access &access = awaited_.access;
	access.kind = AccessKind::read;
	access.at = from;
	access.length = static_cast<std::uint16_t>(into.size());
	access.bytes = into.data();
	access.error = session.check(from, into.size());
	if (!access.error && from.in_block() + into.size() > block_size)
		access.error = EINVAL;
	if (access.error)
		awaited_.done = true;
	else
		(void)session.begin(awaited_);
}

/** Waits for the end of the read, so that its bytes are not written afterwards. */
Session::AsyncRead::~AsyncRead()
{
	session_.node_.wait_until([this] { return awaited_.is_done(); });
	if (is_awaited_)
		std::erase(session_.reads_, this);
}

Session::AsyncRead Session::async_read(Address from, std::span<std::byte> into)
{
	return {*this, from, into};
}

bool Session::poll()
{
	bool happened = node_.poll();
	for (std::size_t i = 0; i < reads_.size();) {
		AsyncRead *const read = reads_[i];
		if (!read->awaited_.is_done()) {
			i++;
			continue;
		}
		reads_[i] = reads_.back();
		reads_.pop_back();
		read->is_awaited_ = false;
		read->handle_.resume();
		happened = true;
	}
	return happened;
}

} // namespace prism::gam
