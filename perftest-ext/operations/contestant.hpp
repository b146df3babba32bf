/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A contestant does the job that a tool measures in one particular way: by PRISM operations, or by standard verbs.
 *
 * A job is a few steps and a step a few work requests that are posted together. A step ends where a request needs the
 * result of another before it can be posted: steps are round trips. Requests that do not depend on an earlier result
 * share a step, so that no contestant looks slower than necessary.
 *
 * Requests are built once for each job and message size and patched before they are posted. Results are checked in
 * memory, because only the last request of a step completes, and with completion moderation only that of some jobs.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <infiniband/prismdv.h>

#include "common/endpoint.hpp"
#include "operations/reclaim.hpp"

namespace prism::perftest
{

/** Placeholder of a result until the answer arrives: a value that no address and no count has. */
inline constexpr std::uint64_t no_answer = 0xdeadbeefdeadbeef;

/** One work request, standard or extended, with its one sge. Must not move once built: wr.wr.sg_list points into it. */
struct Request {
	prismdv_send_wr ext{};
	ibv_sge sge{};

	[[nodiscard]] ibv_send_wr &wr() { return ext.wr; }
};

enum class Outcome {
	done,  /**< the step succeeded */
	retry, /**< the free list was empty; nothing has changed, do the job again */
	wrong, /**< an impossible result; describe_fault() tells more */
};

/** Local bytes of a job for results. */
struct JobResults {
	std::uint8_t old_bytes[32]; /**< found by a CAS; read from a cell or its operand */
	std::uint64_t address;      /**< an ALLOCATE's buffer; a fetched pointer */
	std::uint32_t bound;        /**< of a fetched bounded pointer */
	std::uint32_t tag;
	std::uint64_t word;        /**< answer of a standard atomic */
	std::uint64_t source_word; /**< source of an 8-byte WRITE */
	std::uint8_t source_bytes[32];
	std::uint8_t reserved[32];
};

static_assert(sizeof(JobResults) == Client::results_size);

class Contestant
{
public:
	virtual ~Contestant() = default;
	Contestant(const Contestant &) = delete;
	Contestant &operator=(const Contestant &) = delete;

	/** Short name for tables and JSON: "prism", "plain", ... */
	[[nodiscard]] const std::string &name() const { return short_name_; }

	/** Description of its requests, for people. */
	[[nodiscard]] const std::string &label() const { return description_; }

	/** Number of round trips. */
	[[nodiscard]] unsigned steps() const { return static_cast<unsigned>(first_request_.size() - 1); }

	[[nodiscard]] unsigned requests_per_job() const { return first_request_.back(); }

	/** Most requests that one job has in flight. */
	[[nodiscard]] unsigned largest_step() const;

	/** Throws Error if messages of @p size bytes are impossible on this path. */
	virtual void check_size(std::size_t size) const { (void)size; }

	/** Builds the requests for messages of @p size bytes. Remembers the cells' contents from earlier jobs. */
	void prepare(std::size_t size);

	/** Returns the requests of a step, ready to be posted in this order. */
	[[nodiscard]] std::span<Request> begin(std::uint32_t job, unsigned step)
	{
		const std::span<Request> requests = step_requests(job, step);
		patch(job, step, requests);
		return requests;
	}

	/** Checks the results of a step whose requests have completed. */
	[[nodiscard]] virtual Outcome finish(std::uint32_t job, unsigned step) = 0;

	/** Describes the fault, after Outcome::wrong. */
	[[nodiscard]] virtual std::string describe_fault(std::uint32_t job) const = 0;

protected:
	/** @p requests_per_step: number of requests in each step. @p index: its place among the contestants. */
	Contestant(Client &client, std::uint32_t index, std::string name, std::string label,
		std::initializer_list<unsigned> requests_per_step);

	/** Fills in everything that stays the same between jobs; @p requests are those of all steps. */
	virtual void build(std::uint32_t job, std::span<Request> requests) = 0;

	/** Fills in what changes between jobs, and clears results. */
	virtual void patch(std::uint32_t job, unsigned step, std::span<Request> requests) = 0;

	/** Sets up what jobs remember, once the connection is up and the layout known. Called once. */
	virtual void remember(std::uint32_t jobs) { (void)jobs; }

	[[nodiscard]] std::size_t size() const { return message_size_; }
	[[nodiscard]] std::uint64_t remote(std::uint64_t offset) const { return client.server().base + offset; }
	[[nodiscard]] std::uint32_t rkey() const { return client.server().rkey; }
	[[nodiscard]] std::uint64_t cell(std::uint32_t job, std::size_t member) const;
	[[nodiscard]] std::uint64_t scratch(std::uint32_t job) const;
	[[nodiscard]] JobResults &results(std::uint32_t job) const
	{
		return *reinterpret_cast<JobResults *>(client.results(place, job));
	}

	/* Builders: the local bytes and the remote place of a request. */
	void set_standard(Request &request, ibv_wr_opcode opcode, const void *local, std::size_t length,
		std::uint64_t remote_address) const;
	void set_atomic(
		Request &request, ibv_wr_opcode opcode, std::uint64_t *local, std::uint64_t remote_address) const;
	void set_prism(Request &request, prismdv_wr_opcode opcode, std::uint32_t flags, const void *local,
		std::size_t length, std::uint64_t remote_address) const;
	void set_inline(Request &request) const;

	Client &client;
	const std::uint32_t place;

private:
	[[nodiscard]] std::span<Request> step_requests(std::uint32_t job, unsigned step)
	{
		return {&pool_[std::size_t{job} * requests_per_job() + first_request_[step]],
			first_request_[step + 1] - first_request_[step]};
	}

	const std::string short_name_;
	const std::string description_;
	std::vector<unsigned> first_request_; /* first of each step, and the total */
	std::size_t message_size_ = 0;
	std::vector<Request> pool_;
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

/** Makes the contestants that the parameters ask for; the others are compared with the first. */
[[nodiscard]] Contestants make_contestants(Client &client, Reclaim &reclaim);

} // namespace prism::perftest
