/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "operations/allocate.hpp"

#include <fmt/format.h>

namespace prism::perftest
{

namespace
{

class PrismAllocate : public Contestant
{
public:
	PrismAllocate(Client &allocating, std::uint32_t index, Reclaim &freed)
		: Contestant(allocating, index, "prism", "PRISM ALLOCATE", {1}), reclaim_(freed)
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override
	{
		const std::uint64_t address = results(job).address;
		if (!address)
			return Outcome::retry;
		reclaim_.taken();
		if (!client.layout().is_buffer(address - client.server().base))
			return Outcome::wrong;
		reclaim_.add(address);
		return Outcome::done;
	}

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: job {} was given {:#x}, which is not a buffer of the free list", name(), job,
			results(job).address);
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		Request &request = requests[0];
		set_prism(request, PRISMDV_WR_ALLOCATE, 0, client.data(job), size(), 0);
		set_inline(request);
		request.ext.allocate.free_list = client.server().free_list;
		request.ext.allocate.result = {reinterpret_cast<std::uint64_t>(&results(job).address),
			sizeof(results(job).address), client.lkey()};
	}

	/* Clears the address: an ALLOCATE without a buffer returns 0, so a missing answer must look different. */
	void patch(std::uint32_t job, unsigned, std::span<Request>) override { results(job).address = no_answer; }

private:
	Reclaim &reclaim_;
};

class RingAllocate : public Contestant
{
public:
	RingAllocate(Client &allocating, std::uint32_t index)
		: Contestant(allocating, index, "plain", "FETCH_AND_ADD of a cursor, then RDMA WRITE", {1, 1})
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override
	{
		return results(job).word == no_answer ? Outcome::wrong : Outcome::done;
	}

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: job {} got no answer from FETCH_AND_ADD", name(), job);
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		set_atomic(
			requests[0], IBV_WR_ATOMIC_FETCH_AND_ADD, &results(job).word, remote(client.layout().cursor()));
		requests[0].wr().wr.atomic.compare_add = 1;
		set_standard(requests[1], IBV_WR_RDMA_WRITE, client.data(job), size(), 0);
		set_inline(requests[1]);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		if (step == 0)
			results(job).word = no_answer;
		else
			requests[0].wr().wr.rdma.remote_addr = remote(client.layout().ring(results(job).word));
	}
};

} // namespace

void add_allocate_contestants(Client &client, Reclaim &reclaim, Contestants &list)
{
	if (client.parameters().contest != Contest::plain)
		list.push_back(std::make_unique<PrismAllocate>(client, list.size(), reclaim));
	if (client.parameters().contest != Contest::prism)
		list.push_back(std::make_unique<RingAllocate>(client, list.size()));
}

} // namespace prism::perftest
