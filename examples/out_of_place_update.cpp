/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Changing a value that others read at the same time, without the server's processor: write the new value to a fresh
 * buffer, then swing the pointer. ALLOCATE and CAS in one chain, one round trip.
 *
 * Readers follow the pointer by an indirect READ and always see a whole value. Buffers that fall out of use are
 * reported to the server in batches.
 *
 *     $ build/bin/examples/out_of_place_update --self
 *
 * or as two processes: "server", and "client HOST".
 */
#include "example.hpp"

#include <array>
#include <thread>

namespace
{

using namespace prism;

constexpr std::uint32_t slots = 8;
constexpr std::uint32_t buffer_size = 64;
constexpr std::uint32_t buffers = 64;
constexpr std::uint32_t updates = 1000;
enum : std::uint32_t {
	table_id = 1,
	scratch_id = 2
};

/* The server ------------------------------------------------------------------------------------------------------- */

/* Connects, and puts freed buffers back into the list, by the server's processor */
void server(TcpListener listener)
{
	const Context context = example::must(Context::open());
	const ProtectionDomain pd = example::must(ProtectionDomain::create(context));
	FreeListOptions sizes;
	sizes.buffer_size = buffer_size;
	sizes.count = buffers;
	sizes.table_size = slots * sizeof(prismdv_bounded_ptr);
	FreeList list = example::must(FreeList::create(pd, sizes));
	const DeviceMemory scratch = example::must(DeviceMemory::create(pd, sizeof(prismdv_bounded_ptr)));
	Reclaimer reclaimer = example::must(Reclaimer::create(pd));
	reclaimer.serve(list);

	const CompletionQueue cq = example::must(CompletionQueue::create(context, 16));
	QueuePairOptions options;
	options.srq = reclaimer.receive_queue();
	QueuePair qp = example::must(QueuePair::create(pd, cq, reclaimer.completion_queue(), options));
	TcpRendezvous client = example::must(listener.accept(example::patience));
	ConnectionRecord mine;
	mine.free_lists = {list.info()};
	mine.regions = {{table_id, list.table()}, {scratch_id, scratch.remote()}};
	example::must(establish(client, qp, mine, example::patience));
	example::serve_until_gone(client, [&] { reclaimer.poll(); });

	/* Every update but the first of each slot has replaced a buffer. */
	const std::uint64_t expected = updates - slots;
	std::printf("server: %llu buffers came back of %llu\n", static_cast<unsigned long long>(list.stats().released),
		static_cast<unsigned long long>(expected));
	if (list.stats().released != expected || reclaimer.stats().refused)
		example::give_up("buffers were lost");
}

/* The client ------------------------------------------------------------------------------------------------------- */

/* Memory for the device's answers. */
struct Answers {
	prismdv_bounded_ptr old_pointer;
	std::uint64_t new_address;
	char value[buffer_size];
};

class Store
{
public:
	Store(QueuePair &pair, const ConnectionRecord &server, const Buffer &local)
		: qp_(pair), table_(server.region(table_id)->region), scratch_(server.region(scratch_id)->region),
		  list_(server.free_lists.front()), memory_(local),
		  freed_(example::must(FreeReporter::create(pair, server.free_lists.front().number)))
	{
	}

	std::string get(std::uint32_t slot)
	{
		const LocalSlice into = memory_.slice(offsetof(Answers, value), buffer_size);
		/* The bound in the pointer is the length of the value. */
		example::must(Chain{}.read(place(slot), into).indirect_bounded().post(qp_, 1), "READ");
		const Completion completion = example::wait(qp_);
		return completion.ok() ? std::string(answers().value, completion.byte_len) : std::string();
	}

	void put(std::uint32_t slot, const std::string &value)
	{
		for (;;) {
			const Completion completion = try_put(slot, value, known_[slot]);
			if (completion.ok()) {
				release(known_[slot]);
				known_[slot] = answers().new_address;
				return;
			}
			if (completion.status == Status::cas_miss) {
				/* Another client was faster. Now its pointer is known, and the new buffer is not
				 * needed. */
				release(answers().new_address);
				known_[slot] = answers().old_pointer.ptr;
			} else {
				/* No buffer, so the CAS was skipped. Report the unneeded ones, and give the server
				 * time. */
				flush();
				std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
		}
	}

	/* Returns when the server has everything that was reported so far. */
	void flush()
	{
		example::must(freed_.flush(2), "report of freed buffers");
		example::wait(qp_);
	}

private:
	/* Posts the chain: value to a new buffer, its bounded pointer to the scratch memory, from there into the
	 * slot. */
	Completion try_put(std::uint32_t slot, const std::string &value, std::uint64_t expected)
	{
		const prismdv_bounded_ptr compare{expected, 0, 0};
		Chain chain;
		chain.allocate(list_.number, std::as_bytes(std::span(value)))
			.redirect_bounded(scratch_.at())
			.result(memory_.slice(offsetof(Answers, new_address), 8));
		chain.cas(place(slot), Cas::bytes(CasMode::equal, compare, compare).compare_only(0, 8),
			     memory_.slice(offsetof(Answers, old_pointer), 16))
			.data_indirect(scratch_.at())
			.conditional();
		example::must(chain.post(qp_, 3), "update");
		return example::wait(qp_);
	}

	void release(std::uint64_t address)
	{
		if (address)
			example::must(freed_.report(address), "report of a freed buffer");
	}

	RemoteAddress place(std::uint32_t slot) const { return table_.at(slot * sizeof(prismdv_bounded_ptr)); }
	const Answers &answers() const { return *memory_.as<Answers>(); }

	QueuePair &qp_;
	RemoteRegion table_;
	RemoteRegion scratch_;
	FreeListInfo list_;
	const Buffer &memory_;
	FreeReporter freed_;
	std::array<std::uint64_t, slots> known_{}; /* last seen by this client, by slot */
};

void client(const std::string &host, std::uint16_t port)
{
	const Context context = example::must(Context::open({}, Progress::caller));
	const ProtectionDomain pd = example::must(ProtectionDomain::create(context));
	const CompletionQueue cq = example::must(CompletionQueue::create(context, 16));
	QueuePair qp = example::must(QueuePair::create(pd, cq, cq));
	TcpRendezvous server = example::must(TcpRendezvous::connect(host, port, example::patience));
	const ConnectionRecord peer = example::must(establish(server, qp, {}, example::patience));
	if (!peer.region(table_id) || !peer.region(scratch_id) || peer.free_lists.empty())
		example::give_up("the server shares no table, no scratch or no free list");

	const Buffer memory = example::must(Buffer::create(pd, sizeof(Answers)));
	Store store(qp, peer, memory);
	for (std::uint32_t i = 0; i < updates; i++) {
		const std::string value = "value " + std::to_string(i);
		store.put(i % slots, value);
		if (store.get(i % slots) != value)
			example::give_up("read something else than was written");
	}
	store.flush();
	std::printf("client: %u updates with %u buffers, each in one round trip\n", updates, buffers);
}

} // namespace

int main(int argc, char **argv)
{
	return example::run(argc, argv, server, client);
}
