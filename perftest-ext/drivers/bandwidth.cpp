/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Keeps every job of every queue pair in flight. Jobs of one step go round a ring and are posted in lists, with one
 * completion for several of them; their results are checked one by one. Each job of several steps advances on its own
 * completion.
 */
#include <algorithm>
#include <limits>

#include "drivers/posting.hpp"
#include "drivers/run.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::uint64_t slices = 20; /* turns of each contestant in one run */

/* Limits of a slice: its jobs begun and not yet done, and its end. */
struct Quota {
	std::uint64_t jobs = no_end;
	std::uint64_t deadline = no_end; /* ns */
};

struct Shape {
	std::uint32_t qps;
	std::uint32_t depth;
	std::uint32_t post_list;
	std::uint32_t cq_mod;
};

/* Counts completed jobs over all slices of a contestant, on a clock that stops between them. */
class Progress
{
public:
	explicit Progress(std::size_t size) : meter_(size, 0) {}

	void start_slice() { started_ = monotonic_ns(); }

	void add(std::uint64_t jobs, std::uint64_t now)
	{
		total_ += jobs;
		meter_.update(total_, elapsed_ + (now - started_));
	}

	void end_slice() { elapsed_ += monotonic_ns() - started_; }

	[[nodiscard]] BandwidthResult result() const { return meter_.result(); }
	[[nodiscard]] std::uint64_t total() const { return total_; }

private:
	BandwidthMeter meter_;
	std::uint64_t started_ = 0;
	std::uint64_t elapsed_ = 0;
	std::uint64_t total_ = 0;
};

class Slice
{
public:
	Slice(Client &client, Contestant &competing, Reclaim &freed, const Shape &wanted, Progress &counting,
		EmptyListPatience &waiting)
		: contestant(competing), reclaim(freed), shape(wanted), progress(counting), patience(waiting),
		  poller(client.endpoint().completions())
	{
		for (std::uint32_t qp = 0; qp < shape.qps; qp++)
			lists.emplace_back(client.endpoint().qp(qp));
	}

	virtual ~Slice() = default;
	Slice(const Slice &) = delete;
	Slice &operator=(const Slice &) = delete;

	virtual void run(const Quota &quota) = 0;

protected:
	/* Returns true if the job is done, false if it must be repeated; throws Error on a fault. */
	bool settle(Outcome outcome, std::uint32_t job, std::uint32_t status)
	{
		if (outcome == Outcome::done && status == PRISMDV_STATUS_OK) {
			patience.success();
			return true;
		}
		if (outcome != Outcome::retry)
			report_fault(contestant, job, status);
		reclaim.flush();
		patience.retry();
		return false;
	}

	Contestant &contestant;
	Reclaim &reclaim;
	const Shape shape;
	Progress &progress;
	EmptyListPatience &patience;
	CompletionPoller poller;
	std::vector<PostList> lists;
};

/* Slice of one-step jobs: positions on each QP count up; position modulo depth is the job. */
class RingSlice : public Slice
{
public:
	RingSlice(Client &client, Contestant &competing, Reclaim &freed, const Shape &wanted, Progress &counting,
		EmptyListPatience &waiting)
		: Slice(client, competing, freed, wanted, counting, waiting), rings_(wanted.qps)
	{
	}

	void run(const Quota &quota) override
	{
		left_ = quota.jobs;
		fill_all();
		while (in_flight_) {
			for (const ibv_wc &completion : poller.poll())
				complete(completion);
			const std::uint64_t now = monotonic_ns();
			progress.add(std::exchange(done_, 0), now);
			if (now >= quota.deadline)
				left_ = 0;
			reclaim.flush_if_low();
			fill_all();
		}
	}

private:
	struct Ring {
		std::uint64_t posted = 0;
		std::uint64_t completed = 0;
		std::uint64_t signalled = 0; /* position after the last signalled one */
		bool flushing = false;       /* a request that only brings a completion is under way */
	};

	void fill_all()
	{
		for (std::uint32_t qp = 0; qp < shape.qps; qp++)
			while (fill(qp))
				continue;
		for (std::uint32_t qp = 0; qp < shape.qps && !left_; qp++)
			flush_tail(qp);
	}

	/* Rings one doorbell, if a full list fits or it is the last. */
	bool fill(std::uint32_t qp)
	{
		Ring &ring = rings_[qp];
		const std::uint64_t room = shape.depth - (ring.posted - ring.completed);
		const std::uint64_t count = std::min<std::uint64_t>(shape.post_list, left_);
		if (!count || room < count)
			return false;
		left_ -= count;
		/* A ring too full for the next list must have a completion coming, or it stops. */
		const bool full = room - count < std::min<std::uint64_t>(shape.post_list, left_);
		for (std::uint64_t i = 1; i <= count; i++)
			add(qp, ring, full && i == count);
		in_flight_ += count;
		lists[qp].post();
		return true;
	}

	void add(std::uint32_t qp, Ring &ring, bool must_signal)
	{
		const std::uint32_t job = job_at(qp, ring.posted);
		ring.posted++;
		const bool signalled = must_signal || ring.posted - ring.signalled >= shape.cq_mod;
		if (signalled)
			ring.signalled = ring.posted;
		lists[qp].add(contestant.begin(job, 0), std::uint64_t{qp} << qp_shift | ring.posted, signalled);
	}

	/* Posts an empty WRITE behind the last jobs, which are not signalled: its completion tells their end. */
	void flush_tail(std::uint32_t qp)
	{
		Ring &ring = rings_[qp];
		if (ring.flushing || ring.posted == ring.signalled)
			return;
		Request flush;
		flush.wr().opcode = IBV_WR_RDMA_WRITE;
		lists[qp].add({&flush, 1}, std::uint64_t{qp} << qp_shift | flush_mark | ring.posted, true);
		lists[qp].post();
		ring.signalled = ring.posted;
		ring.flushing = true;
	}

	[[nodiscard]] std::uint32_t job_at(std::uint32_t qp, std::uint64_t position) const
	{
		return qp * shape.depth + static_cast<std::uint32_t>(position % shape.depth);
	}

	void complete(const ibv_wc &completion)
	{
		const auto qp = static_cast<std::uint32_t>(completion.wr_id >> qp_shift);
		const std::uint64_t end = completion.wr_id & (flush_mark - 1);
		Ring &ring = rings_[qp];
		const bool flush = completion.wr_id & flush_mark;
		if (flush)
			ring.flushing = false;
		for (; ring.completed < end; ring.completed++) {
			const std::uint32_t job = job_at(qp, ring.completed);
			const bool reported = ring.completed + 1 == end && !flush;
			const std::uint32_t status =
				reported ? completion.vendor_err : std::uint32_t{PRISMDV_STATUS_OK};
			if (settle(contestant.finish(job, 0), job, status))
				done_++;
			else
				left_++; /* to be repeated */
			in_flight_--;
		}
	}

	static constexpr unsigned qp_shift = 48;
	static constexpr std::uint64_t flush_mark = std::uint64_t{1} << (qp_shift - 1);

	std::vector<Ring> rings_;
	std::uint64_t left_ = 0; /* jobs still to be posted */
	std::uint64_t in_flight_ = 0;
	std::uint64_t done_ = 0;
};

/* Slice of jobs of several steps: a job's next step is posted when its last one has completed, with those of other
 * jobs. */
class StepSlice : public Slice
{
public:
	using Slice::Slice;

	void run(const Quota &quota) override
	{
		left_ = quota.jobs;
		step_.assign(std::size_t{shape.qps} * shape.depth, 0);
		for (std::uint32_t job = 0; job < step_.size(); job++)
			begin(job);
		post_all();
		while (in_flight_) {
			for (const ibv_wc &completion : poller.poll())
				advance(static_cast<std::uint32_t>(completion.wr_id), completion.vendor_err);
			const std::uint64_t now = monotonic_ns();
			progress.add(std::exchange(done_, 0), now);
			if (now >= quota.deadline)
				left_ = 0;
			post_all();
		}
	}

private:
	void begin(std::uint32_t job)
	{
		if (!left_)
			return;
		left_--;
		in_flight_++;
		step_[job] = 0;
		add(job);
	}

	void add(std::uint32_t job)
	{
		const std::uint32_t qp = job / shape.depth;
		lists[qp].add(contestant.begin(job, step_[job]), job, true);
		if (++pending_[qp] < shape.post_list)
			return;
		lists[qp].post();
		pending_[qp] = 0;
	}

	void advance(std::uint32_t job, std::uint32_t status)
	{
		settle(contestant.finish(job, step_[job]), job, status);
		if (++step_[job] < contestant.steps()) {
			add(job);
			return;
		}
		done_++;
		in_flight_--;
		begin(job);
	}

	void post_all()
	{
		for (std::uint32_t qp = 0; qp < shape.qps; qp++)
			lists[qp].post();
		std::fill(pending_.begin(), pending_.end(), 0);
	}

	std::vector<unsigned> step_; /* by job */
	std::vector<std::uint32_t> pending_ = std::vector<std::uint32_t>(shape.qps, 0);
	std::uint64_t left_ = 0;
	std::uint64_t in_flight_ = 0;
	std::uint64_t done_ = 0;
};

class BandwidthDriver
{
public:
	BandwidthDriver(Client &measuring, const Contestants &competing, Reclaim &freed, std::size_t message_size)
		: client_(measuring), contestants_(competing), reclaim_(freed), size_(message_size),
		  shape_(choose_shape()), progress_(competing.size(), Progress(message_size)),
		  patience_(competing.size()), traffic_(competing.size())
	{
	}

	void run()
	{
		const Parameters &parameters = client_.parameters();
		const std::uint64_t turns = contestants_.size() > 1 ? slices : 1;
		const std::uint64_t iterations = parameters.iterations_for(size_);
		const std::uint64_t time = parameters.duration * ns_per_second / contestants_.size() / turns;
		for (std::uint64_t turn = 0; turn < turns; turn++) {
			/* The remainder goes to the first turns. */
			const std::uint64_t jobs = iterations / turns + (turn < iterations % turns ? 1 : 0);
			for (std::size_t i = 0; i < contestants_.size(); i++)
				run_slice(i, parameters.duration ? Quota{.deadline = monotonic_ns() + time}
								 : Quota{.jobs = jobs});
		}
	}

	void warm_up()
	{
		for (std::size_t i = 0; i < contestants_.size(); i++)
			run_slice(i, Quota{.jobs = 2 * shape_.depth});
		progress_.assign(contestants_.size(), Progress(size_));
		traffic_.assign(contestants_.size(), {});
	}

	[[nodiscard]] std::vector<Row> rows() const
	{
		std::vector<Row> rows;
		for (std::size_t i = 0; i < contestants_.size(); i++)
			rows.push_back({.size = size_,
				.name = contestants_[i]->name(),
				.label = contestants_[i]->label(),
				.round_trips = contestants_[i]->steps(),
				.empty_list = patience_[i].retries(),
				.result = progress_[i].result(),
				.traffic = traffic_[i],
				.counted_jobs = progress_[i].total()});
		return rows;
	}

private:
	[[nodiscard]] Shape choose_shape() const
	{
		const Geometry &plan = client_.layout().geometry();
		const Parameters &parameters = client_.parameters();
		/* Half of the ring at a time: one half is in flight while the other is checked and posted again. */
		const std::uint32_t half = std::max<std::uint32_t>(plan.depth / 2, 1);
		const std::uint32_t post_list = parameters.post_list ? parameters.post_list : half;
		const std::uint32_t cq_mod = parameters.cq_mod ? parameters.cq_mod : std::min(post_list, half);
		return {
			.qps = plan.qps,
			.depth = plan.depth,
			.post_list = std::min(post_list, plan.depth),
			.cq_mod = std::min(cq_mod, plan.depth),
		};
	}

	void run_slice(std::size_t index, const Quota &quota)
	{
		Contestant &contestant = *contestants_[index];
		const Traffic before = Traffic::read(client_.endpoint().verbs());
		progress_[index].start_slice();
		if (contestant.steps() == 1)
			RingSlice(client_, contestant, reclaim_, shape_, progress_[index], patience_[index]).run(quota);
		else
			StepSlice(client_, contestant, reclaim_, shape_, progress_[index], patience_[index]).run(quota);
		progress_[index].end_slice();
		traffic_[index].add(before, Traffic::read(client_.endpoint().verbs()));
	}

	Client &client_;
	const Contestants &contestants_;
	Reclaim &reclaim_;
	const std::size_t size_;
	const Shape shape_;
	std::vector<Progress> progress_;
	std::vector<EmptyListPatience> patience_;
	std::vector<Traffic> traffic_;
};

} // namespace

std::vector<Row> measure_bandwidth(Client &client, const Contestants &contestants, Reclaim &reclaim, std::size_t size)
{
	for (const auto &contestant : contestants)
		contestant->prepare(size);
	BandwidthDriver driver(client, contestants, reclaim, size);
	if (client.parameters().warm_up)
		driver.warm_up();
	driver.run();
	return driver.rows();
}

} // namespace prism::perftest
