/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "checks.hpp"

#include <cstring>
#include <set>
#include <span>

#include <fmt/core.h>

#include "simulation/linearizable.hpp"

namespace kv_sim
{

using prism::kv::ObjectHeader;
using prism::kv::Slot;

namespace
{

/** Checks that every member's object is whole and belongs to its key, and that each key has one member. */
void check_objects(const Remains &remains)
{
	const Server &server = remains.server;
	std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
	for (std::uint64_t index = 0; index < server.table().geometry().slot_count(); index++) {
		const Slot slot = server.table().at(index);
		if (!slot.is_member())
			continue;
		if (!keys.insert({slot.key.low, slot.key.high}).second)
			remains.find("a key is in the table twice");
		const std::byte *const object = server.at(slot.object.ptr, slot.object.bound);
		ObjectHeader header;
		if (!object || slot.object.bound < sizeof(header) + sizeof(std::uint64_t)) {
			remains.find("a slot leads nowhere");
			continue;
		}
		std::memcpy(&header, object, sizeof(header));
		const std::span key(object + sizeof(header), header.key_size);
		if (header.key_size != sizeof(std::uint64_t) || header.object_size() != slot.object.bound ||
			static_cast<std::uint32_t>(header.version) != slot.object.tag ||
			!(prism::kv::fingerprint_of(server.secret(), key) == slot.key))
			remains.find("a slot and its object contradict each other");
	}
}

/** Records the final table as a last GET of each key. */
void read_all(const Remains &remains)
{
	const Server &server = remains.server;
	for (std::uint64_t key = 0; key < remains.keys; key++) {
		const prism::kv::Fingerprint wanted =
			prism::kv::fingerprint_of(server.secret(), std::as_bytes(std::span(&key, 1)));
		std::uint64_t value = prism::test::absent;
		for (std::uint64_t index = 0; index < server.table().geometry().slot_count(); index++) {
			const Slot slot = server.table().at(index);
			constexpr std::uint64_t before = sizeof(ObjectHeader) + sizeof(key);
			const std::byte *const at = server.at(slot.object.ptr + before, sizeof(value));
			if (slot.key == wanted && at)
				std::memcpy(&value, at, sizeof(value));
		}
		simulation::record_last_get(*remains.histories.back(), remains.users, key, value);
	}
}

} // namespace

void check(const Remains &remains)
{
	const prism::kv::TableCount count = remains.server.table().count();
	if (count.claims)
		remains.find(fmt::format("{} claims are left", count.claims));
	if (count.stray)
		remains.find("a member is in a bucket that is not its key's");
	check_objects(remains);
	read_all(remains);
	for (const auto &history : remains.histories)
		simulation::check_linearizable(*history, "key", remains.find);
	remains.server.account();
}

} // namespace kv_sim
