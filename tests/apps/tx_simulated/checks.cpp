/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "checks.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "cycles.hpp"
#include "index.hpp"
#include "replay.hpp"
#include "tx/store/object.hpp"

namespace tx_sim
{

using prism::tx::Cell;
using prism::tx::KeyPlace;
using prism::tx::ObjectView;
using prism::tx::Record;
using serializability::Draft;

namespace
{

/** Returns the place of @p key; nothing if no client has asked for any key's place. */
std::optional<KeyPlace> place_of(const Remains &remains, std::uint64_t key)
{
	return key < remains.places.size() ? std::optional(remains.places[key]) : std::nullopt;
}

/** Checks that nothing is prepared any more, and that objects are whole. Without a shard, decisions may be lost. */
void check_shard(const Remains &remains, std::size_t number)
{
	const Shard &shard = *remains.shards[number];
	for (std::uint64_t index = 0; index < remains.cells; index++) {
		const Cell cell = shard.cell(index);
		if (cell.prepared.writer != cell.version.committed && !remains.failing)
			remains.find(fmt::format("cell {} of shard {} is blocked", index, number));
		if (cell.version.committed > cell.prepared.writer)
			remains.find(fmt::format(
				"cell {} of shard {}: the version is later than the writer", index, number));
		if (!cell.version.object.ptr)
			continue;
		const std::uint32_t bound = cell.version.object.bound;
		const std::byte *const bytes = shard.at(cell.version.object.ptr, bound);
		const std::optional<ObjectView> object =
			bytes ? ObjectView::parse(std::span(bytes, bound)) : std::nullopt;
		if (!object || object->header().written > cell.version.committed) {
			remains.find(fmt::format("cell {} of shard {} leads nowhere", index, number));
			continue;
		}
		object->for_each([&](const Record &record) {
			std::uint64_t key = 0;
			std::memcpy(&key, record.key.data(), std::min(record.key.size(), sizeof(key)));
			const auto place = place_of(remains, key);
			if (!place || place->shard != number || place->cell != index)
				remains.find(fmt::format("key {} is in another key's cell", key));
		});
	}
	if (!remains.failing && !remains.user.as_in_paper && shard.entries())
		remains.find(fmt::format("{} log entries of shard {} are not cleared", shard.entries(), number));
}

/** Records the reads of a last transaction, later than all others. */
void read_all(const Remains &remains)
{
	Draft draft = remains.last;
	for (std::uint64_t key = 0; key < remains.places.size(); key++) {
		const KeyPlace place = remains.places[key];
		const Shard *const shard = remains.shards[place.shard];
		if (!shard)
			continue;
		const Cell cell = shard->cell(place.cell);
		/*
		 * Blocked for ever, as a shard is gone: a transaction would not get past it. With the paper's commit it
		 * would, by a read of this cell alone.
		 */
		if (cell.prepared.writer != cell.version.committed && !remains.user.as_in_paper)
			continue;
		const std::byte *const bytes = shard->at(cell.version.object.ptr, cell.version.object.bound);
		std::optional<prism::tx::Bytes> found;
		if (bytes && cell.version.object.ptr) {
			const auto object = ObjectView::parse(std::span(bytes, cell.version.object.bound));
			found = object ? object->find(std::as_bytes(std::span(&key, 1))) : std::nullopt;
		}
		serializability::Value value = serializability::absent;
		if (remains.user.workload == Workload::lists)
			draft.read_list(key, found ? parse_list(*found) : std::vector<serializability::Value>{});
		else if (found && !parse_stored(*found, value))
			remains.find(fmt::format("key {} ends with a value that nobody has written", key));
		else
			draft.read(key, value);
	}
	remains.record(draft);
}

void check_history(const Remains &remains)
{
	const auto history = remains.history.finish();
	if (!history) {
		remains.find(history.error().message);
		return;
	}
	const auto index = serializability::Index::make(*history);
	if (!index) {
		remains.find(index.error().message);
		return;
	}
	serializability::Findings findings(3);
	(void)serializability::replay(*index, findings);
	serializability::CycleOptions order;
	order.real_time = !remains.user.as_in_paper;
	(void)serializability::check_cycles(*index, order, findings);
	if (remains.user.workload == Workload::bank && !remains.failing)
		(void)serializability::check_bank(*index, remains.user.keys * first_balance, findings);
	for (const serializability::Finding &finding : findings.kept())
		remains.find(fmt::format("{}: {}: {}", finding.check, finding.name, finding.text));
}

} // namespace

void check(const Remains &remains)
{
	for (std::size_t shard = 0; shard < remains.shards.size(); shard++) {
		if (remains.shards[shard])
			check_shard(remains, shard);
	}
	read_all(remains);
	check_history(remains);
	for (Shard *const shard : remains.shards) {
		if (shard && !remains.failing && remains.accounts)
			shard->account();
	}
}

} // namespace tx_sim
