/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Chains that install a new version of a value. Every job owns a cell and knows what it installed there last, so that
 * every chain succeeds, and its CAS returns the expected value. The buffer of the previous version is then free.
 */
#include "operations/chain.hpp"

#include <fmt/format.h>

#include "operations/cas.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::size_t single_cas_size = 16; /* the size of the chains' CAS */

/* Common part of both PRISM chains: an ALLOCATE, and a 16-byte CAS that installs the buffer. */
class PrismChain : public Contestant
{
public:
	PrismChain(Client &installing, std::uint32_t index, std::string label, std::initializer_list<unsigned> requests,
		Reclaim &freed)
		: Contestant(installing, index, "prism", std::move(label), requests), reclaim(freed)
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override
	{
		const std::uint64_t address = results(job).address;
		if (!address)
			return Outcome::retry;
		reclaim.taken();
		if (address == no_answer || std::memcmp(results(job).old_bytes, &installed(job), 16) != 0)
			return Outcome::wrong;
		install(job, address);
		return Outcome::done;
	}

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		std::uint64_t found[2];
		std::memcpy(found, results(job).old_bytes, sizeof(found));
		return fmt::format("{}: the CAS of job {} found {:#x} {:#x}, which is not what was installed last",
			name(), job, found[0], found[1]);
	}

protected:
	struct Pair {
		std::uint64_t low;
		std::uint64_t high;
	};

	/** Returns the 16 bytes that the job's CAS must find. */
	[[nodiscard]] virtual const Pair &installed(std::uint32_t job) const = 0;

	/** Notes that the job has installed the buffer at @p address. */
	virtual void install(std::uint32_t job, std::uint64_t address) = 0;

	void build_allocate(std::uint32_t job, Request &request, std::uint32_t flags, std::uint64_t store_at)
	{
		set_prism(request, PRISMDV_WR_ALLOCATE, flags, client.data(job), size(), 0);
		set_inline(request);
		request.ext.aux = {.addr = store_at, .rkey = client.server().scratch_rkey, .length = 0};
		request.ext.allocate.free_list = client.server().free_list;
		request.ext.allocate.result = {reinterpret_cast<std::uint64_t>(&results(job).address),
			sizeof(results(job).address), client.lkey()};
	}

	void build_cas(std::uint32_t job, Request &request, prismdv_cas_mode mode, std::uint64_t target)
	{
		set_prism(request, PRISMDV_WR_CAS, PRISMDV_WR_CONDITIONAL | PRISMDV_WR_DATA_INDIRECT,
			results(job).old_bytes, 16, target);
		request.ext.aux = {.addr = scratch(job), .rkey = client.server().scratch_rkey, .length = 0};
		request.ext.cas.mode = static_cast<std::uint8_t>(mode);
		request.ext.cas.length = 16;
	}

	void clear(std::uint32_t job) const
	{
		results(job).address = no_answer;
		std::memset(results(job).old_bytes, 0xff, 16);
	}

	Reclaim &reclaim;
};

/* PRISM-KV's update: the cell is a bounded pointer whose tag is new each time. */
class AllocCas : public PrismChain
{
public:
	AllocCas(Client &installing, std::uint32_t index, Reclaim &freed)
		: PrismChain(installing, index, "ALLOCATE redirected to scratch + conditional CAS EQ, data indirect",
			  {2}, freed)
	{
	}

protected:
	void remember(std::uint32_t jobs) override
	{
		const Layout &layout = client.layout();
		for (std::uint32_t job = 0; job < jobs; job++)
			cells_.push_back(pack(remote(layout.buffer(job)), layout.geometry().largest_message, 0));
		tags_.assign(jobs, 0);
	}

	[[nodiscard]] const Pair &installed(std::uint32_t job) const override { return cells_[job]; }

	void install(std::uint32_t job, std::uint64_t address) override
	{
		reclaim.add(cells_[job].low);
		cells_[job] = pack(address, static_cast<std::uint32_t>(size()), tags_[job]);
	}

	void build(std::uint32_t job, std::span<Request> requests) override
	{
		build_allocate(job, requests[0], PRISMDV_WR_REDIRECT | PRISMDV_WR_BOUNDED, scratch(job));
		build_cas(job, requests[1], PRISMDV_CAS_EQ, cell(job, offsetof(Cell, pointer)));
		requests[1].ext.cas.compare = &cells_[job];
	}

	void patch(std::uint32_t job, unsigned, std::span<Request> requests) override
	{
		clear(job);
		requests[0].ext.allocate.tag = ++tags_[job];
	}

private:
	static Pair pack(std::uint64_t address, std::uint32_t bound, std::uint32_t tag)
	{
		return {address, std::uint64_t{tag} << 32 | bound};
	}

	std::vector<Pair> cells_;
	std::vector<std::uint32_t> tags_;
};

/* PRISM-RS's install: the cell is { tag, address }, and a greater tag wins. */
class WriteAllocCas : public PrismChain
{
public:
	WriteAllocCas(Client &installing, std::uint32_t index, Reclaim &freed)
		: PrismChain(installing, index,
			  "WRITE of the tag to scratch + ALLOCATE redirected behind it + conditional CAS GT, data "
			  "indirect",
			  {3}, freed)
	{
	}

protected:
	void remember(std::uint32_t jobs) override { cells_.assign(jobs, {0, 0}); }

	[[nodiscard]] const Pair &installed(std::uint32_t job) const override { return cells_[job]; }

	void install(std::uint32_t job, std::uint64_t address) override
	{
		if (cells_[job].high)
			reclaim.add(cells_[job].high);
		cells_[job] = {results(job).source_word, address};
	}

	void build(std::uint32_t job, std::span<Request> requests) override
	{
		static constexpr std::uint64_t tag_alone[2] = {~std::uint64_t{0}, 0};
		JobResults &local = results(job);
		set_prism(
			requests[0], PRISMDV_WR_WRITE, 0, &local.source_word, sizeof(local.source_word), scratch(job));
		requests[0].wr().wr.rdma.rkey = client.server().scratch_rkey;
		set_inline(requests[0]);
		build_allocate(job, requests[1], PRISMDV_WR_REDIRECT, scratch(job) + sizeof(std::uint64_t));
		build_cas(job, requests[2], PRISMDV_CAS_GT, cell(job, offsetof(Cell, operand)));
		requests[2].ext.cas.flags = PRISMDV_CAS_COMPARE_DATA;
		requests[2].ext.cas.compare_mask = tag_alone;
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override
	{
		clear(job);
		results(job).source_word = cells_[job].low + 1;
	}

private:
	std::vector<Pair> cells_;
};

/* Standard verbs, 8-byte cells: the READ of the pointer is posted with the cursor's atomic, the WRITE with the CAS. */
class PlainAllocCas : public Contestant
{
public:
	PlainAllocCas(Client &installing, std::uint32_t index)
		: Contestant(installing, index, "plain",
			  "RDMA READ of the slot + FETCH_AND_ADD of a cursor, then RDMA WRITE + CMP_AND_SWP", {2, 2})
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		const JobResults &local = results(job);
		if (step == 0)
			return local.word == no_answer || !local.address ? Outcome::wrong : Outcome::done;
		return local.source_word == local.address ? Outcome::done : Outcome::wrong;
	}

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: job {} read {:#x} and CMP_AND_SWP found {:#x}", name(), job,
			results(job).address, results(job).source_word);
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		const std::uint64_t slot = cell(job, offsetof(Cell, pointer));
		set_standard(requests[0], IBV_WR_RDMA_READ, &local.address, sizeof(local.address), slot);
		set_atomic(requests[1], IBV_WR_ATOMIC_FETCH_AND_ADD, &local.word, remote(client.layout().cursor()));
		requests[1].wr().wr.atomic.compare_add = 1;
		set_standard(requests[2], IBV_WR_RDMA_WRITE, client.data(job), size(), 0);
		set_inline(requests[2]);
		set_atomic(requests[3], IBV_WR_ATOMIC_CMP_AND_SWP, &local.source_word, slot);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		if (step == 0) {
			local.address = 0;
			local.word = no_answer;
			return;
		}
		const std::uint64_t buffer = remote(client.layout().ring(local.word));
		local.source_word = no_answer;
		requests[0].wr().wr.rdma.remote_addr = buffer;
		requests[1].wr().wr.atomic.compare_add = local.address;
		requests[1].wr().wr.atomic.swap = buffer;
	}
};

/* Standard verbs, 16-byte cells: as in lock-based ABD, sharing round trips as far as possible. */
class PlainWriteAllocCas : public Contestant
{
public:
	PlainWriteAllocCas(Client &installing, std::uint32_t index)
		: Contestant(installing, index, "plain",
			  "CMP_AND_SWP of a lock + RDMA READ of { tag, address } + FETCH_AND_ADD of a cursor, then "
			  "RDMA WRITE "
			  "of the value + RDMA WRITE of { tag, address } + unlock",
			  {3, 3})
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		const JobResults &local = results(job);
		if (step == 1) {
			last_tag_[job]++;
			return Outcome::done;
		}
		const bool good = local.word == 0 && local.address != no_answer && tag_found(job) == last_tag_[job];
		return good ? Outcome::done : Outcome::wrong;
	}

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format("{}: job {} found lock {:#x} and tag {:#x}, expected 0 and {:#x}", name(), job,
			results(job).word, tag_found(job), last_tag_[job]);
	}

protected:
	void remember(std::uint32_t jobs) override { last_tag_.assign(jobs, 0); }

	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		const std::uint64_t lock = cell(job, offsetof(Cell, lock));
		const std::uint64_t pair = cell(job, offsetof(Cell, operand));
		local.source_word = 0;
		set_atomic(requests[0], IBV_WR_ATOMIC_CMP_AND_SWP, &local.word, lock);
		requests[0].wr().wr.atomic.swap = 1;
		set_standard(requests[1], IBV_WR_RDMA_READ, local.old_bytes, 16, pair);
		set_atomic(requests[2], IBV_WR_ATOMIC_FETCH_AND_ADD, &local.address, remote(client.layout().cursor()));
		requests[2].wr().wr.atomic.compare_add = 1;
		set_standard(requests[3], IBV_WR_RDMA_WRITE, client.data(job), size(), 0);
		set_inline(requests[3]);
		set_standard(requests[4], IBV_WR_RDMA_WRITE, local.source_bytes, 16, pair);
		set_standard(requests[5], IBV_WR_RDMA_WRITE, &local.source_word, sizeof(local.source_word), lock);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		if (step == 0) {
			local.word = no_answer;
			local.address = no_answer;
			std::memset(local.old_bytes, 0xff, 16);
			return;
		}
		const std::uint64_t pair[2] = {last_tag_[job] + 1, remote(client.layout().ring(local.address))};
		std::memcpy(local.source_bytes, pair, sizeof(pair));
		requests[0].wr().wr.rdma.remote_addr = pair[1];
	}

private:
	[[nodiscard]] std::uint64_t tag_found(std::uint32_t job) const
	{
		std::uint64_t tag = 0;
		std::memcpy(&tag, results(job).old_bytes, sizeof(tag));
		return tag;
	}

	std::vector<std::uint64_t> last_tag_;
};

std::unique_ptr<Contestant> make_prism_chain(Client &client, std::uint32_t index, Reclaim &reclaim)
{
	if (client.parameters().chain == ChainKind::alloc_cas)
		return std::make_unique<AllocCas>(client, index, reclaim);
	return std::make_unique<WriteAllocCas>(client, index, reclaim);
}

std::unique_ptr<Contestant> make_plain_chain(Client &client, std::uint32_t index)
{
	if (client.parameters().chain == ChainKind::alloc_cas)
		return std::make_unique<PlainAllocCas>(client, index);
	return std::make_unique<PlainWriteAllocCas>(client, index);
}

} // namespace

void add_chain_contestants(Client &client, Reclaim &reclaim, Contestants &list)
{
	const Contest contest = client.parameters().contest;
	if (contest != Contest::plain)
		list.push_back(make_prism_chain(client, list.size(), reclaim));
	if (contest == Contest::compare)
		list.push_back(make_single_cas(client, list.size(), single_cas_size));
	if (contest != Contest::prism)
		list.push_back(make_plain_chain(client, list.size()));
}

} // namespace prism::perftest
