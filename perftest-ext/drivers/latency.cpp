/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <algorithm>
#include <thread>

#include "drivers/posting.hpp"
#include "drivers/run.hpp"

namespace prism::perftest
{

namespace
{

constexpr std::uint64_t warm_up_iterations = 100;
constexpr std::uint32_t only_job = 0;
constexpr std::uint64_t counted_iterations = 64;
constexpr std::chrono::milliseconds counters_of_kernel_are_fresh{25};

class LatencyDriver
{
public:
	LatencyDriver(Client &measuring, const Contestants &competing, Reclaim &freed)
		: client_(measuring), contestants_(competing), reclaim_(freed),
		  poller_(client_.endpoint().completions()), list_(client_.endpoint().qp(0)),
		  samples_(competing.size()), patience_(competing.size()), traffic_(competing.size())
	{
	}

	void run(std::uint64_t iterations, std::uint64_t deadline)
	{
		for (std::uint64_t i = 0; i < iterations && (!deadline || monotonic_ns() < deadline); i++)
			for (std::size_t turn = 0; turn < contestants_.size(); turn++)
				samples_[turn].add(measure(turn));
	}

	/* Runs without keeping the results. */
	void warm_up()
	{
		run(warm_up_iterations, 0);
		samples_.assign(contestants_.size(), {});
	}

	void reserve(std::uint64_t iterations)
	{
		for (LatencySamples &of_one : samples_)
			of_one.reserve(iterations);
	}

	/* Counts the traffic of untimed jobs of one contestant after the other: reading counters between timed jobs
	 * would disturb them. */
	void count_traffic(std::uint64_t jobs)
	{
		counted_jobs_ = jobs;
		for (std::size_t turn = 0; turn < contestants_.size(); turn++) {
			const Traffic before = read_traffic();
			for (std::uint64_t i = 0; i < jobs; i++)
				(void)measure(turn);
			traffic_[turn].add(before, read_traffic());
		}
	}

	[[nodiscard]] std::vector<Row> rows(std::size_t size) const
	{
		std::vector<Row> rows;
		for (std::size_t i = 0; i < contestants_.size(); i++)
			rows.push_back({.size = size,
				.name = contestants_[i]->name(),
				.label = contestants_[i]->label(),
				.round_trips = contestants_[i]->steps(),
				.empty_list = patience_[i].retries(),
				.result = samples_[i].result(),
				.samples = samples_[i].samples(),
				.traffic = traffic_[i],
				.counted_jobs = counted_jobs_});
		return rows;
	}

private:
	[[nodiscard]] Traffic read_traffic() const
	{
		Traffic traffic = Traffic::read(client_.endpoint().verbs());
		if (!traffic.counts_trains()) {
			std::this_thread::sleep_for(counters_of_kernel_are_fresh);
			traffic = Traffic::read(client_.endpoint().verbs());
		}
		return traffic;
	}

	std::uint64_t measure(std::size_t turn)
	{
		for (;;) {
			const std::uint64_t start = monotonic_ns();
			const Outcome outcome = run_job(*contestants_[turn]);
			const std::uint64_t end = monotonic_ns();
			if (outcome == Outcome::done) {
				patience_[turn].success();
				reclaim_.flush_if_low();
				return end - start;
			}
			reclaim_.flush();
			patience_[turn].retry();
		}
	}

	Outcome run_job(Contestant &contestant)
	{
		for (unsigned step = 0; step < contestant.steps(); step++) {
			list_.add(contestant.begin(only_job, step), 0, true);
			list_.post();
			const std::uint32_t status = poller_.poll().front().vendor_err;
			const Outcome outcome = contestant.finish(only_job, step);
			if (outcome == Outcome::retry)
				return outcome;
			if (outcome == Outcome::wrong || status != PRISMDV_STATUS_OK)
				report_fault(contestant, only_job, status);
		}
		return Outcome::done;
	}

	Client &client_;
	const Contestants &contestants_;
	Reclaim &reclaim_;
	CompletionPoller poller_;
	PostList list_;
	std::vector<LatencySamples> samples_;
	std::vector<EmptyListPatience> patience_;
	std::vector<Traffic> traffic_;
	std::uint64_t counted_jobs_ = 0;
};

} // namespace

std::vector<Row> measure_latency(Client &client, const Contestants &contestants, Reclaim &reclaim, std::size_t size)
{
	const Parameters &parameters = client.parameters();
	for (const auto &contestant : contestants)
		contestant->prepare(size);
	LatencyDriver driver(client, contestants, reclaim);
	if (parameters.warm_up)
		driver.warm_up();
	if (parameters.duration) {
		driver.run(~std::uint64_t{0}, monotonic_ns() + parameters.duration * std::uint64_t{1'000'000'000});
	} else {
		const std::uint64_t iterations = parameters.iterations_for(size);
		driver.reserve(iterations);
		driver.run(iterations, 0);
	}
	/* No more than the user asked for, if given: a job over a bad network can take a second. */
	driver.count_traffic(
		parameters.iterations ? std::min(parameters.iterations, counted_iterations) : counted_iterations);
	return driver.rows(size);
}

} // namespace prism::perftest
