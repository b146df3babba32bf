/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of packets in memory that two processes share: one producer, one consumer. docs/local-path.md has its layout.
 *
 * Each side trusts only its own copies of what it has written. It reads each value of the other side once and checks
 * it: a ring with a false value is broken for good. A record becomes visible with the index behind it, so the consumer
 * never sees an unfinished one.
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

/** Alignment of records: each begins on a cache line of its own, so that reading one does not disturb writing the
 * next. */
inline constexpr std::uint32_t record_alignment = 64;

/** Header of a record; the packet follows. Both processes run on this host. */
struct RecordHeader {
	std::uint32_t length = 0;     /**< of the packet, or wrap_mark */
	std::uint8_t source = 0;      /**< index in the producer's addresses */
	std::uint8_t destination = 0; /**< index in the consumer's */
	std::uint16_t unused = 0;
};
static_assert(sizeof(RecordHeader) == sizeof(std::uint64_t));

/** Length that says that the next record is at the beginning of the ring. */
inline constexpr std::uint32_t wrap_mark = ~std::uint32_t{0};

[[nodiscard]] constexpr std::uint32_t record_size(std::size_t packet)
{
	return static_cast<std::uint32_t>(
		(packet + sizeof(RecordHeader) + record_alignment - 1) & ~std::size_t{record_alignment - 1});
}

inline constexpr std::uint32_t max_record_size = record_size(max_packet_size);

/** Indices of one direction: bytes since the ring was made, modulo 2^32. */
struct RingIndices {
	alignas(record_alignment) std::atomic<std::uint32_t> head; /**< end of the published records; the producer's */
	alignas(record_alignment) std::atomic<std::uint32_t> tail; /**< end of the released ones; the consumer's */
	std::atomic<std::uint32_t> starved;                        /**< true while the producer sleeps for room */
};

/** One direction, as it lies in shared memory. */
struct Ring {
	RingIndices *indices = nullptr;
	std::uint8_t *data = nullptr;
};

/** Buffer for a long record, which is then copied to the ring as a whole, past the caches. */
struct StagedRecord {
	alignas(record_alignment) std::array<std::uint8_t, max_record_size> bytes;
};

/** Size of records that are staged; shorter ones are read sooner if they stay in a cache (streamed_copy.hpp). */
inline constexpr std::uint32_t staged_record_size = 1024;

class RingProducer
{
public:
	RingProducer() = default;
	/** @param staging may be shared by producers if never two of them have begun a packet; null: every record stays
	 * in the caches */
	RingProducer(Ring ring, StagedRecord *staging) : ring_(ring), staging_(staging) {}

	/** Returns room for one packet, until commit(); null if there is none. */
	std::uint8_t *begin(const RecordHeader &header);
	/** Completes the packet last begun: the next publish() shows it. */
	void commit();

	/** Returns true if @p count packets of any size fit. */
	[[nodiscard]] bool has_room(std::uint32_t count);
	/** Bytes that the consumer had released when there was last no room. */
	[[nodiscard]] std::uint32_t taken() const { return tail_; }

	[[nodiscard]] bool has_unpublished() const { return head_ != published_; }
	[[nodiscard]] std::uint32_t unpublished() const { return head_ - published_; }
	/** Publishes, in one total order with what sleepers set and check (bell.hpp). */
	void publish()
	{
		published_ = head_;
		ring_.indices->head.store(head_, std::memory_order_seq_cst);
	}

	/** Asks the consumer to tell when there is room, before sleeping. */
	void starve(bool is) { ring_.indices->starved.store(is, std::memory_order_seq_cst); }

	/** Returns true if the consumer's index was impossible. */
	[[nodiscard]] bool broken() const { return broken_; }

private:
	[[nodiscard]] bool fits(std::uint32_t bytes);
	[[nodiscard]] bool is_staged() const
	{
		return staging_ && next_ - head_ >= staged_record_size;
	} /* last begun */
	std::uint8_t *at(std::uint32_t index) { return ring_.data + index % ring_bytes; }

	Ring ring_;
	StagedRecord *staging_ = nullptr;
	std::uint32_t head_ = 0;      /* end of the committed records */
	std::uint32_t next_ = 0;      /* end of the record last begun */
	std::uint32_t published_ = 0; /* as the consumer sees it */
	std::uint32_t tail_ = 0;      /* as last seen */
	bool broken_ = false;
};

class RingConsumer
{
public:
	RingConsumer() = default;
	explicit RingConsumer(Ring ring) : ring_(ring) {}

	/** Returns true if take() has something to look at. */
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
	 * Gives the taken bytes back to the producer.
	 * @return true if the producer may sleep and must be told.
	 */
	[[nodiscard]] bool release();

	/** Returns true if the producer's index, or a record, was impossible. */
	[[nodiscard]] bool broken() const { return broken_; }

private:
	[[nodiscard]] bool look();
	RecordHeader fail();

	Ring ring_;
	std::uint32_t tail_ = 0;     /* end of the taken records */
	std::uint32_t released_ = 0; /* as the producer sees it */
	std::uint32_t head_ = 0;     /* as last seen */
	bool was_full_ = false;      /* so full that the producer may have found no room */
	bool broken_ = false;
};

} // namespace prism::soft
