/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The executor in cases that the random walk does not reach: faults between the packets of a message. */
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "prism_exec.h"
}

namespace
{

constexpr std::uint64_t base = 0x1000;
constexpr std::uint32_t memory_key = 7;
constexpr std::uint32_t scratch_key = 8; /* the last 64 bytes */

/** 4 KiB of memory under one key, the end of it under another; one free list with one buffer. */
class Device
{
public:
	std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4096);
	bool memory_live = true;
	bool scratch_live = true;
	bool buffer_free = true;
	int returned = 0;
	int held = 0;
	/** Simulates another processor that changes the memory; called before each load. */
	std::function<void()> meanwhile = [] {};

	static constexpr std::uint64_t buffer_va = base + 1024;
	static constexpr std::uint64_t scratch_va = base + 4096 - 64;

	prism_result result{};
	prism_message message{};
	bool chain_ok = true;

	prism_reject packet(const prism_request &request)
	{
		return prism_message_packet(&env, this, &message, &request, chain_ok, &result);
	}
	void abort() { prism_message_abort(&env, this, &message); }
	void execute(const prism_request &request) { prism_execute(&env, this, &request, chain_ok, &result); }

private:
	static Device &self(void *ctx) { return *static_cast<Device *>(ctx); }
	static bool get(void *ctx, u32 rkey, u64 va, u32 length, u32, prism_span *span)
	{
		Device &device = self(ctx);
		*span = {nullptr, va, length};
		if (!length)
			return true;
		const bool key = (rkey == memory_key && device.memory_live) ||
				 (rkey == scratch_key && device.scratch_live && va >= scratch_va);
		if (!key || va < base || va + length > base + device.bytes.size())
			return false;
		span->region = device.bytes.data() + (va - base);
		device.held++;
		return true;
	}
	static void put(void *ctx, prism_span *span) { self(ctx).held -= span->region != nullptr; }
	static std::uint8_t *at(const prism_span *span, u32 offset)
	{
		return static_cast<std::uint8_t *>(span->region) + offset;
	}
	static void load(void *ctx, const prism_span *span, u32 offset, void *to, u32 length)
	{
		self(ctx).meanwhile();
		if (length)
			std::memcpy(to, at(span, offset), length);
	}
	static void store(void *, const prism_span *span, u32 offset, const void *from, u32 length)
	{
		if (length)
			std::memcpy(at(span, offset), from, length);
	}
	static void copy(void *, const prism_span *to, const prism_span *from, u32 length)
	{
		std::memmove(at(to, 0), at(from, 0), length);
	}
	static void lock(void *, const prism_span *, u32, u32) {}
	static prism_pop pop(void *ctx, u32 list, u32 length, prism_buffer *buffer)
	{
		Device &device = self(ctx);
		if (list != 1)
			return PRISM_POP_NO_LIST;
		if (!device.buffer_free)
			return PRISM_POP_EMPTY;
		if (length > 1024)
			return PRISM_POP_TOO_LARGE;
		device.buffer_free = false;
		*buffer = {buffer_va, 1024, memory_key, 1, 0};
		return PRISM_POP_OK;
	}
	static void give_back(void *ctx, prism_buffer *)
	{
		self(ctx).buffer_free = true;
		self(ctx).returned++;
	}

	static constexpr prism_env env{get, put, load, store, copy, lock, lock, pop, give_back};
};

const std::vector<std::uint8_t> payload(256, 0x77);

prism_request piece(prism_op op, bool first, bool last, std::uint32_t total)
{
	prism_request request{};
	request.op = static_cast<u8>(op);
	request.first = first;
	request.last = last;
	request.length = total;
	request.free_list = 1;
	request.rkey = memory_key;
	request.va = base;
	request.payload = payload.data();
	request.payload_length = 256;
	return request;
}

prism_request allocate(bool first, bool last)
{
	prism_request request = piece(PRISM_ALLOCATE, first, last, 512);
	request.flags = PRISM_FLAG_R;
	request.aux_va = Device::scratch_va;
	request.aux_rkey = scratch_key;
	return request;
}

/** Stores a pointer to @p bound bytes at @p address at the start of the memory. */
void publish(Device &device, std::uint64_t address, std::uint32_t bound)
{
	std::memcpy(device.bytes.data(), &address, sizeof(address));
	std::memcpy(device.bytes.data() + 8, &bound, sizeof(bound));
}

/** S.4.4: it is unknown which pointer the bound belongs to, but the pointer was null in between. */
TEST(Exec, ABoundedPointerThatChangesMeanwhileIsNull)
{
	Device device;
	prism_request request = piece(PRISM_READ, true, true, 64);
	request.flags = PRISM_FLAG_T | PRISM_FLAG_B;
	publish(device, base + 256, 16);
	device.execute(request);
	EXPECT_EQ(device.result.read_va, base + 256);
	EXPECT_EQ(device.result.read_length, 16u);
	std::uint32_t loads = 0;
	device.meanwhile = [&] {
		loads++;
		publish(device, base + 256 + 16u * loads, 16u + loads);
	};
	device.execute(request);
	EXPECT_EQ(device.result.fault, PRISM_NO_FAULT);
	EXPECT_EQ(device.result.status, PRISM_STATUS_NULL_POINTER);
	EXPECT_FALSE(device.result.reads);
	EXPECT_GE(loads, 2u);
}

TEST(Exec, UnfinishedAllocateGivesItsBufferBack)
{
	Device device;
	EXPECT_EQ(device.packet(allocate(true, false)), PRISM_ACCEPT);
	EXPECT_FALSE(device.buffer_free);
	device.abort();
	EXPECT_TRUE(device.buffer_free);
	device.abort();
	EXPECT_EQ(device.returned, 1) << "once";
}

TEST(Exec, AuxGoneBeforeTheLastPacket)
{
	Device device;
	device.packet(allocate(true, false));
	device.scratch_live = false;
	EXPECT_EQ(device.packet(allocate(false, true)), PRISM_ACCEPT);
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_EQ(device.held, 0);
	device.abort();
	EXPECT_EQ(device.returned, 1);
}

TEST(Exec, BufferGoneBetweenPackets)
{
	Device device;
	device.packet(allocate(true, false));
	device.memory_live = false;
	device.packet(allocate(false, true));
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_EQ(device.held, 0);
}

TEST(Exec, WriteHoldsNothingBetweenPackets)
{
	Device device;
	EXPECT_EQ(device.packet(piece(PRISM_WRITE, true, false, 512)), PRISM_ACCEPT);
	EXPECT_EQ(device.held, 0);
	device.memory_live = false;
	EXPECT_EQ(device.packet(piece(PRISM_WRITE, false, true, 512)), PRISM_ACCEPT);
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_EQ(device.bytes[255], 0x77);
	EXPECT_EQ(device.bytes[256], 0);
}

TEST(Exec, WriteChecksAllOfItsTargetFirst)
{
	Device device;
	prism_request request = piece(PRISM_WRITE, true, false, 512);
	request.va = base + 4096 - 300;
	device.packet(request);
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_TRUE(std::all_of(device.bytes.begin(), device.bytes.end(), [](std::uint8_t b) { return b == 0; }));
	EXPECT_FALSE(device.message.active);
}

TEST(Exec, SkippedMessageIsConsumed)
{
	Device device;
	device.chain_ok = false;
	prism_request first = allocate(true, false), last = allocate(false, true);
	first.flags |= PRISM_FLAG_C;
	last.flags |= PRISM_FLAG_C;
	EXPECT_EQ(device.packet(first), PRISM_ACCEPT);
	device.chain_ok = true; /* the first packet has decided */
	EXPECT_EQ(device.packet(last), PRISM_ACCEPT);
	EXPECT_EQ(device.result.status, PRISM_STATUS_SKIPPED);
	EXPECT_TRUE(device.buffer_free);
	EXPECT_FALSE(device.message.active);
}

TEST(Exec, EmptyAllocateTakesABuffer)
{
	Device device;
	prism_request request = piece(PRISM_ALLOCATE, true, true, 0);
	request.payload_length = 0;
	device.execute(request);
	EXPECT_EQ(device.result.fault, PRISM_NO_FAULT);
	EXPECT_EQ(device.result.value, Device::buffer_va);
	EXPECT_FALSE(device.buffer_free);
}

TEST(Exec, ABufferThatCannotBeWrittenComesBack)
{
	Device device;
	device.memory_live = false;
	prism_request request = piece(PRISM_ALLOCATE, true, true, 256);
	device.execute(request);
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_EQ(device.returned, 1);
	EXPECT_EQ(device.held, 0);
}

TEST(Exec, AFaultInAuxCostsNoBuffer)
{
	Device device;
	device.scratch_live = false;
	device.packet(allocate(true, false));
	EXPECT_EQ(device.result.fault, PRISM_FAULT_ACCESS);
	EXPECT_TRUE(device.buffer_free);
	EXPECT_EQ(device.held, 0);
}

TEST(Exec, SkippedWriteIsConsumed)
{
	Device device;
	device.chain_ok = false;
	for (const bool first : {true, false}) {
		prism_request request = piece(PRISM_WRITE, first, !first, 512);
		request.flags = PRISM_FLAG_C;
		EXPECT_EQ(device.packet(request), PRISM_ACCEPT);
	}
	EXPECT_EQ(device.result.status, PRISM_STATUS_SKIPPED);
	EXPECT_TRUE(std::all_of(device.bytes.begin(), device.bytes.end(), [](std::uint8_t b) { return b == 0; }));
}

TEST(Exec, PacketsOfOneMessageAgree)
{
	Device device;
	EXPECT_EQ(device.packet(piece(PRISM_WRITE, false, true, 512)), PRISM_BAD_FORMAT) << "no first packet";
	device.packet(piece(PRISM_WRITE, true, false, 512));
	EXPECT_EQ(device.packet(piece(PRISM_WRITE, true, false, 512)), PRISM_BAD_FORMAT) << "two first packets";
	EXPECT_EQ(device.packet(piece(PRISM_ALLOCATE, false, true, 512)), PRISM_BAD_FORMAT) << "of another operation";
	prism_request conditional = piece(PRISM_WRITE, false, true, 512);
	conditional.flags = PRISM_FLAG_C;
	EXPECT_EQ(device.packet(conditional), PRISM_BAD_FLAGS);
	prism_request brief = piece(PRISM_WRITE, false, true, 512);
	brief.payload_length = 255;
	EXPECT_EQ(device.packet(brief), PRISM_BAD_FORMAT);
	EXPECT_EQ(device.packet(piece(PRISM_WRITE, false, true, 512)), PRISM_ACCEPT);
	EXPECT_EQ(device.result.value, 512u);
}

} // namespace
