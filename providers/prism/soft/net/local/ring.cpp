/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ring.hpp"

#include <bit>

#include "streamed_copy.hpp"

namespace prism::soft
{

namespace
{

/*
 * Bound that tells a consumer that the producer may have found no room. A producer without room has filled the ring
 * except for less than two of the longest records. The records taken since the producer's look are at most those that
 * the consumer had seen before: so then or now it sees more than this bound.
 */
constexpr std::uint32_t nearly_full = ring_bytes / 4;

[[nodiscard]] bool is_index(std::uint32_t value)
{
	return value % record_alignment == 0;
}

[[nodiscard]] RecordHeader load_header(const std::uint8_t *at)
{
	/* Load once, as a whole: the producer may go on writing. */
	const std::uint64_t word = std::atomic_ref<const std::uint64_t>(*reinterpret_cast<const std::uint64_t *>(at))
					   .load(std::memory_order_relaxed);
	return std::bit_cast<RecordHeader>(word);
}

} // namespace

bool RingProducer::fits(std::uint32_t bytes)
{
	if (ring_bytes - (head_ - tail_) >= bytes)
		return true;
	const std::uint32_t tail = ring_.indices->tail.load(std::memory_order_seq_cst);
	if (!is_index(tail) || head_ - tail > head_ - tail_) {
		broken_ = true;
		return false;
	}
	tail_ = tail;
	return ring_bytes - (head_ - tail_) >= bytes;
}

bool RingProducer::has_room(std::uint32_t count)
{
	/* One record may not fit before the end. */
	return !broken_ && fits((count + 1) * max_record_size);
}

std::uint8_t *RingProducer::begin(const RecordHeader &header)
{
	const std::uint32_t size = record_size(header.length);
	const std::uint32_t to_end = ring_bytes - head_ % ring_bytes;
	const std::uint32_t skipped = size > to_end ? to_end : 0;
	if (broken_ || !fits(skipped + size))
		return nullptr;
	if (skipped) {
		const RecordHeader mark{.length = wrap_mark};
		std::memcpy(at(head_), &mark, sizeof(mark));
	}
	head_ += skipped;
	next_ = head_ + size;
	std::uint8_t *const record = is_staged() ? staging_->bytes.data() : at(head_);
	std::memcpy(record, &header, sizeof(header));
	if (is_staged()) /* so that the consumer never sees old bytes */
		std::memset(record + sizeof(header) + header.length, 0, size - sizeof(header) - header.length);
	return record + sizeof(header);
}

void RingProducer::commit()
{
	if (is_staged())
		copy_streamed(at(head_), staging_->bytes.data(), next_ - head_);
	head_ = next_;
}

bool RingConsumer::look()
{
	if (tail_ != head_)
		return true;
	const std::uint32_t head = ring_.indices->head.load(std::memory_order_acquire);
	if (head == tail_)
		return false;
	if (!is_index(head) || head - tail_ > ring_bytes) {
		broken_ = true;
		return false;
	}
	head_ = head;
	was_full_ = was_full_ || head_ - released_ >= nearly_full;
	return true;
}

RecordHeader RingConsumer::fail()
{
	broken_ = true;
	return {};
}

RecordHeader RingConsumer::take(std::uint8_t *packet)
{
	for (int i = 0; i < 2; i++) {
		if (broken_ || !look())
			return {};
		const std::uint32_t at = tail_ % ring_bytes;
		const RecordHeader header = load_header(ring_.data + at);
		const std::uint32_t waiting = head_ - tail_;
		if (header.length == wrap_mark) {
			if (!at || waiting < ring_bytes - at)
				return fail();
			tail_ += ring_bytes - at;
			continue;
		}
		if (header.length < bth_size || header.length > max_packet_size)
			return fail();
		const std::uint32_t size = record_size(header.length);
		if (size > waiting || size > ring_bytes - at)
			return fail();
		std::memcpy(packet, ring_.data + at + sizeof(header), header.length);
		tail_ += size;
		return header;
	}
	return {};
}

bool RingConsumer::release()
{
	if (released_ == tail_)
		return false;
	released_ = tail_;
	if (!was_full_) {
		ring_.indices->tail.store(tail_, std::memory_order_release);
		return false;
	}
	was_full_ = head_ - released_ >= nearly_full;
	ring_.indices->tail.store(tail_, std::memory_order_seq_cst);
	return ring_.indices->starved.load(std::memory_order_seq_cst) && ring_.indices->starved.exchange(0);
}

} // namespace prism::soft
