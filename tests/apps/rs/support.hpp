/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Replicas of a PRISM-RS volume in this process, and their clients. */
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../rounds.hpp"
#include "../support/free_places.hpp"
#include "rs/store/kind.hpp"
#include "rs/store/repair.hpp"
#include "rs/store/replica.hpp"

namespace rs_test
{

using namespace prism;
using namespace prism::rs;
using namespace std::chrono_literals;
using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

inline Configuration small_volume(std::uint32_t block_size = 512, std::uint64_t blocks = 64, unsigned replicas = 3)
{
	return Configuration::make(block_size, blocks, test::free_places<ReplicaAddress>(replicas)).value();
}

/** Volume whose replicas each serve on a thread and with a device context of their own, so that one can go alone. */
class Volume
{
public:
	explicit Volume(const Configuration &volume = small_volume(), std::uint32_t spare_buffers = 256)
		: configuration(volume), spare(spare_buffers), places_(volume.replicas.size())
	{
		for (unsigned replica = 0; replica < places_.size(); replica++)
			begin(replica, true);
	}
	~Volume()
	{
		for (unsigned replica = 0; replica < places_.size(); replica++)
			end(replica);
	}

	void begin(unsigned replica, bool is_new)
	{
		ReplicaOptions options;
		options.volume = configuration;
		options.replica = replica;
		options.beginning = is_new ? Beginning::founded : Beginning::lost;
		options.address = "127.0.0.1";
		options.spare_buffers = spare;
		Place &place = places_[replica];
		options.log = [&place](apps::LogLevel, const std::string &line) {
			const std::lock_guard guard(place.lock);
			place.log += line + '\n';
		};
		place.store =
			Replica::create(Context::open("prism_lo", Progress::engine_thread).value(), options).value();
		place.thread = std::thread([&place] { EXPECT_TRUE(place.store->serve().ok()); });
	}

	/** Ends the replica; its memory is lost. */
	void end(unsigned replica)
	{
		Place &place = places_[replica];
		if (!place.thread.joinable())
			return;
		place.store->stop();
		place.thread.join();
		place.store.reset();
	}

	/** Returns the log of a replica. */
	[[nodiscard]] std::string logged(unsigned replica)
	{
		const std::lock_guard guard(places_[replica].lock);
		return places_[replica].log;
	}

	/** Returns the block's slot as the replica's CPU sees it. */
	[[nodiscard]] Slot at(unsigned replica, std::uint64_t block) const { return places_[replica].store->at(block); }

	const Configuration configuration;
	const std::uint32_t spare;

private:
	struct Place {
		std::mutex lock;
		std::string log; /* under lock */
		std::unique_ptr<Replica> store;
		std::thread thread;
	};
	std::deque<Place> places_;
};

/** Client whose calls wait. */
class Client
{
public:
	explicit Client(const Volume &volume, std::uint32_t depth = 1, std::uint32_t exclusive = 0,
		std::chrono::milliseconds timeout = 5s)
		: block_size(volume.configuration.block_size)
	{
		VolumeClientOptions options;
		options.depth = depth;
		options.timeout = timeout;
		api = VolumeClient::open(
			context, volume.configuration, prism_rs(volume.configuration, exclusive), options)
			      .value();
		api->wait_for_all(500ms);
	}

	Outcome run(Operation &operation)
	{
		EXPECT_EQ(api->start(operation), 0);
		Operation *ended = nullptr;
		const auto deadline = std::chrono::steady_clock::now() + 20s;
		while (!api->poll({&ended, 1}) && std::chrono::steady_clock::now() < deadline)
			;
		EXPECT_EQ(ended, &operation);
		last = operation;
		return operation.outcome;
	}

	/** Fills the block with @p letter. */
	Outcome put(std::uint64_t block, char letter)
	{
		const std::string value(block_size, letter);
		Operation operation;
		operation.kind = OperationKind::put;
		operation.key = std::as_bytes(std::span(&block, 1));
		operation.value = std::as_bytes(std::span(value));
		return run(operation);
	}

	/** Returns the letter that fills the block; '!' if it is not one letter, '?' if it could not be read. */
	char get(std::uint64_t block)
	{
		std::string value(block_size, '-');
		Operation operation;
		operation.key = std::as_bytes(std::span(&block, 1));
		operation.result = std::as_writable_bytes(std::span(value));
		if (run(operation) != Outcome::ok)
			return '?';
		return value == std::string(block_size, value[0]) ? value[0] : '!';
	}

	const std::uint32_t block_size;
	Context context = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<VolumeClient> api;
	Operation last; /* with its outcome */
};

} // namespace rs_test
