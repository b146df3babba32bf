/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of packets in memory that two processes share: one producer, one consumer. docs/local-path.md has its layout.
 *
 * Each side believes only what it has written itself, in memory of its own. What it reads of the other's it reads once
 * and checks: a ring that lies is broken for good. A record is seen when the index behind it is, so that whatever a
 * producer leaves unfinished is never seen.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "../packet.hpp"

namespace prism::soft
{

/** Bytes of records that a ring holds; a power of two. */
inline constexpr std::uint32_t ring_bytes = 1 << 16;

/** Records begin on cache lines of their own: whoever reads one is not in the way of whoever writes the next. */
inline constexpr std::uint32_t record_alignment = 64;

/** What a record begins with; the packet follows. Both processes run on this host. */
struct RecordHeader {
	std::uint32_t length = 0;     /**< of the packet, or wrap_mark */
	std::uint8_t source = 0;      /**< index in the producer's addresses */
	std::uint8_t destination = 0; /**< index in the consumer's */
	std::uint16_t unused = 0;
};
static_assert(sizeof(RecordHeader) == sizeof(std::uint64_t));

/** The next record begins where the ring does. */
inline constexpr std::uint32_t wrap_mark = ~std::uint32_t{0};

[[nodiscard]] constexpr std::uint32_t record_size(std::size_t packet)
{
	return static_cast<std::uint32_t>(
		(packet + sizeof(RecordHeader) + record_alignment - 1) & ~std::size_t{record_alignment - 1});
}

inline constexpr std::uint32_t max_record_size = record_size(max_packet_size);

/** Bytes since the ring was made, modulo 2^32. */
struct RingIndices {
	alignas(record_alignment) std::atomic<std::uint32_t> head; /**< published; the producer's */
	alignas(record_alignment) std::atomic<std::uint32_t> tail; /**< given back; the consumer's */
	std::atomic<std::uint32_t> starved;                        /**< the producer sleeps until there is room */
};

/** One direction, as it lies in shared memory. */
struct Ring {
	RingIndices *indices = nullptr;
	std::uint8_t *data = nullptr;
};

/** Where a long record is put together before it is copied to the ring as a whole, past the caches. */
struct StagedRecord {
	alignas(record_alignment) std::array<std::uint8_t, max_record_size> bytes;
};

/** Long ones; what is short is read sooner if it stays in a cache (streamed_copy.hpp). */
inline constexpr std::uint32_t staged_record_size = 1024;

class RingProducer
{
public:
	RingProducer() = default;
	/** @param staging may be shared by producers of which no two have begun a packet */
	RingProducer(Ring ring, StagedRecord &staging) : ring_(ring), staging_(&staging) {}

	/** Room for one packet, until commit(); null if there is none. */
	std::uint8_t *begin(const RecordHeader &header);
	/** The packet last begun is complete: the next publish() shows it. */
	void commit();

	/** Whether packets of any size fit, @p count of them. */
	[[nodiscard]] bool has_room(std::uint32_t count);
	/** Bytes that the consumer had given back when there was last no room. */
	[[nodiscard]] std::uint32_t taken() const { return tail_; }

	[[nodiscard]] bool has_unpublished() const { return head_ != published_; }
	[[nodiscard]] std::uint32_t unpublished() const { return head_ - published_; }
	/** In one total order with what sleepers say and look at (bell.hpp). */
	void publish()
	{
		published_ = head_;
		ring_.indices->head.store(head_, std::memory_order_seq_cst);
	}

	/** Before sleep: from now on the consumer tells when there is room. */
	void starve(bool is) { ring_.indices->starved.store(is, std::memory_order_seq_cst); }

	/** The consumer's index cannot be. */
	[[nodiscard]] bool broken() const { return broken_; }

private:
	[[nodiscard]] bool fits(std::uint32_t bytes);
	[[nodiscard]] bool is_staged() const { return next_ - head_ >= staged_record_size; } /* what is begun */
	std::uint8_t *at(std::uint32_t index) { return ring_.data + index % ring_bytes; }

	Ring ring_;
	StagedRecord *staging_ = nullptr;
	std::uint32_t head_ = 0;      /* of what is committed */
	std::uint32_t next_ = 0;      /* behind what is begun */
	std::uint32_t published_ = 0; /* as the consumer sees it */
	std::uint32_t tail_ = 0;      /* as last seen */
	bool broken_ = false;
};

class RingConsumer
{
public:
	RingConsumer() = default;
	explicit RingConsumer(Ring ring) : ring_(ring) {}

	/** Whether take() has something to look at. */
	[[nodiscard]] bool is_waiting()
	{
		return tail_ != head_ || ring_.indices->head.load(std::memory_order_seq_cst) != tail_;
	}

	/**
	 * Copies the next packet to @p packet, which has room for max_packet_size bytes, so that nobody changes it any
	 * more.
	 * @return its header; the length is 0 if there is none, or the ring is broken.
	 */
	RecordHeader take(std::uint8_t *packet);

	/**
	 * The producer gets back what was taken.
	 * @return whether the producer may sleep until it is told.
	 */
	[[nodiscard]] bool release();

	/** The producer's index, or a record, cannot be. */
	[[nodiscard]] bool broken() const { return broken_; }

private:
	[[nodiscard]] bool look();
	RecordHeader fail();

	Ring ring_;
	std::uint32_t tail_ = 0;     /* of what was taken */
	std::uint32_t released_ = 0; /* as the producer sees it */
	std::uint32_t head_ = 0;     /* as last seen */
	bool was_full_ = false;      /* so far that the producer may have found no room */
	bool broken_ = false;
};

} // namespace prism::soft
