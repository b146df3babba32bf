/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "bench/tx/workloads/workload.hpp"
#include "fake_store.hpp"

namespace tx_test
{

/** Results of a run, by kind of transaction. */
struct Tally {
	std::map<unsigned, std::uint64_t> committed;
	std::map<unsigned, std::uint64_t> rolled_back;
	std::map<int, std::uint64_t> errors; /* of all transactions that were not committed */
	std::uint64_t unknown = 0;
	std::uint64_t attempts = 0;
	Totals totals;

	[[nodiscard]] std::uint64_t all_committed() const
	{
		std::uint64_t sum = 0;
		for (const auto &[kind, count] : committed)
			sum += count;
		return sum;
	}

	void add(const Program &program, const Job &job)
	{
		attempts += job.attempts;
		totals.add(job.outcome, program.effects());
		if (job.outcome == Outcome::committed)
			committed[program.kind()]++;
		else
			errors[job.error]++;
		rolled_back[program.kind()] += job.outcome == Outcome::rolled_back;
		unknown += job.outcome == Outcome::unknown;
	}
};

inline void load(const Workload &workload, FakeClient &client)
{
	for (std::uint64_t i = 0; i < workload.loads(); i++) {
		const std::unique_ptr<Program> program = workload.load(i);
		Job job;
		job.body = body_of(*program);
		ASSERT_EQ(client.run(job), Outcome::committed) << "error " << job.error << " of load " << i;
	}
}

/** Runs @p count transactions, as many at once as the client has lanes, each lane with its own terminal. */
inline Tally run(const Workload &workload, FakeClient &client, std::uint64_t count, std::uint64_t seed = 1)
{
	struct Slot {
		std::unique_ptr<Terminal> terminal;
		std::unique_ptr<Program> program;
		Job job;
	};
	std::vector<Slot> slots(client.depth());
	std::vector<Slot *> idle;
	for (Slot &slot : slots) {
		slot.terminal = workload.terminal(seed, static_cast<std::uint64_t>(&slot - slots.data()));
		slot.job.context = &slot;
		idle.push_back(&slot);
	}
	Tally tally;
	std::uint64_t begun = 0, ended = 0;
	std::array<Job *, 16> completed;
	while (ended < count) {
		for (; !idle.empty() && begun < count; begun++) {
			Slot &slot = *idle.back();
			idle.pop_back();
			slot.program = slot.terminal->next();
			slot.job.body = body_of(*slot.program);
			EXPECT_EQ(client.start(slot.job), 0);
		}
		const std::size_t here = client.poll(completed);
		for (std::size_t i = 0; i < here; i++, ended++) {
			Slot &slot = *static_cast<Slot *>(completed[i]->context);
			tally.add(*slot.program, slot.job);
			idle.push_back(&slot);
		}
	}
	return tally;
}

inline Survey survey(const Workload &workload, FakeClient &client)
{
	Result<Survey> looked = workload.survey(client);
	EXPECT_TRUE(looked) << (looked ? "" : looked.error().message);
	return looked ? *looked : Survey();
}

/** Loads, runs and checks @p workload on a store whose flaw, if any, is only there while transactions run. */
struct Trial {
	Tally tally;
	Survey before;
	Findings findings;
	std::uint64_t flawed = 0;
	std::size_t objects = 0;       /* after loading */
	std::size_t largest_value = 0; /* at the end */
};

inline Trial attempt(const Workload &workload, const FakeOptions &options, std::uint64_t count, std::size_t lanes = 8)
{
	FakeOptions sound;
	sound.seed = options.seed;
	FakeStore store(sound);
	FakeClient loader(store, 1);
	Trial trial;
	load(workload, loader);
	trial.objects = store.size();
	trial.before = survey(workload, loader);
	EXPECT_EQ(trial.before.findings.texts(), std::vector<std::string>());
	store.set_options(options);
	{
		FakeClient client(store, lanes);
		trial.tally = run(workload, client, count);
	}
	store.set_options(sound);
	trial.findings = compare(workload, trial.before, survey(workload, loader), trial.tally.totals);
	trial.flawed = store.flawed;
	trial.largest_value = store.largest_value();
	return trial;
}

} // namespace tx_test
