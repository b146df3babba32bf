/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tables of both stores, without a network. */
#include "support.hpp"

#include "pilaf/cuckoo_table.hpp"
#include "service/key_hash.hpp"

#include <map>
#include <random>

namespace
{

using namespace rivals;

using pilaf::CuckooOptions;
using pilaf::CuckooTable;
using pilaf::Entry;

constexpr std::size_t room = 5000;

template <typename Table>
std::optional<std::string> look_up(Table &table, const std::string &key)
{
	std::string into(room, '\0');
	std::uint32_t size = 0;
	if (table.get(bytes_of(key), std::as_writable_bytes(std::span(into)), size) != Outcome::ok)
		return std::nullopt;
	return into.substr(0, size);
}

/* Random operations on few keys, compared with a map. */
template <typename Table>
void walk(Table &table, unsigned seed, int steps)
{
	std::mt19937 random(seed);
	std::map<std::string, std::string> model;
	for (int step = 0; step < steps; step++) {
		const std::string key = "key" + std::to_string(random() % 300);
		const unsigned choice = random() % 10;
		if (choice < 4) {
			const std::string value = binary(random() % 4000, random());
			ASSERT_EQ(table.put(bytes_of(key), bytes_of(value)), Outcome::ok);
			model[key] = value;
		} else if (choice < 6) {
			const Outcome expected = model.erase(key) ? Outcome::ok : Outcome::not_found;
			ASSERT_EQ(table.erase(bytes_of(key)), expected);
		} else {
			const auto found = model.find(key);
			const auto expected = found == model.end() ? std::nullopt : std::optional(found->second);
			ASSERT_EQ(look_up(table, key), expected) << key;
		}
	}
	for (const auto &[key, value] : model)
		ASSERT_EQ(look_up(table, key), value);
}

TEST(RpcTable, BehavesLikeAMap)
{
	RpcTable table(300, 16 << 20);
	walk(table, 1, 30000);
}

TEST(RpcTable, HoldsWhatItPromises)
{
	constexpr unsigned capacity = 5000;
	RpcTable table(capacity, 16 << 20);
	for (unsigned i = 0; i < capacity; i++)
		ASSERT_EQ(table.put(bytes_of(std::to_string(i)), {}), Outcome::ok) << i;
	EXPECT_EQ(table.put(bytes_of("one more"), {}), Outcome::full);
	EXPECT_EQ(table.size(), capacity);
	EXPECT_EQ(table.put(bytes_of("17"), bytes_of("new")), Outcome::ok) << "an update needs no place";
	EXPECT_EQ(table.erase(bytes_of("18")), Outcome::ok);
	EXPECT_EQ(table.put(bytes_of("one more"), {}), Outcome::ok);
	EXPECT_EQ(look_up(table, "17"), "new");
	EXPECT_EQ(look_up(table, "18"), std::nullopt);
}

TEST(RpcTable, OutOfMemoryChangesNothing)
{
	RpcTable table(100, 64 * 10);
	ASSERT_EQ(table.put(bytes_of("a"), bytes_of("old")), Outcome::ok);
	EXPECT_EQ(table.put(bytes_of("a"), bytes_of(std::string(1000, 'x'))), Outcome::full);
	EXPECT_EQ(look_up(table, "a"), "old");
}

TEST(RpcTable, ThreadsSeeWholeValues)
{
	RpcTable table(100, 4 << 20);
	std::vector<std::thread> threads;
	for (unsigned t = 0; t < 4; t++) {
		threads.emplace_back([&table, t] {
			std::mt19937 random(t);
			for (int i = 0; i < 5000; i++) {
				const std::string key = std::to_string(random() % 8);
				if (random() % 4 == 0) {
					table.erase(bytes_of(key));
				} else if (random() % 2) {
					const std::string value(1 + random() % 1000, static_cast<char>('a' + t));
					ASSERT_EQ(table.put(bytes_of(key), bytes_of(value)), Outcome::ok);
				} else if (const auto value = look_up(table, key)) {
					ASSERT_EQ(value->find_first_not_of(value->front()), std::string::npos);
				}
			}
		});
	}
	for (std::thread &thread : threads)
		thread.join();
}

class Cuckoo : public testing::Test
{
protected:
	std::unique_ptr<CuckooTable> make(std::uint64_t entries, std::size_t memory = 16 << 20)
	{
		CuckooOptions options;
		options.entries = entries;
		options.memory = memory;
		return CuckooTable::create(pd, options).value();
	}

	/* Returns the value as a client finds it, by checksums alone. */
	static std::optional<std::string> read_as_client(const CuckooTable &table, const std::string &key)
	{
		const std::uint64_t entries = table.table().length / sizeof(Entry);
		for (const std::uint64_t place :
			pilaf::candidates(apps::hash_key(bytes_of(key), CuckooOptions{}.seed), entries)) {
			Entry entry;
			std::memcpy(
				&entry, reinterpret_cast<const Entry *>(table.table().address) + place, sizeof(entry));
			EXPECT_TRUE(entry.intact());
			if (entry.empty())
				continue;
			const std::span extent(reinterpret_cast<const std::byte *>(entry.address), entry.extent_size());
			EXPECT_EQ(pilaf::crc64(extent), entry.extent_crc);
			if (text_of(extent.first(entry.key_size)) == key)
				return text_of(extent.subspan(entry.key_size));
		}
		return std::nullopt;
	}

	Context context = open_context(Progress::caller);
	ProtectionDomain pd = ProtectionDomain::create(context).value();
};

TEST_F(Cuckoo, BehavesLikeAMap)
{
	const auto table = make(400);
	walk(*table, 2, 30000);
	EXPECT_GT(table->stats().moves, 0u);
}

TEST_F(Cuckoo, FillsToNineTenthsAndLosesNoKey)
{
	constexpr unsigned entries = 2000;
	const auto table = make(entries);
	unsigned stored = 0;
	while (table->put(bytes_of(std::to_string(stored)), bytes_of("value " + std::to_string(stored))) == Outcome::ok)
		stored++;
	EXPECT_GT(stored, entries * 85 / 100);
	EXPECT_LE(stored, entries);
	EXPECT_EQ(table->stats().objects, stored);
	EXPECT_GT(table->stats().moves, stored / 10);
	for (unsigned i = 0; i < stored; i++)
		ASSERT_EQ(read_as_client(*table, std::to_string(i)), "value " + std::to_string(i));
	EXPECT_EQ(read_as_client(*table, std::to_string(stored)), std::nullopt) << "the one that was refused";
}

TEST_F(Cuckoo, TinyTablesEnd)
{
	for (std::uint64_t entries = 1; entries < 12; entries++) {
		const auto table = make(entries);
		unsigned stored = 0;
		for (unsigned i = 0; i < 100; i++) {
			if (table->put(bytes_of(std::to_string(i)), {}) == Outcome::ok)
				stored++;
		}
		EXPECT_GE(stored, 1u);
		EXPECT_LE(stored, entries);
		unsigned found = 0;
		for (unsigned i = 0; i < 100; i++)
			found += look_up(*table, std::to_string(i)).has_value();
		EXPECT_EQ(found, stored);
	}
}

TEST_F(Cuckoo, OutOfMemoryChangesNothing)
{
	const auto table = make(100, 64 * 10);
	ASSERT_EQ(table->put(bytes_of("a"), bytes_of("old")), Outcome::ok);
	EXPECT_EQ(table->put(bytes_of("a"), bytes_of(std::string(1000, 'x'))), Outcome::full);
	EXPECT_EQ(look_up(*table, "a"), "old");
}

TEST_F(Cuckoo, EmptyPlacesVerifyThemselves)
{
	const auto table = make(10);
	EXPECT_EQ(read_as_client(*table, "nobody"), std::nullopt);
	ASSERT_EQ(table->put(bytes_of("a"), {}), Outcome::ok);
	ASSERT_EQ(table->erase(bytes_of("a")), Outcome::ok);
	EXPECT_EQ(read_as_client(*table, "a"), std::nullopt);
}

TEST_F(Cuckoo, OptionsWithoutRoomAreRefused)
{
	CuckooOptions options;
	options.entries = 0;
	EXPECT_EQ(CuckooTable::create(pd, options).error().code, EINVAL);
	options.entries = 1;
	options.memory = 0;
	EXPECT_EQ(CuckooTable::create(pd, options).error().code, EINVAL);
}

/* A checksum that misses any single damaged byte would miss torn reads. */
TEST(Entry, EveryChangedByteIsSeen)
{
	Entry entry{0x12345678, 8, 512, 0xabcdef, 0};
	entry.seal();
	ASSERT_TRUE(entry.intact());
	for (std::size_t at = 0; at < sizeof(entry); at++) {
		Entry changed = entry;
		reinterpret_cast<unsigned char *>(&changed)[at] ^= 0x10;
		EXPECT_FALSE(changed.intact()) << at;
	}
}

TEST(Entry, MixturesOfTwoAreSeen)
{
	Entry one{0x10000, 8, 512, 0x1111, 0}, other{0x20000, 9, 100, 0x2222, 0};
	one.seal();
	other.seal();
	for (unsigned mixture = 1; mixture < 15; mixture++) {
		Entry torn = one;
		for (unsigned word = 0; word < 4; word++) {
			if (mixture & 1u << word)
				std::memcpy(reinterpret_cast<char *>(&torn) + 8 * word,
					reinterpret_cast<const char *>(&other) + 8 * word, 8);
		}
		EXPECT_FALSE(torn.intact()) << mixture;
	}
}

TEST(Entry, ChecksumOfPartsIsThatOfTheWhole)
{
	const std::string text = binary(700);
	for (const std::size_t cut : {0, 1, 8, 699, 700})
		EXPECT_EQ(pilaf::crc64(bytes_of(text.substr(cut)), pilaf::crc64(bytes_of(text.substr(0, cut)))),
			pilaf::crc64(bytes_of(text)));
}

} // namespace
