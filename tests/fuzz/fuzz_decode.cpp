/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Functions that process a packet by itself: request and response decoding, the ICRC check. Input: one byte that
 * chooses the MTU, then a packet. Accepted parts must lie within the packet and encode to the same bytes again.
 */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "net/icrc.hpp"

extern "C" {
#include "prism_bundle.h"
}

namespace
{

constexpr std::uint32_t max_indirect = 1 << 20;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

/** Checks that encoding an accepted request gives the same headers, but for the reserved bits. */
void check_round_trip(const prism_request &request, const std::uint8_t *packet, std::uint32_t mtu)
{
	const std::uint32_t header = prism_request_header_size(&request);
	std::vector<std::uint8_t> copy(packet, packet + header);
	prism_request_encode(copy.data(), &request);
	std::vector<std::uint8_t> whole = copy;
	whole.insert(whole.end(), request.payload, request.payload + request.payload_length);
	whole.resize((whole.size() + 3) & ~std::size_t{3});
	whole[1] = static_cast<std::uint8_t>((whole[1] & ~0x30) | (-request.payload_length & 3) << 4);
	prism_request again;
	require(prism_request_decode(whole.data(), static_cast<u32>(whole.size()), mtu, max_indirect, &again) ==
		PRISM_ACCEPT);
	require(again.va == request.va && again.rkey == request.rkey && again.length == request.length &&
		again.aux_va == request.aux_va && again.aux_rkey == request.aux_rkey && again.tag == request.tag &&
		again.free_list == request.free_list && again.payload_length == request.payload_length);
	require(prism_request_opcode(&again) == packet[0]);
}

/**
 * Checks that packets taken out of a bundle that may be entries give the same entries when bundled again, but for
 * ignored bits.
 */
void check_bundle(const std::uint8_t *packet, std::uint32_t size, std::uint32_t mtu)
{
	prism_bundle bundle;
	if (!prism_bundle_open(&bundle, packet, size, mtu))
		return;
	const std::unique_ptr<std::uint8_t[]> single(new std::uint8_t[PRISM_MAX_ENTRY_PACKET(mtu)]);
	unsigned entries = 0;
	while (const std::uint32_t taken = prism_bundle_next(&bundle, single.get())) {
		require(taken <= PRISM_MAX_ENTRY_PACKET(mtu) && taken % 4 == 0);
		entries++;
		if (!prism_bundle_takes(single.get(), taken, mtu))
			continue;
		std::vector<std::uint8_t> entry(prism_bundle_entry_size(single.get(), taken));
		prism_bundle_put_entry(entry.data(), single.get(), taken);
		require(entry.size() <= size && entry[0] == single[0]);
	}
	require(entries >= PRISM_BUNDLE_MIN_ENTRIES && entries <= PRISM_BUNDLE_MAX_ENTRIES);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	if (size < 1)
		return 0;
	const std::uint32_t mtu = 256u << (data[0] % 5);
	/* A buffer of the exact size, so that the sanitizer sees every byte read behind it. */
	size--;
	const std::unique_ptr<std::uint8_t[]> packet(new std::uint8_t[size]);
	if (size)
		std::memcpy(packet.get(), data + 1, size);

	prism_request request;
	if (prism_request_decode(packet.get(), static_cast<u32>(size), mtu, max_indirect, &request) == PRISM_ACCEPT) {
		require(request.payload >= packet.get());
		require(request.payload + request.payload_length <= packet.get() + size);
		require(request.payload_length <= mtu);
		require(prism_flags_legal(static_cast<prism_op>(request.op), request.flags));
		check_round_trip(request, packet.get(), mtu);
	}
	check_bundle(packet.get(), static_cast<u32>(size), mtu);
	prism_response response;
	if (size >= PRISM_BTH_SIZE && prism_response_decode(packet.get(), static_cast<u32>(size), &response))
		require(response.status <= PRISM_STATUS_SKIPPED);

	prism::soft::IcrcFlow flow;
	flow.source_port = flow.destination_port = 4791;
	const std::span<const std::uint8_t> whole(packet.get(), size);
	(void)prism::soft::check_icrc(flow, whole);
	for (prism::soft::Address *address : {&flow.source, &flow.destination})
		address->gid[10] = address->gid[11] = 0xff;
	(void)prism::soft::check_icrc(flow, whole, data[0]);
	return 0;
}
