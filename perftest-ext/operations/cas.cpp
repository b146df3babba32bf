/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CAS jobs. Each job counts in its own cell: every CAS must find the value that the one before it left, and its answer
 * shows that. The count is the low word of the operand; the rest is zero.
 */
#include "operations/cas.hpp"

#include <fmt/format.h>

namespace prism::perftest
{

namespace
{

std::string_view mode_name(CasMode mode)
{
	switch (mode) {
	case CasMode::greater:
		return "GT";
	case CasMode::less:
		return "LT";
	case CasMode::equal:
		break;
	}
	return "EQ";
}

class Counting : public Contestant
{
public:
	using Contestant::Contestant;

	[[nodiscard]] std::string describe_fault(std::uint32_t job) const override
	{
		return fmt::format(
			"{}: job {} expected a count of {} and found {}", name(), job, count[job], found(job));
	}

protected:
	void remember(std::uint32_t jobs) override { count.assign(jobs, descending() ? ~std::uint64_t{0} : 0); }

	[[nodiscard]] bool descending() const
	{
		return client.parameters().tool.operation == Operation::cas &&
		       client.parameters().cas_mode == CasMode::less;
	}

	[[nodiscard]] std::uint64_t next(std::uint32_t job) const { return count[job] + (descending() ? -1 : 1); }

	[[nodiscard]] std::uint64_t found(std::uint32_t job) const
	{
		std::uint64_t value = 0;
		std::memcpy(&value, results(job).old_bytes, sizeof(value));
		return value;
	}

	void clear_answer(std::uint32_t job) const
	{
		std::memcpy(results(job).old_bytes, &no_answer, sizeof(no_answer));
	}

	Outcome advance(std::uint32_t job)
	{
		if (found(job) != count[job])
			return Outcome::wrong;
		count[job] = next(job);
		return Outcome::done;
	}

	std::vector<std::uint64_t> count;
};

class PrismCas : public Counting
{
public:
	PrismCas(Client &swapping, std::uint32_t index, std::string name, std::string label, CasMode comparison,
		bool through_pointer, std::size_t fixed_size)
		: Counting(swapping, index, std::move(name), std::move(label), {1}), mode_(comparison),
		  indirect_(through_pointer), operand_size_(fixed_size)
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override { return advance(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		operands_.resize(count.size());
		const std::size_t length = operand_size_ ? operand_size_ : size();
		const std::size_t member = indirect_ ? offsetof(Cell, pointer) : offsetof(Cell, operand);
		Request &request = requests[0];
		set_prism(request, PRISMDV_WR_CAS, indirect_ ? PRISMDV_WR_INDIRECT : 0, results(job).old_bytes, length,
			cell(job, member));
		request.ext.cas.mode = static_cast<std::uint8_t>(mode_);
		request.ext.cas.length = static_cast<std::uint16_t>(length);
		request.ext.cas.compare = operands_[job].compare;
		request.ext.cas.swap = operands_[job].swap;
	}

	void patch(std::uint32_t job, unsigned, std::span<Request>) override
	{
		clear_answer(job);
		operands_[job].swap[0] = next(job);
		operands_[job].compare[0] = mode_ == CasMode::equal ? count[job] : next(job);
	}

private:
	struct Operands {
		std::uint64_t compare[4];
		std::uint64_t swap[4];
	};

	const CasMode mode_;
	const bool indirect_;
	const std::size_t operand_size_;
	std::vector<Operands> operands_;
};

/* CMP_AND_SWP of 8 bytes, reached through a pointer or directly. */
class StandardCas : public Counting
{
public:
	StandardCas(Client &swapping, std::uint32_t index) : Counting(swapping, index, "plain", "one CMP_AND_SWP", {1})
	{
	}

	Outcome finish(std::uint32_t job, unsigned) override { return advance(job); }

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		set_atomic(requests[0], IBV_WR_ATOMIC_CMP_AND_SWP,
			reinterpret_cast<std::uint64_t *>(results(job).old_bytes), cell(job, offsetof(Cell, operand)));
	}

	void patch(std::uint32_t job, unsigned, std::span<Request> requests) override
	{
		clear_answer(job);
		requests[0].wr().wr.atomic.compare_add = count[job];
		requests[0].wr().wr.atomic.swap = next(job);
	}
};

class PointerCas : public Counting
{
public:
	PointerCas(Client &swapping, std::uint32_t index)
		: Counting(swapping, index, "plain", "RDMA READ of the pointer, then CMP_AND_SWP", {1, 1})
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		if (step == 1)
			return advance(job);
		return results(job).address ? Outcome::done : Outcome::wrong;
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		set_standard(requests[0], IBV_WR_RDMA_READ, &local.address, sizeof(local.address),
			cell(job, offsetof(Cell, pointer)));
		set_atomic(
			requests[1], IBV_WR_ATOMIC_CMP_AND_SWP, reinterpret_cast<std::uint64_t *>(local.old_bytes), 0);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		if (step == 0) {
			results(job).address = 0;
			return;
		}
		clear_answer(job);
		requests[0].wr().wr.atomic.remote_addr = results(job).address;
		requests[0].wr().wr.atomic.compare_add = count[job];
		requests[0].wr().wr.atomic.swap = next(job);
	}
};

/*
 * Plain verbs for more than 8 bytes: take a lock, read, write, release. The READ shares a round trip with the lock, and
 * the release one with the WRITE, as a queue pair executes in order.
 */
class Locked : public Counting
{
public:
	using Counting::Counting;

protected:
	void build_lock(std::uint32_t job, Request &request)
	{
		set_atomic(request, IBV_WR_ATOMIC_CMP_AND_SWP, &results(job).word, cell(job, offsetof(Cell, lock)));
		request.wr().wr.atomic.swap = 1;
	}

	void build_store(std::uint32_t job, Request &store, Request &unlock)
	{
		JobResults &local = results(job);
		local.source_word = 0;
		set_standard(store, IBV_WR_RDMA_WRITE, local.source_bytes, size(), cell(job, offsetof(Cell, operand)));
		set_standard(unlock, IBV_WR_RDMA_WRITE, &local.source_word, sizeof(local.source_word),
			cell(job, offsetof(Cell, lock)));
	}

	void patch_store(std::uint32_t job)
	{
		const std::uint64_t value = next(job);
		std::memcpy(results(job).source_bytes, &value, sizeof(value));
	}

	[[nodiscard]] bool locked(std::uint32_t job) const { return results(job).word == 0; }

	[[nodiscard]] Outcome check_found(std::uint32_t job) const
	{
		return locked(job) && found(job) == count[job] ? Outcome::done : Outcome::wrong;
	}
};

class LockedCas : public Locked
{
public:
	LockedCas(Client &swapping, std::uint32_t index)
		: Locked(swapping, index, "plain", "CMP_AND_SWP of a lock + RDMA READ, then RDMA WRITE + unlock",
			  {2, 2})
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		return step == 0 ? check_found(job) : advance(job);
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		build_lock(job, requests[0]);
		set_standard(requests[1], IBV_WR_RDMA_READ, results(job).old_bytes, size(),
			cell(job, offsetof(Cell, operand)));
		build_store(job, requests[2], requests[3]);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request>) override
	{
		if (step == 1)
			return patch_store(job);
		results(job).word = no_answer;
		clear_answer(job);
	}
};

class LockedPointerCas : public Locked
{
public:
	LockedPointerCas(Client &swapping, std::uint32_t index)
		: Locked(swapping, index, "plain",
			  "CMP_AND_SWP of a lock + RDMA READ of the pointer, RDMA READ, then RDMA WRITE + unlock",
			  {2, 1, 2})
	{
	}

	Outcome finish(std::uint32_t job, unsigned step) override
	{
		if (step == 0)
			return locked(job) && results(job).address ? Outcome::done : Outcome::wrong;
		return step == 1 ? check_found(job) : advance(job);
	}

protected:
	void build(std::uint32_t job, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		build_lock(job, requests[0]);
		set_standard(requests[1], IBV_WR_RDMA_READ, &local.address, sizeof(local.address),
			cell(job, offsetof(Cell, pointer)));
		set_standard(requests[2], IBV_WR_RDMA_READ, local.old_bytes, size(), 0);
		build_store(job, requests[3], requests[4]);
	}

	void patch(std::uint32_t job, unsigned step, std::span<Request> requests) override
	{
		JobResults &local = results(job);
		switch (step) {
		case 0:
			local.word = no_answer;
			local.address = 0;
			break;
		case 1:
			clear_answer(job);
			requests[0].wr().wr.rdma.remote_addr = local.address;
			break;
		default:
			patch_store(job);
			requests[0].wr().wr.rdma.remote_addr = local.address;
		}
	}
};

bool needs_lock(const Parameters &parameters)
{
	return parameters.all_sizes || parameters.size > sizeof(std::uint64_t) || parameters.cas_mode != CasMode::equal;
}

std::unique_ptr<Contestant> make_plain_cas(Client &client, std::uint32_t index)
{
	const bool indirect = client.parameters().access != Access::direct;
	if (!needs_lock(client.parameters())) {
		if (indirect)
			return std::make_unique<PointerCas>(client, index);
		return std::make_unique<StandardCas>(client, index);
	}
	if (indirect)
		return std::make_unique<LockedPointerCas>(client, index);
	return std::make_unique<LockedCas>(client, index);
}

} // namespace

void add_cas_contestants(Client &client, Contestants &list)
{
	const Parameters &parameters = client.parameters();
	const bool indirect = parameters.access != Access::direct;
	if (parameters.contest != Contest::plain)
		list.push_back(std::make_unique<PrismCas>(client, list.size(), "prism",
			fmt::format(
				"PRISM CAS {}, {}", mode_name(parameters.cas_mode), indirect ? "indirect" : "direct"),
			parameters.cas_mode, indirect, 0));
	if (parameters.contest != Contest::prism)
		list.push_back(make_plain_cas(client, list.size()));
}

std::unique_ptr<Contestant> make_single_cas(Client &client, std::uint32_t index, std::size_t operand_size)
{
	return std::make_unique<PrismCas>(
		client, index, "single", "one PRISM CAS, direct", CasMode::equal, false, operand_size);
}

} // namespace prism::perftest
