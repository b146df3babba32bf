/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Clients that send invalid messages, and clients that die. */
#include "support.hpp"

#include "farm/message.hpp"
#include "locking/message.hpp"
#include "tx_calls/body.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace
{

using namespace tx_rivals;

/** Builder of the part after a header. */
class Message
{
public:
	template <typename T>
	Message &put(T field)
	{
		const std::size_t at = bytes_.size();
		bytes_.resize(at + sizeof(T));
		apps::store(&bytes_[at], field);
		return *this;
	}
	Message &text(const std::string &text)
	{
		bytes_.insert(bytes_.end(), bytes_of(text).begin(), bytes_of(text).end());
		return *this;
	}
	[[nodiscard]] const std::vector<std::byte> &bytes() const { return bytes_; }

private:
	std::vector<std::byte> bytes_;
};

/** Connection on which a test sends any messages. */
class RawClient : private rpc::ClientLink::Listener
{
public:
	struct Answer {
		std::uint16_t result = 0;
		std::uint32_t items = 0;
		std::vector<std::byte> body;
	};

	RawClient(const apps::ServerAddress &address, const apps::StoreKind &kind)
	{
		const apps::Hello wanted{kind};
		rpc::ClientOptions options;
		options.depth = 2;
		const auto sizes = [](const ConnectionRecord &, const apps::Hello &) -> Result<rpc::SlotSizes> {
			return rpc::SlotSizes{32768, 32768, 0};
		};
		link_ = rpc::ClientLink::connect(context_, address.host, address.port, wanted, options, sizes).value();
	}

	/* Returns nothing if the server has broken off. */
	template <typename Call>
	std::optional<Answer> call(Call call, std::uint16_t lane, std::uint32_t items, const Message &message = {})
	{
		const rpc::MessageHeader header{static_cast<std::uint8_t>(call), lane, items, 0};
		const std::span<std::byte> request = link_->request(0);
		header.serialize_request(request.data());
		std::copy(message.bytes().begin(), message.bytes().end(), request.begin() + rpc::message_header_size);
		answer_.reset();
		link_->call(0, rpc::message_header_size + message.bytes().size());
		while (!answer_ && !link_->broken())
			link_->poll(*this);
		return answer_;
	}

private:
	void on_response(std::uint32_t, std::span<const std::byte> response) noexcept override
	{
		rpc::MessageHeader header;
		EXPECT_EQ(header.parse_response(response), nullptr);
		const auto body = response.subspan(rpc::message_header_size);
		answer_ = Answer{header.detail, header.size, {body.begin(), body.end()}};
	}
	void on_read(std::uint32_t) noexcept override {}

	Context context_ = Context::open("prism_lo", Progress::caller).value();
	std::unique_ptr<rpc::ClientLink> link_;
	std::optional<Answer> answer_;
};

template <typename Store>
class Hostile : public testing::Test
{
protected:
	std::unique_ptr<RawClient> raw() { return std::make_unique<RawClient>(served.addresses[0], Store::kind); }

	template <typename Call>
	void expect_closed(
		Call call, std::uint16_t lane, std::uint32_t items, const Message &message, const std::string &reason)
	{
		const std::uint64_t before = served.server().stats().server.malformed;
		EXPECT_FALSE(raw()->call(call, lane, items, message)) << reason;
		EXPECT_TRUE(wait_until([&] { return served.server().stats().server.malformed == before + 1; }));
		EXPECT_TRUE(served.log.has("malformed request: " + reason)) << reason << "\n" << served.log.text();
	}

	/* Checks that a new client is served, whatever happened to the others, and finds no lock of theirs for long. */
	void expect_service()
	{
		auto client = served.client();
		EXPECT_EQ(put(*client, "key", "value"), Outcome::committed);
		EXPECT_EQ(get(*client, "key"), "value");
	}

	Served<Store> served;
};

using FarmMessages = Hostile<Farm>;
using LockingMessages = Hostile<Locking>;

namespace f = farm;
namespace l = locking;

Message lock_key(const std::string &key, f::LockKind kind = f::LockKind::any_key, std::uint8_t reply = 0,
	std::uint32_t value_size = 10)
{
	Message message;
	message.put(static_cast<std::uint8_t>(kind)).put(reply).put(static_cast<std::uint16_t>(key.size()));
	message.put(value_size).put(std::uint64_t{0}).text(key);
	return message;
}

Message update_to(const std::string &value)
{
	Message message;
	message.put(static_cast<std::uint32_t>(value.size())).text(value);
	return message;
}

TEST_F(FarmMessages, WellBehaved)
{
	auto client = raw();
	const auto locked = client->call(f::Call::lock, 0, 1, lock_key("key", f::LockKind::any_key, 1));
	ASSERT_TRUE(locked);
	EXPECT_EQ(locked->result, 0u);
	EXPECT_EQ(locked->items, 1u);
	EXPECT_EQ(locked->body.size(), f::lock_reply_size);
	ASSERT_TRUE(client->call(f::Call::update, 0, 1, update_to("value")));
	EXPECT_EQ(get(*served.client(), "key"), "value");
	EXPECT_TRUE(client->call(f::Call::abort, 1, 0));
}

TEST_F(FarmMessages, Malformed)
{
	const Message nothing;
	expect_closed(f::Call{9}, 0, 0, nothing, "unknown call");
	expect_closed(f::Call::lock, 2, 1, lock_key("key"), "a lane beyond what was announced");
	expect_closed(f::Call::lock, 0, 2, lock_key("key"), "shorter than what the header announces");
	expect_closed(f::Call::lock, 0, 0, lock_key("key"), "longer than what the header announces");
	expect_closed(f::Call::lock, 0, ~0u, lock_key("key"), "too many keys");
	expect_closed(f::Call::lock, 0, 1, lock_key("key", f::LockKind{4}), "unknown kind of lock");
	expect_closed(f::Call::lock, 0, 1, lock_key("", f::LockKind::object, 1), "unknown kind of lock");
	expect_closed(f::Call::lock, 0, 1, lock_key("key", f::LockKind::object), "key of a forbidden size");
	expect_closed(f::Call::lock, 0, 1, lock_key(""), "key of a forbidden size");
	expect_closed(f::Call::lock, 0, 1, lock_key(std::string(longest_key + 1, 'k')), "key of a forbidden size");
	expect_closed(f::Call::lock, 0, 1, lock_key("key", f::LockKind::any_key, 0, 1025), "value of a forbidden size");
	expect_closed(f::Call::update, 0, 1, update_to("value"), "another number of values than of locks");
	expect_closed(f::Call::abort, 0, 1, nothing, "an abort of something");
	expect_closed(f::Call::validate, 0, 1, nothing, "shorter than what the header announces");
	Message mark;
	mark.put(std::uint32_t{3}).put(std::uint32_t{0}).put(std::uint64_t{0}).put(std::uint64_t{0});
	expect_closed(f::Call::validate, 0, 1, mark, "unknown kind of mark");
	EXPECT_TRUE(comes_to_objects(served, 0)) << "what was locked on the way was released";
	expect_service();
}

TEST_F(FarmMessages, WhatLooksRightAndIsNot)
{
	auto client = raw();
	Message mark;
	mark.put(std::uint32_t{1}).put(~std::uint32_t{0}).put(std::uint64_t{2}).put(std::uint64_t{0});
	EXPECT_EQ(client->call(f::Call::validate, 0, 1, mark)->result, 1u) << "an object that there is not";
	Message bucket;
	bucket.put(std::uint32_t{2}).put(~std::uint32_t{0}).put(std::uint64_t{0}).put(std::uint64_t{0});
	EXPECT_EQ(client->call(f::Call::validate, 0, 1, bucket)->result, 1u);
	Message object;
	object.put(std::uint8_t{1}).put(std::uint8_t{0}).put(std::uint16_t{0});
	object.put(~std::uint32_t{0}).put(std::uint64_t{2});
	EXPECT_EQ(client->call(f::Call::lock, 0, 1, object)->result, 1u);
	/* The same key twice */
	Message twice = lock_key("key");
	twice.put(std::uint8_t{3}).put(std::uint8_t{0}).put(std::uint16_t{3});
	twice.put(std::uint32_t{0}).put(std::uint64_t{0}).text("key");
	EXPECT_EQ(client->call(f::Call::lock, 0, 2, twice)->result, 1u);
	EXPECT_EQ(served.server().stats().objects, 0u);
	expect_service();
}

/* Between LOCK and UPDATE everything is checked before anything is changed. */
TEST_F(FarmMessages, UpdatesThatDoNotFit)
{
	const std::array<std::pair<Message, std::string>, 3> bad{{
		{Message().put(std::uint32_t{1025}).text(std::string(1025, 'v')), "value of a forbidden size"},
		{Message().put(std::uint32_t{10}).text("short"), "shorter than what the header announces"},
		{Message().put(std::uint32_t{2}).text("long"), "longer than what the header announces"},
	}};
	auto reader = served.client();
	ASSERT_EQ(put(*reader, "key", "before"), Outcome::committed);
	for (const auto &[message, reason] : bad) {
		auto client = raw();
		ASSERT_EQ(client->call(f::Call::lock, 0, 1, lock_key("key"))->result, 0u);
		EXPECT_FALSE(client->call(f::Call::update, 0, 1, message));
		EXPECT_TRUE(served.log.has(reason));
		EXPECT_EQ(get(*reader, "key"), "before");
	}
	auto client = raw();
	ASSERT_EQ(client->call(f::Call::lock, 0, 1, lock_key("key"))->result, 0u);
	EXPECT_FALSE(client->call(f::Call::lock, 0, 1, lock_key("other")));
	EXPECT_TRUE(served.log.has("a lane that holds locks already"));
	expect_service();
}

/* A client's locks end with its connection, and so do the keys that it has made. */
TEST_F(FarmMessages, ClientThatDies)
{
	auto other = served.client();
	ASSERT_EQ(put(*other, "old", "before"), Outcome::committed);
	auto dying = raw();
	ASSERT_EQ(dying->call(f::Call::lock, 0, 1, lock_key("old"))->result, 0u);
	ASSERT_EQ(dying->call(f::Call::lock, 1, 1, lock_key("new"))->result, 0u);
	const auto write = [](const std::string &key) -> Body {
		return [key](Transaction &t) -> apps::Task<int> { co_return t.write(bytes_of(key), bytes_of("x")); };
	};
	EXPECT_EQ(run(*other, write("old"), 3), Outcome::conflict);
	EXPECT_EQ(run(*other, write("new"), 3), Outcome::conflict);
	const Body read = [](Transaction &t) -> apps::Task<int> { co_return co_await t.fetch(bytes_of("old")); };
	EXPECT_EQ(run(*other, read, 1), Outcome::conflict) << "a reader does not pass a lock either";
	EXPECT_GT(other->stats().locked, 0u);
	dying.reset();
	EXPECT_TRUE(wait_until([&] { return served.server().stats().abandoned == 2; }));
	EXPECT_EQ(get(*other, "old"), "before");
	EXPECT_EQ(get(*other, "new"), std::nullopt);
	EXPECT_EQ(run(*other, write("new"), 1), Outcome::committed);
}

Message fetch_keys(const std::vector<std::string> &keys, l::Mode mode = l::Mode::shared)
{
	Message message;
	message.put(static_cast<std::uint8_t>(mode));
	for (const std::string &key : keys)
		message.put(static_cast<std::uint16_t>(key.size())).text(key);
	return message;
}

Message change_key(const std::string &key, const std::string &value, std::uint32_t position = l::no_position)
{
	Message message;
	message.put(position).put(static_cast<std::uint16_t>(key.size())).text(key);
	message.put(static_cast<std::uint32_t>(value.size())).text(value);
	return message;
}

TEST_F(LockingMessages, WellBehaved)
{
	auto client = raw();
	ASSERT_EQ(client->call(l::Call::commit, 0, 1, change_key("key", "value"))->result, 0u);
	const auto fetched = client->call(l::Call::fetch, 0, 2, fetch_keys({"key", "none"}));
	ASSERT_TRUE(fetched);
	EXPECT_EQ(fetched->items, 2u);
	EXPECT_EQ(fetched->body.size(), 4u + 5 + 4);
	EXPECT_EQ(client->call(l::Call::commit, 0, 1, change_key("", "other", 0))->result, 0u);
	EXPECT_EQ(get(*served.client(), "key"), "other");
}

TEST_F(LockingMessages, Malformed)
{
	const Message nothing;
	expect_closed(l::Call{0}, 0, 0, nothing, "unknown call");
	expect_closed(l::Call::fetch, 2, 1, fetch_keys({"key"}), "a lane beyond what was announced");
	expect_closed(l::Call::fetch, 0, 0, nothing, "shorter than what the header announces");
	expect_closed(l::Call::fetch, 0, 2, fetch_keys({"key"}), "shorter than what the header announces");
	expect_closed(l::Call::fetch, 0, 0, fetch_keys({"key"}), "longer than what the header announces");
	expect_closed(l::Call::fetch, 0, ~0u, fetch_keys({"key"}), "too many keys");
	expect_closed(l::Call::fetch, 0, 32, fetch_keys({"key"}), "more keys than an answer has room for");
	expect_closed(l::Call::fetch, 0, 1, fetch_keys({"key"}, l::Mode{3}), "unknown kind of lock");
	expect_closed(l::Call::fetch, 0, 1, fetch_keys({""}), "key of a forbidden size");
	expect_closed(l::Call::fetch, 0, 1, fetch_keys({std::string(longest_key + 1, 'k')}), "key of a forbidden size");
	expect_closed(l::Call::commit, 0, 1, change_key("", "v", 0), "a lock that the lane does not hold");
	expect_closed(l::Call::commit, 0, 1, change_key("key", "v", 0), "key of a forbidden size");
	expect_closed(l::Call::commit, 0, 1, change_key("", "v"), "key of a forbidden size");
	expect_closed(l::Call::commit, 0, 1, change_key("key", std::string(1025, 'v')), "value of a forbidden size");
	expect_closed(l::Call::commit, 0, 2, change_key("key", "v"), "shorter than what the header announces");
	expect_closed(l::Call::prepare, 0, 1, change_key("key", "v"), "longer than what the header announces");
	expect_closed(l::Call::prepare, 0, ~0u, nothing, "too many keys");
	expect_closed(l::Call::release, 0, 1, nothing, "a release of something");
	EXPECT_EQ(served.server().stats().objects, 0u);
	expect_service();
}

/* One lock refused: the lane holds none, and nothing was changed. */
TEST_F(LockingMessages, RefusedAsAWhole)
{
	auto one = raw(), other = raw();
	ASSERT_EQ(one->call(l::Call::fetch, 0, 1, fetch_keys({"b"}))->result, 0u);
	ASSERT_EQ(other->call(l::Call::fetch, 0, 1, fetch_keys({"a"}))->result, 0u);
	Message both = change_key("", "v", 0);
	both.put(l::no_position).put(std::uint16_t{1}).text("b").put(std::uint32_t{1}).text("v");
	EXPECT_EQ(other->call(l::Call::commit, 0, 2, both)->result, 1u);
	EXPECT_EQ(served.server().stats().objects, 0u);
	EXPECT_EQ(one->call(l::Call::fetch, 0, 1, fetch_keys({"a"}, l::Mode::exclusive))->result, 0u);
	EXPECT_EQ(other->call(l::Call::fetch, 0, 2, fetch_keys({"c", "a"}))->result, 1u);
	EXPECT_EQ(one->call(l::Call::fetch, 0, 1, fetch_keys({"c"}, l::Mode::exclusive))->result, 0u);
	EXPECT_TRUE(one->call(l::Call::release, 0, 0));
	expect_service();
}

TEST_F(LockingMessages, ClientThatDies)
{
	auto other = served.client();
	ASSERT_EQ(put(*other, "old", "before"), Outcome::committed);
	auto dying = raw();
	ASSERT_EQ(dying->call(l::Call::fetch, 0, 2, fetch_keys({"old", "new"}, l::Mode::exclusive))->result, 0u);
	ASSERT_EQ(dying->call(l::Call::fetch, 1, 1, fetch_keys({"read"}))->result, 0u);
	const auto write = [](const std::string &key) -> Body {
		return [key](Transaction &t) -> apps::Task<int> { co_return t.write(bytes_of(key), bytes_of("x")); };
	};
	for (const std::string key : {"old", "new", "read"})
		EXPECT_EQ(run(*other, write(key), 3), Outcome::conflict) << key;
	dying.reset();
	EXPECT_TRUE(wait_until([&] { return served.server().stats().abandoned == 3; }));
	EXPECT_EQ(get(*other, "old"), "before");
	EXPECT_EQ(get(*other, "new"), std::nullopt);
	EXPECT_EQ(run(*other, write("read"), 1), Outcome::committed);
}

} // namespace
