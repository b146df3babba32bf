/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Following a pointer in another machine's memory: two READs, or one indirect READ.
 *
 * The server has a table of pointers to 64-byte objects and then does nothing: its device serves the client.
 *
 *     $ build/bin/examples/pointer_chase --self
 *
 * or as two processes: "server", and "client HOST".
 */
#include "example.hpp"

#include <algorithm>
#include <vector>

namespace
{

using namespace prism;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t objects = 1024;
constexpr std::uint32_t object_size = 64;
constexpr int rounds = 5000;
enum : std::uint32_t {
	memory_id = 1
};

/* Fills the table, then the objects, in one region: one rkey must cover the pointer and its target. */
void fill(const Buffer &memory)
{
	auto *table = memory.as<std::uint64_t>();
	for (std::uint32_t i = 0; i < objects; i++) {
		const std::size_t offset = objects * sizeof(std::uint64_t) + std::size_t{i} * object_size;
		table[i] = memory.remote().address + offset;
		std::snprintf(memory.as<char>(offset), object_size, "object %u", i);
	}
}

void server(TcpListener listener)
{
	const Context context = example::must(Context::open());
	const ProtectionDomain pd = example::must(ProtectionDomain::create(context));
	const Buffer memory = example::must(Buffer::create(
		pd, objects * (sizeof(std::uint64_t) + object_size), access::local | access::remote_read));
	fill(memory);

	const CompletionQueue cq = example::must(CompletionQueue::create(context, 16));
	QueuePair qp = example::must(QueuePair::create(pd, cq, cq));
	TcpRendezvous client = example::must(listener.accept(example::patience));
	ConnectionRecord mine;
	mine.regions = {{memory_id, memory.remote()}};
	example::must(establish(client, qp, mine, example::patience));
	example::serve_until_gone(client);
}

class Chaser
{
public:
	Chaser(const QueuePair &pair, const RemoteRegion &remote, const Buffer &local)
		: qp_(pair), table_(remote), memory_(local)
	{
	}

	/* Takes two round trips. */
	void two_reads(std::uint32_t index)
	{
		example::must(Chain{}.rdma_read(slot(index), memory_.slice(0, 8)).post(qp_, 1), "READ of the pointer");
		example::wait(qp_);
		const RemoteAddress object{*memory_.as<std::uint64_t>(), table_.rkey};
		example::must(
			Chain{}.rdma_read(object, memory_.slice(0, object_size)).post(qp_, 2), "READ of the object");
		example::wait(qp_);
	}

	/* Takes one round trip. */
	void indirect_read(std::uint32_t index)
	{
		example::must(Chain{}.read(slot(index), memory_.slice(0, object_size)).indirect().post(qp_, 3),
			"indirect READ");
		if (const Completion completion = example::wait(qp_); !completion.ok())
			example::give_up(std::string("indirect READ: ") + completion.describe());
	}

	void check(std::uint32_t index) const
	{
		if (memory_.as<char>() != "object " + std::to_string(index))
			example::give_up("wrong object");
	}

private:
	RemoteAddress slot(std::uint32_t index) const { return table_.at(index * sizeof(std::uint64_t)); }

	const QueuePair &qp_;
	RemoteRegion table_;
	const Buffer &memory_;
};

double microseconds(Clock::duration time)
{
	return std::chrono::duration<double, std::micro>(time).count();
}

double median(std::vector<double> &samples)
{
	const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
	std::nth_element(samples.begin(), middle, samples.end());
	return *middle;
}

void client(const std::string &host, std::uint16_t port)
{
	/* Calls into the library drive the device: the lowest latency. */
	const Context context = example::must(Context::open({}, Progress::caller));
	const ProtectionDomain pd = example::must(ProtectionDomain::create(context));
	const CompletionQueue cq = example::must(CompletionQueue::create(context, 16));
	QueuePair qp = example::must(QueuePair::create(pd, cq, cq));
	TcpRendezvous server = example::must(TcpRendezvous::connect(host, port, example::patience));
	const ConnectionRecord peer = example::must(establish(server, qp, {}, example::patience));
	const RegionInfo *memory = peer.region(memory_id);
	if (!memory)
		example::give_up("the server shares no memory");

	const Buffer local = example::must(Buffer::create(pd, object_size));
	Chaser chaser(qp, memory->region, local);
	std::vector<double> two, one;
	for (int round = 0; round < rounds; round++) {
		const auto index = static_cast<std::uint32_t>(round) % objects;
		const auto start = Clock::now();
		chaser.two_reads(index);
		const auto middle = Clock::now();
		chaser.check(index);
		const auto resumed = Clock::now();
		chaser.indirect_read(index);
		one.push_back(microseconds(Clock::now() - resumed));
		two.push_back(microseconds(middle - start));
		chaser.check(index);
	}
	const double two_median = median(two), one_median = median(one);
	std::printf("two READs        %7.2f us\nindirect READ    %7.2f us\nratio            %7.2f\n", two_median,
		one_median, two_median / one_median);
}

} // namespace

int main(int argc, char **argv)
{
	return example::run(argc, argv, server, client);
}
