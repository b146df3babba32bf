/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/clock.hpp"
#include "echo.hpp"

namespace prism::floor
{

namespace
{

/* Loss is rare on the way to a neighbour: a repetition must not be counted as work. */
constexpr std::uint64_t patience_ns = 200'000'000;

/* The server's silence, which may not last. */
class Silence
{
public:
	explicit Silence(const Descriptor &control) : control_(control) {}

	/* Called when no answers come, now and then; @p answered have come. Throws if more of them never will. */
	void goes_on(std::uint64_t answered)
	{
		if (state_of_peer(control_) == Peer::gone)
			throw std::runtime_error("the server has ended before the run was over; see what it printed");
		const std::uint64_t now = monotonic_ns();
		if (!since_ || answered != answered_)
			since_ = now;
		answered_ = answered;
		if (now - since_ > longest_ns)
			throw std::runtime_error("the server has not answered for 5 s: is it stopped?");
	}

private:
	static constexpr std::uint64_t longest_ns = 5'000'000'000;

	const Descriptor &control_;
	std::uint64_t answered_ = 0;
	std::uint64_t since_ = 0; /* 0: it has answered so far */
};

/* End of the run: by count, or by the clock. */
class Limit
{
public:
	Limit(const Load &load, std::uint64_t start)
		: iterations_(load.iterations), by_clock_(load.duration > 0),
		  end_(start + static_cast<std::uint64_t>(load.duration * 1e9))
	{
	}

	[[nodiscard]] bool reached(std::uint64_t messages, std::uint64_t now) const
	{
		return by_clock_ ? now >= end_ : messages >= iterations_;
	}

private:
	std::uint64_t iterations_;
	bool by_clock_;
	std::uint64_t end_;
};

/* Sends requests in order and takes answers in order; ignores packets out of order, which are stale. */
class Asker
{
public:
	Asker(EchoSocket &to, const Descriptor &control, const Parameters &agreed, std::uint64_t units_under_way)
		: socket_(to), silence_(control), parameters_(agreed), window_(units_under_way), writer_(to)
	{
	}

	[[nodiscard]] std::uint64_t answered() const { return done_; }
	[[nodiscard]] std::uint64_t asked() const { return next_; }
	[[nodiscard]] std::uint64_t repeated() const { return repeats_; }

	/* Asks for as many units as the window has room for, up to @p last; waits if they are fewer than a batch. */
	void ask(std::uint64_t last, std::uint64_t batch)
	{
		const std::uint64_t until = std::min(last, done_ + window_);
		if (next_ >= until || (until - next_ < batch && next_ > done_))
			return;
		for (; next_ < until; next_++)
			put_request(next_);
		writer_.flush();
	}

	/* Returns true if an answer in order arrived. */
	bool listen()
	{
		const EchoSocket::Train train = socket_.receive_train();
		bool any = false;
		for (std::size_t at = 0; at < train.data.size(); at += train.segment)
			any |= take(train.data.subspan(at, std::min(train.segment, train.data.size() - at)));
		return any;
	}

	/* Starts again from the oldest unit without a complete answer. */
	void repeat()
	{
		silence_.goes_on(done_);
		repeats_ += next_ - done_;
		epoch_++;
		next_ = done_;
		packets_ = 0;
	}

private:
	void put_request(std::uint64_t unit)
	{
		const Request request{unit, epoch_, parameters_.size_of_unit(unit)};
		std::memcpy(writer_.add(parameters_.request_size), &request, sizeof(request));
	}

	bool take(std::span<const std::uint8_t> packet)
	{
		Answer header;
		if (packet.size() < sizeof(header))
			return false;
		std::memcpy(&header, packet.data(), sizeof(header));
		if (header.unit != done_ || header.epoch != epoch_ || header.packet != packets_)
			return false;
		const std::uint32_t size = parameters_.size_of_unit(done_);
		const std::uint32_t before = packets_ * parameters_.mtu;
		if (packet.size() != std::min(size - before, parameters_.mtu))
			return false;
		packets_++;
		if (before + packet.size() == size) {
			done_++;
			packets_ = 0;
		}
		return true;
	}

	EchoSocket &socket_;
	Silence silence_;
	const Parameters &parameters_;
	std::uint64_t window_;
	TrainWriter writer_;
	std::uint64_t next_ = 0; /* unit to ask for */
	std::uint64_t done_ = 0; /* units answered */
	std::uint64_t repeats_ = 0;
	std::uint32_t epoch_ = 0;
	std::uint32_t packets_ = 0; /* of unit `done` */
};

/* Returns the units that may be under way without overflowing the receive buffer, which counts kernel memory rather
 * than payload. */
std::uint64_t window_of(const EchoSocket &socket, const Parameters &parameters, unsigned depth)
{
	constexpr std::size_t overhead_per_packet = 1024;
	const std::uint64_t packets = (parameters.size_of_unit(0) + parameters.mtu - 1) / parameters.mtu;
	const std::uint64_t cost = 2 * (parameters.size_of_unit(0) + packets * overhead_per_packet);
	const std::uint64_t room = std::max<std::uint64_t>(1, socket.receive_room() / cost);
	return std::min<std::uint64_t>(depth * parameters.units_per_message(), room);
}

/* Sends one packet each way, by the cheapest calls. */
class SingleAsker
{
public:
	SingleAsker(EchoSocket &to, const Descriptor &control, const Parameters &agreed)
		: socket_(to), silence_(control), parameters_(agreed)
	{
	}

	void round_trip(std::uint64_t unit)
	{
		Request request{unit, 0, static_cast<std::uint32_t>(parameters_.answer_size)};
		for (;; request.epoch++) {
			std::memcpy(packet_.data(), &request, sizeof(request));
			(void)socket_.send({packet_.data(), parameters_.request_size});
			if (answered(unit, request.epoch))
				return;
			silence_.goes_on(unit);
		}
	}

private:
	bool answered(std::uint64_t unit, std::uint32_t epoch)
	{
		for (std::uint64_t looks = 0; looks < max_looks; looks++) {
			const std::size_t size = socket_.receive(packet_);
			if (size != parameters_.answer_size)
				continue;
			Answer header;
			std::memcpy(&header, packet_.data(), sizeof(header));
			if (header.unit == unit && header.epoch == epoch)
				return true;
		}
		return false;
	}

	/* Some 100 ms, without reading the clock. */
	static constexpr std::uint64_t max_looks = 1 << 19;

	EchoSocket &socket_;
	Silence silence_;
	const Parameters &parameters_;
	std::array<std::uint8_t, 65536> packet_{};
};

void message_round_trip(Asker &asker, std::uint64_t last)
{
	std::uint64_t heard = monotonic_ns();
	while (asker.answered() < last) {
		asker.ask(last, 1);
		if (asker.listen()) {
			heard = monotonic_ns();
		} else if (monotonic_ns() - heard > patience_ns) {
			asker.repeat();
			heard = monotonic_ns();
		}
	}
}

template <class RoundTrip>
perftest::LatencySamples take_samples(const Load &load, RoundTrip round_trip)
{
	perftest::LatencySamples samples;
	samples.reserve(load.duration > 0 ? static_cast<std::size_t>(load.duration * 1e6) : load.iterations);
	const Limit limit(load, monotonic_ns());
	for (std::uint64_t message = 0, start = monotonic_ns(); !limit.reached(message, start); message++) {
		round_trip(message);
		const std::uint64_t end = monotonic_ns();
		samples.add(end - start);
		start = end;
	}
	return samples;
}

} // namespace

perftest::LatencySamples measure_latency(
	EchoSocket &socket, const Descriptor &control, const Parameters &parameters, const Load &load)
{
	if (parameters.single()) {
		SingleAsker asker(socket, control, parameters);
		return take_samples(load, [&](std::uint64_t message) { asker.round_trip(message); });
	}
	socket.enable_trains();
	Asker asker(socket, control, parameters, window_of(socket, parameters, 1));
	const std::uint64_t units = parameters.units_per_message();
	return take_samples(load, [&](std::uint64_t message) { message_round_trip(asker, (message + 1) * units); });
}

Throughput measure_bandwidth(
	EchoSocket &socket, const Descriptor &control, const Parameters &parameters, const Load &load)
{
	socket.enable_trains();
	const std::uint64_t window = window_of(socket, parameters, load.depth);
	const std::uint64_t batch = std::min<std::uint64_t>(max_train_packets, std::max<std::uint64_t>(1, window / 4));
	const std::uint64_t units = parameters.units_per_message();
	const std::uint64_t last = load.duration > 0 ? UINT64_MAX : load.iterations * units;
	Asker asker(socket, control, parameters, window);
	const std::uint64_t start = monotonic_ns();
	const Limit limit(load, start);
	perftest::BandwidthMeter meter(parameters.answer_size, start);
	std::uint64_t now = start;
	for (std::uint64_t heard = start; !limit.reached(asker.answered() / units, now);) {
		asker.ask(last, batch);
		const bool any = asker.listen();
		now = monotonic_ns();
		if (any) {
			heard = now;
			meter.update(asker.answered() / units, now);
		} else if (now - heard > patience_ns) {
			asker.repeat();
			heard = now;
		}
	}
	return {meter.result(), asker.repeated()};
}

} // namespace prism::floor
