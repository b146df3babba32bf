/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "mad.hpp"

#include <type_traits>

namespace prism::cm
{

namespace
{

/* The header that all management datagrams share (IBTA 13.4.3). */
constexpr std::size_t header_size = 24;
constexpr std::uint8_t base_version = 1;
constexpr std::uint8_t communication_management = 0x07;
constexpr std::uint8_t class_version = 2;
constexpr std::uint8_t method_send = 0x03;

constexpr std::uint16_t permissive_lid = 0xffff; /* RoCE has no LIDs; the kernel sends this */

/** A field: @p width bits from bit @p bit, counted from the most significant one, of byte @p byte after the header. */
struct Place {
	std::size_t byte;
	unsigned bit;
	unsigned width;
};

void put(std::span<std::uint8_t> bytes, Place place, std::uint64_t value)
{
	for (unsigned i = 0; i < place.width; i++) {
		const std::size_t at = place.byte * 8 + place.bit + i;
		const std::uint8_t mask = static_cast<std::uint8_t>(0x80u >> (at % 8));
		if (value >> (place.width - 1 - i) & 1)
			bytes[at / 8] |= mask;
		else
			bytes[at / 8] &= static_cast<std::uint8_t>(~mask);
	}
}

std::uint64_t get(std::span<const std::uint8_t> bytes, Place place)
{
	std::uint64_t value = 0;
	for (unsigned i = 0; i < place.width; i++) {
		const std::size_t at = place.byte * 8 + place.bit + i;
		value = value << 1 | (bytes[at / 8] >> (7 - at % 8) & 1);
	}
	return value;
}

/* Writer and Reader have the same members, so that one list of a message's fields serves both directions. */

class Writer
{
public:
	explicit Writer(std::span<std::uint8_t> to) : bytes_(to) {}

	template <typename Value>
	void field(const Value &value, std::size_t byte, unsigned width, unsigned bit = 0)
	{
		put(bytes_, {byte, bit, width}, static_cast<std::uint64_t>(value));
	}
	void fixed(std::uint64_t value, std::size_t byte, unsigned width) { put(bytes_, {byte, 0, width}, value); }
	void gid(const Address &value, std::size_t byte) { block(value.gid, byte); }
	template <std::size_t size>
	void block(const std::array<std::uint8_t, size> &value, std::size_t byte)
	{
		std::copy(value.begin(), value.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(byte));
	}

private:
	std::span<std::uint8_t> bytes_;
};

class Reader
{
public:
	explicit Reader(std::span<const std::uint8_t> from) : bytes_(from) {}

	template <typename Value>
	void field(Value &value, std::size_t byte, unsigned width, unsigned bit = 0)
	{
		value = static_cast<Value>(get(bytes_, {byte, bit, width}));
	}
	void fixed(std::uint64_t, std::size_t, unsigned) {}
	void gid(Address &value, std::size_t byte) { block(value.gid, byte); }
	template <std::size_t size>
	void block(std::array<std::uint8_t, size> &value, std::size_t byte)
	{
		std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(byte), size, value.begin());
	}

private:
	std::span<const std::uint8_t> bytes_;
};

/* The lists. Numbers are those of the tables in IBTA 12.6: byte, width in bits, first bit if it is not 0. */

template <typename Archive, typename Ids>
void both_ids(Archive &archive, Ids &ids)
{
	archive.field(ids.local_id, 0, 32);
	archive.field(ids.remote_id, 4, 32);
}

template <typename Archive, typename Message>
void fields(Archive &a, Message &m)
{
	using Type = std::remove_const_t<Message>;

	if constexpr (std::is_same_v<Type, Req>) {
		a.field(m.local_id, 0, 32);
		a.field(m.service_id, 8, 64);
		a.field(m.ca_guid, 16, 64);
		a.field(m.qkey, 28, 32);
		a.field(m.qpn, 32, 24);
		a.field(m.responder_resources, 35, 8);
		a.field(m.initiator_depth, 39, 8);
		a.field(m.remote_response_timeout, 43, 5);
		a.field(m.transport, 43, 2, 5);
		a.field(m.flow_control, 43, 1, 7);
		a.field(m.starting_psn, 44, 24);
		a.field(m.local_response_timeout, 47, 5);
		a.field(m.retry_count, 47, 3, 5);
		a.field(m.pkey, 48, 16);
		a.field(m.path_mtu, 50, 4);
		a.field(m.rnr_retry_count, 50, 3, 5);
		a.field(m.max_cm_retries, 51, 4);
		a.field(m.srq, 51, 1, 4);
		a.fixed(permissive_lid, 52, 16);
		a.fixed(permissive_lid, 54, 16);
		a.gid(m.local_gid, 56);
		a.gid(m.remote_gid, 72);
		a.field(m.traffic_class, 92, 8);
		a.field(m.hop_limit, 93, 8);
		a.field(m.ack_timeout, 95, 5);
		a.block(m.private_data, 140);
	} else if constexpr (std::is_same_v<Type, Mra>) {
		both_ids(a, m);
		a.field(m.about, 8, 2);
		a.field(m.service_timeout, 9, 5);
	} else if constexpr (std::is_same_v<Type, Rej>) {
		both_ids(a, m);
		a.field(m.about, 8, 2);
		a.field(m.reason, 10, 16);
		a.block(m.private_data, 84);
	} else if constexpr (std::is_same_v<Type, Rep>) {
		both_ids(a, m);
		a.field(m.qkey, 8, 32);
		a.field(m.qpn, 12, 24);
		a.field(m.starting_psn, 20, 24);
		a.field(m.responder_resources, 24, 8);
		a.field(m.initiator_depth, 25, 8);
		a.field(m.flow_control, 26, 1, 7);
		a.field(m.rnr_retry_count, 27, 3);
		a.field(m.srq, 27, 1, 3);
		a.field(m.ca_guid, 28, 64);
		a.block(m.private_data, 36);
	} else if constexpr (std::is_same_v<Type, Dreq>) {
		both_ids(a, m);
		a.field(m.remote_qpn, 8, 24);
	} else if constexpr (std::is_same_v<Type, SidrReq>) {
		a.field(m.request_id, 0, 32);
		a.field(m.pkey, 4, 16);
		a.field(m.service_id, 8, 64);
		a.block(m.private_data, 16);
	} else if constexpr (std::is_same_v<Type, SidrRep>) {
		a.field(m.request_id, 0, 32);
		a.field(m.status, 4, 8);
		a.field(m.qpn, 8, 24);
		a.field(m.service_id, 12, 64);
		a.field(m.qkey, 20, 32);
		a.block(m.private_data, 96);
	} else {
		static_assert(std::is_same_v<Type, Rtu> || std::is_same_v<Type, Drep>);
		both_ids(a, m);
	}
}

template <typename Type>
bool decode_as(std::uint16_t attribute, Reader &reader, std::optional<Message> &message)
{
	if (attribute != Type::attribute)
		return false;
	Type found;
	fields(reader, found);
	message = found;
	return true;
}

template <typename... Types>
std::optional<Message> decode_any(std::uint16_t attribute, Reader &reader, const std::variant<Types...> *)
{
	std::optional<Message> message;
	static_cast<void>((decode_as<Types>(attribute, reader, message) || ...));
	return message;
}

constexpr Place base_version_at{0, 0, 8};
constexpr Place class_at{1, 0, 8};
constexpr Place class_version_at{2, 0, 8};
constexpr Place method_at{3, 0, 8};
constexpr Place transaction_at{8, 0, 64};
constexpr Place attribute_at{16, 0, 16};

} // namespace

Mad encode(const Datagram &datagram)
{
	Mad mad{};
	put(mad, base_version_at, base_version);
	put(mad, class_at, communication_management);
	put(mad, class_version_at, class_version);
	put(mad, method_at, method_send);
	put(mad, transaction_at, datagram.transaction);
	Writer writer(std::span<std::uint8_t>(mad).subspan(header_size));
	std::visit(
		[&](const auto &message) {
			put(mad, attribute_at, std::remove_cvref_t<decltype(message)>::attribute);
			fields(writer, message);
		},
		datagram.message);
	return mad;
}

std::optional<Datagram> decode(std::span<const std::uint8_t, mad_size> mad)
{
	if (get(mad, base_version_at) != base_version || get(mad, class_at) != communication_management ||
		get(mad, class_version_at) != class_version || get(mad, method_at) != method_send)
		return {};
	Reader reader(mad.subspan(header_size));
	std::optional<Message> message = decode_any(
		static_cast<std::uint16_t>(get(mad, attribute_at)), reader, static_cast<const Message *>(nullptr));
	if (!message)
		return {};
	return Datagram{get(mad, transaction_at), *message};
}

bool is_request(const Message &message)
{
	return std::holds_alternative<Req>(message) || std::holds_alternative<SidrReq>(message);
}

std::uint32_t destination(const Message &message)
{
	return std::visit(
		[](const auto &m) -> std::uint32_t {
			if constexpr (requires { m.remote_id; })
				return m.remote_id;
			else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, SidrRep>)
				return m.request_id;
			else
				return 0;
		},
		message);
}

/* rdma_cm ------------------------------------------------------------------------------------------------------- */

namespace
{

constexpr Place header_version_at{0, 0, 8};
constexpr Place ip_version_at{1, 0, 4};
constexpr Place source_port_at{2, 0, 16};
constexpr std::size_t source_at = 4;
constexpr std::size_t destination_at = 20;
constexpr std::size_t ipv4_offset = 12;

constexpr unsigned port_bits = 16;

void put_address(std::span<std::uint8_t> to, const Address &address)
{
	/* An IPv4 address stands at the end of the field, without the prefix of its GID. */
	const std::size_t skip = address.is_ipv4() ? ipv4_offset : 0;
	std::copy(address.gid.begin() + static_cast<std::ptrdiff_t>(skip), address.gid.end(),
		to.begin() + static_cast<std::ptrdiff_t>(skip));
}

Address get_address(std::span<const std::uint8_t> from, bool is_ipv4)
{
	Address address;
	std::copy_n(from.begin(), address.gid.size(), address.gid.begin());
	if (is_ipv4) {
		std::fill_n(address.gid.begin(), 10, std::uint8_t{0});
		address.gid[10] = address.gid[11] = 0xff;
	}
	return address;
}

} // namespace

std::uint64_t make_service_id(PortSpace space, std::uint16_t port)
{
	return static_cast<std::uint64_t>(space) << port_bits | port;
}

std::uint16_t port_of(std::uint64_t service_id)
{
	return static_cast<std::uint16_t>(service_id);
}

std::optional<PortSpace> port_space_of(std::uint64_t service_id)
{
	for (const PortSpace space : {PortSpace::tcp, PortSpace::udp, PortSpace::ib, PortSpace::ipoib})
		if (service_id >> port_bits == static_cast<std::uint64_t>(space))
			return space;
	return {};
}

void encode_ip_header(const IpHeader &header, std::span<std::uint8_t, IpHeader::size> to)
{
	std::fill(to.begin(), to.end(), std::uint8_t{0});
	put(to, ip_version_at, header.destination.is_ipv4() ? 4 : 6);
	put(to, source_port_at, header.source_port);
	put_address(to.subspan(source_at), header.source);
	put_address(to.subspan(destination_at), header.destination);
}

std::optional<IpHeader> decode_ip_header(std::span<const std::uint8_t, IpHeader::size> from)
{
	const std::uint64_t version = get(from, ip_version_at);
	if (get(from, header_version_at) != 0 || (version != 4 && version != 6))
		return {};
	IpHeader header;
	header.source_port = static_cast<std::uint16_t>(get(from, source_port_at));
	header.source = get_address(from.subspan(source_at), version == 4);
	header.destination = get_address(from.subspan(destination_at), version == 4);
	return header;
}

} // namespace prism::cm
