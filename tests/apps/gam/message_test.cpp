/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/coherence/message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

using namespace prism::gam;

namespace
{

Message example(std::span<const std::byte> data)
{
	Message message;
	message.type = 7;
	message.flags = 3;
	message.error = 16;
	message.node = 5;
	message.block = Address(9, 4096);
	message.counter = 0x0102030405060708;
	message.request = 11;
	message.data = data;
	return message;
}

std::vector<std::byte> bytes_of(const Message &message)
{
	std::vector<std::byte> bytes(message.size());
	message.serialize(bytes.data());
	return bytes;
}

TEST(Message, ComesBackAsItWas)
{
	std::array<std::byte, block_size> block;
	block.fill(std::byte{0x5a});
	for (const std::span<const std::byte> data :
		{std::span<const std::byte>(), std::span<const std::byte>(block)}) {
		const std::vector<std::byte> bytes = bytes_of(example(data));
		const std::optional<Message> message = Message::parse(bytes);
		ASSERT_TRUE(message);
		EXPECT_EQ(message->type, 7);
		EXPECT_EQ(message->flags, 3);
		EXPECT_EQ(message->error, 16);
		EXPECT_EQ(message->node, 5);
		EXPECT_EQ(message->block, Address(9, 4096));
		EXPECT_EQ(message->counter, 0x0102030405060708);
		EXPECT_EQ(message->request, 11u);
		EXPECT_EQ(message->size(), bytes.size());
		EXPECT_TRUE(std::equal(data.begin(), data.end(), message->data.begin(), message->data.end()));
	}
}

TEST(Message, CutShortIsNone)
{
	std::array<std::byte, block_size> block{};
	const std::vector<std::byte> bytes = bytes_of(example(block));
	for (std::size_t length = 0; length < bytes.size(); length++)
		EXPECT_FALSE(Message::parse(std::span(bytes).first(length))) << length;
}

TEST(Message, OfAnotherLengthOrInsideOfABlockIsNone)
{
	std::vector<std::byte> bytes = bytes_of(example({}));
	bytes.resize(Message::max_size);
	bytes[7] = std::byte{1}; /* a length of 1 */
	EXPECT_FALSE(Message::parse(bytes));
	bytes[7] = std::byte{0};
	bytes[15] = std::byte{8}; /* the address's last byte */
	EXPECT_FALSE(Message::parse(bytes));
}

} // namespace
