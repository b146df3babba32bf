/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/caller.hpp"

#include <cerrno>
#include <chrono>
#include <string>

#include "base/seconds.hpp"

namespace prism::echo
{

namespace
{

/** Returns the sizes that the slots of a link need; the server is not trusted. */
Result<rpc::SlotSizes> measure(const apps::Hello &server, const RunOptions &options)
{
	const std::uint32_t longest = std::max(options.sizes.largest(), options.request_size);
	if (longest > server.max_value_size)
		return make_error(EINVAL,
			"takes messages of up to " + std::to_string(server.max_value_size) + " bytes, not " +
				std::to_string(longest),
			"ask for smaller ones, or start it with a larger --message-size");
	rpc::SlotSizes sizes;
	sizes.request = request_head + options.request_size;
	sizes.response = rpc::message_header_size + std::max<std::size_t>(options.sizes.largest(), Figures::size);
	return sizes;
}

} // namespace

Caller::Caller(std::unique_ptr<rpc::ClientLink> link, std::uint32_t request_size)
	: link_(std::move(link)), request_size_(request_size), calls_(link_->depth())
{
	free_.reserve(calls_.size());
	for (std::uint32_t slot = link_->depth(); slot-- > 0;)
		free_.push_back(slot);
}

Result<std::unique_ptr<Caller>> Caller::connect(
	const Context &context, const ServerPlace &server, const RunOptions &options)
{
	rpc::ClientOptions client;
	client.way = server.way;
	client.depth = options.depth;
	client.fetch = options.fetch;
	client.timeout = apps::milliseconds(server.timeout);
	client.patience = apps::milliseconds(2 * options.drain); /* the worker gives up first */
	Result<std::unique_ptr<rpc::ClientLink>> link = rpc::ClientLink::connect(context, server.host, server.port,
		apps::Hello{kind}, client,
		[&options](const ConnectionRecord &, const apps::Hello &told) { return measure(told, options); });
	if (!link)
		return link.error();
	/* The constructor is private: no make_unique. */
	return std::unique_ptr<Caller>(new Caller(*std::move(link), options.request_size));
}

void Caller::begin(const EchoCall &call) noexcept
{
	const std::uint32_t slot = free_.back();
	free_.pop_back();
	calls_[slot] = call;
	const std::size_t payload = call.request.call == Call::echo ? request_size_ : 0;
	const std::span<std::byte> to = link_->request(slot);
	call.request.serialize(to.data());
	fill_request(call.request.nonce, to.subspan(request_head, payload));
	link_->call(slot, request_head + payload);
}

std::size_t Caller::poll(Owner &owner) noexcept
{
	owner_ = &owner;
	ended_ = 0;
	link_->poll(*this);
	owner_ = nullptr;
	return ended_;
}

void Caller::on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept
{
	const EchoCall &call = calls_[slot];
	rpc::MessageHeader header;
	const std::span<const std::byte> payload = response.subspan(rpc::message_header_size);
	if (header.parse_response(response) || header.call != static_cast<std::uint8_t>(call.request.call) ||
		header.size != call.request.wanted || payload.size() != header.size) {
		link_->break_off(EBADMSG);
		return;
	}
	ended_++;
	free_.push_back(slot);
	if (call.request.call == Call::figures)
		told_ = Figures::parse(payload.data());
	else
		owner_->on_end(call, is_response(call.request.nonce, payload));
}

Result<Figures> Caller::ask()
{
	class Nobody final : public Owner
	{
		void on_end(const EchoCall &, bool) noexcept override {}
	};
	constexpr auto limit = std::chrono::seconds(10);
	EchoCall call;
	call.request.call = Call::figures;
	call.request.wanted = Figures::size;
	told_.reset();
	begin(call);
	Nobody nobody;
	for (const auto end = std::chrono::steady_clock::now() + limit; !told_;) {
		poll(nobody);
		if (broken())
			return make_error(broken(), "a question for the server's figures");
		if (std::chrono::steady_clock::now() > end)
			return make_error(ETIMEDOUT, "a question for the server's figures");
	}
	return *told_;
}

Error loss_of(const ServerPlace &server, int error)
{
	const std::string what = "the connection to " + server.text();
	switch (error) {
	case ECONNRESET:
		return make_error(error, what, "the server has ended or closed it: see what the server says");
	case ETIMEDOUT:
		return make_error(
			error, what, "the server does not answer: see what it says, and whether it stands still");
	case EBADMSG:
		return make_error(error, what, "its answer is malformed: start client and server of the same version");
	default:
		return make_error(error, what, "see what the server says, and whether the network works");
	}
}

} // namespace prism::echo
