/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a server and its clients say to each other beside the data path, over the TCP connection that the
 * rendezvous has left open: 16 bytes each, kind 4, reserved 4, value 8, in network order. An answer to stats is
 * followed by as many bytes of JSON as its value says.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prism::apps
{

enum class ControlKind : std::uint32_t {
	lease = 1,   /**< of kv: value is how many versions the client wants; server: the first of as many */
	settle = 2,  /**< server: end what you have begun, report what you have freed, then answer settled */
	settled = 3, /**< client: with the value of settle */
	stats = 4,   /**< client: statistics, please */
	recover = 5, /**< client: begin a recovery scan; server: value is 0, or an errno why it does not */
	epoch = 6,   /**< repair of an rs replica: value is the epoch that it begins with; replica: 0 or an errno */
	serve = 7,   /**< the repair has ended, in the epoch of the value; replica: 0 or an errno */
	shard = 8,   /**< to shard 0 of tx: value is the identity of another; shard 0: 0, or ESTALE if it had another */
	orphans =
		9, /**< shard of tx: client number value has died, end what it has prepared here; client: it is ended */
	adopt = 10, /**< to shard 0 of tx: value is the new identity of another that has come back empty; shard 0: 0 */
	stop = 16,  /**< server: it ends soon: begin nothing more, end what you have begun, then close the connection */
};

struct ControlMessage {
	static constexpr std::size_t size = 16;

	ControlKind kind = ControlKind::lease;
	std::uint64_t value = 0;
};

/** One end of the conversation, on a socket that someone else owns. Not thread-safe. */
class ControlChannel
{
public:
	explicit ControlChannel(int socket) noexcept : fd(socket) {}

	/** Sends at once. 0, or errno: the channel is then of no use any more (EAGAIN: the peer does not read). */
	int send(const ControlMessage &message, const std::string &text = {}) noexcept;

	/**
	 * Takes a message that is there. 1: @p message is one, 0: there is none yet, negative errno: the channel has
	 * ended (-ECONNRESET: closed by the peer).
	 */
	int receive(ControlMessage &message) noexcept;

	/** Waits up to @p milliseconds for something to receive. False: nothing came. */
	[[nodiscard]] bool wait(int milliseconds) const noexcept;

	/** The text behind a stats message: @p length bytes. 0 or errno. */
	int receive_text(std::size_t length, std::string &text, int milliseconds) noexcept;

private:
	int fd;
	std::array<std::byte, ControlMessage::size> partial{};
	std::size_t filled = 0;
};

} // namespace prism::apps
