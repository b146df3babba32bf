-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
-- PRISM over RoCEv2 for Wireshark 4: the packets of docs/wire-protocol.md, whose sections are cited as W.n, and what
-- Wireshark leaves out of standard ones.
--
-- UDP port 4791 belongs to Wireshark's dissector "infiniband", which calls the opcodes of the manufacturer's range
-- (0xC0 to 0xFF) unknown, and of standard packets CNP and XRC, in Wireshark 4.0 FLUSH and ATOMIC WRITE as well. It
-- checks no ICRC, and calls short SENDs malformed. This one looks at the same bytes after it. It does not stand in front
-- of it: a dissector in C that runs out of captured bytes leaves through the interpreter of whoever called it from Lua,
-- which then is of no use any more.
--
-- The name "prism" is that of a header of wireless captures in Wireshark, so the protocol is called prism_rdma; its
-- fields are prism.*. Standard packets have the same fields, in a tree of their own, prism_roce.

local roce_port = 4791
local first_opcode = 0xC0
local bth_size, icrc_size = 12, 4
local steering_size, steering_magic = 12, "PR"
local slot_limit, first_source_port = 1024, 0xF000 -- W.1.1

local prism = Proto("prism_rdma", "PRISM remote operations")
local roce = Proto("prism_roce", "RoCEv2")
prism.prefs.match = Pref.bool("Match requests and responses", true,
	"Say in which frame the request of a response is and how long the answer took")
prism.prefs.trains = Pref.bool("Take trains apart", true,
	"Where segmentation is left to the interface, one frame holds several packets")
prism.prefs.icrc = Pref.bool("Check the ICRC", true,
	"Compute the invariant CRC of every packet, which takes some minutes for a million long ones")

-- What there is --------------------------------------------------------------------------------------------------

local opcode_names = {
	[0xC0] = "READ", [0xC1] = "WRITE_FIRST", [0xC2] = "WRITE_MIDDLE", [0xC3] = "WRITE_LAST", [0xC4] = "WRITE_ONLY",
	[0xC5] = "CAS", [0xC6] = "ALLOCATE_FIRST", [0xC7] = "ALLOCATE_MIDDLE", [0xC8] = "ALLOCATE_LAST",
	[0xC9] = "ALLOCATE_ONLY", [0xCA] = "BUNDLE", [0xD0] = "READ_RESPONSE_FIRST", [0xD1] = "READ_RESPONSE_MIDDLE",
	[0xD2] = "READ_RESPONSE_LAST", [0xD3] = "READ_RESPONSE_ONLY", [0xD4] = "RESPONSE",
	[0xD5] = "BUNDLE_RESPONSE",
}
local status_names = {
	[0] = "OK", [1] = "CAS_MISS", [2] = "NULL_POINTER", [3] = "NO_BUFFER", [4] = "SKIPPED",
}
local mode_names = { [0] = "EQ", [1] = "GT", [2] = "LT" }

-- Standard packets by the lower five bits of the opcode (IBTA 9.2 and its annexes): the headers behind the BTH, and
-- whether they are all. The upper three are the service.
local operations = {
	[0x00] = { "SEND_FIRST" }, [0x01] = { "SEND_MIDDLE" }, [0x02] = { "SEND_LAST" },
	[0x03] = { "SEND_LAST_WITH_IMMEDIATE", "immdt" }, [0x04] = { "SEND_ONLY" },
	[0x05] = { "SEND_ONLY_WITH_IMMEDIATE", "immdt" }, [0x06] = { "WRITE_FIRST", "reth" }, [0x07] = { "WRITE_MIDDLE" },
	[0x08] = { "WRITE_LAST" }, [0x09] = { "WRITE_LAST_WITH_IMMEDIATE", "immdt" }, [0x0A] = { "WRITE_ONLY", "reth" },
	[0x0B] = { "WRITE_ONLY_WITH_IMMEDIATE", "reth immdt" }, [0x0C] = { "READ_REQUEST", "reth", bare = true },
	[0x0D] = { "READ_RESPONSE_FIRST", "aeth" }, [0x0E] = { "READ_RESPONSE_MIDDLE" },
	[0x0F] = { "READ_RESPONSE_LAST", "aeth" }, [0x10] = { "READ_RESPONSE_ONLY", "aeth" },
	[0x11] = { "ACKNOWLEDGE", "aeth", bare = true }, [0x12] = { "ATOMIC_ACKNOWLEDGE", "aeth atomicacketh", bare = true },
	[0x13] = { "CMP_SWAP", "atomiceth", bare = true }, [0x14] = { "FETCH_ADD", "atomiceth", bare = true },
	[0x16] = { "SEND_LAST_WITH_INVALIDATE", "ieth" }, [0x17] = { "SEND_ONLY_WITH_INVALIDATE", "ieth" },
	[0x1C] = { "FLUSH", "feth reth", bare = true }, [0x1D] = { "ATOMIC_WRITE", "reth" },
}
local standard = { [0x81] = { name = "CNP", headers = "cnp", bare = true, unknown = true } }

-- @headers: of the service, in front of those of the operation; responses do not have them
local function add_service(first, name, last, headers, unknown)
	for code, operation in pairs(operations) do
		local of_service = code >= 0x0D and code <= 0x12 and "" or headers
		if code <= last then
			standard[first + code] = { name = name .. " " .. operation[1], bare = operation.bare,
				headers = of_service .. " " .. (operation[2] or ""), unknown = unknown or code >= 0x1C }
		end
	end
end
add_service(0x00, "RC", 0x1D, "")
add_service(0x20, "UC", 0x0B, "")
add_service(0xA0, "XRC", 0x1D, "xrceth", true)
for code = 0x04, 0x05 do
	standard[0x60 + code] = { name = "UD " .. operations[code][1], headers = "deth " .. (operations[code][2] or "") }
end
for _, opcode in ipairs({ 0x02, 0x04, 0x16, 0x17 }) do
	standard[opcode].taken_for_rpc = true -- if short
end
for opcode, packet in pairs(standard) do
	opcode_names[opcode] = packet.name
end
-- Reliable Datagram: left to "infiniband", as nobody has it
local function is_reliable_datagram(opcode)
	return opcode >= 0x40 and opcode < 0x60
end

local READ, WRITE_ONLY, CAS, READ_RESPONSE_FIRST, RESPONSE = 0xC0, 0xC4, 0xC5, 0xD0, 0xD4

-- By opcode: the operation, where the packet stands in its message, and the header behind the BTH (W.3)
local kinds = {
	[0xC0] = { operation = "READ", place = "only", header = "reth" },
	[0xC1] = { operation = "WRITE", place = "first", header = "reth" },
	[0xC2] = { operation = "WRITE", place = "middle" },
	[0xC3] = { operation = "WRITE", place = "last" },
	[0xC4] = { operation = "WRITE", place = "only", header = "reth" },
	[0xC5] = { operation = "CAS", place = "only", header = "caseth" },
	[0xC6] = { operation = "ALLOCATE", place = "first", header = "aleth" },
	[0xC7] = { operation = "ALLOCATE", place = "middle" },
	[0xC8] = { operation = "ALLOCATE", place = "last" },
	[0xC9] = { operation = "ALLOCATE", place = "only", header = "aleth" },
	[0xD0] = { response = "data", place = "first", header = "aeth" },
	[0xD1] = { response = "data", place = "middle", header = "aeth" },
	[0xD2] = { response = "data", place = "last", header = "aeth" },
	[0xD3] = { response = "data", place = "only", header = "aeth" },
	[0xD4] = { response = "short", place = "only", header = "aeth" },
	[0xCA] = { entries = { [0xC0] = true, [0xC4] = true, [0xC5] = true, [0xC9] = true } },
	[0xD5] = { entries = { [0xD3] = true, [0xD4] = true } },
}
local icrc_wrong, icrc_exact, icrc_unverified, icrc_other_id = 0, 1, 2, 3
local icrc_names = {
	[0] = "Bad", [1] = "Good", [2] = "Unverified", [3] = "Good with another IP identification",
}
local entry_header_size, least_entries, most_entries = 4, 2, 16
local longest_bundle = 4096 + 36 -- at the largest path MTU, from BTH to the last pad
local is_path_mtu = { [256] = true, [512] = true, [1024] = true, [2048] = true, [4096] = true }

local f = {
	opcode = ProtoField.uint8("prism.opcode", "Opcode", base.HEX, opcode_names),
	se = ProtoField.uint8("prism.se", "Solicited event", base.DEC, nil, 0x80),
	m = ProtoField.uint8("prism.m", "Migration state", base.DEC, nil, 0x40),
	pad = ProtoField.uint8("prism.pad", "Pad count", base.DEC, nil, 0x30),
	tver = ProtoField.uint8("prism.tver", "Transport version", base.DEC, nil, 0x0F),
	pkey = ProtoField.uint16("prism.pkey", "P_Key", base.HEX),
	fecn = ProtoField.uint8("prism.fecn", "FECN", base.DEC, nil, 0x80),
	becn = ProtoField.uint8("prism.becn", "BECN", base.DEC, nil, 0x40),
	qpn = ProtoField.uint24("prism.qpn", "Destination QPN", base.HEX),
	ack_req = ProtoField.bool("prism.ack_req", "Acknowledge requested", 8, nil, 0x80),
	flags = ProtoField.string("prism.flags", "Flags"),
	indirect = ProtoField.bool("prism.flags.indirect", "T, target is indirect", 8, nil, 0x40),
	data_indirect = ProtoField.bool("prism.flags.data_indirect", "D, data is indirect", 8, nil, 0x20),
	bounded = ProtoField.bool("prism.flags.bounded", "B, bounded", 8, nil, 0x10),
	conditional = ProtoField.bool("prism.flags.conditional", "C, conditional", 8, nil, 0x08),
	redirect = ProtoField.bool("prism.flags.redirect", "R, redirect", 8, nil, 0x04),
	psn = ProtoField.uint24("prism.psn", "PSN", base.DEC),
	reth = ProtoField.none("prism.reth", "RETH"),
	reth_va = ProtoField.uint64("prism.reth.va", "Virtual address", base.HEX),
	reth_rkey = ProtoField.uint32("prism.reth.rkey", "R_Key", base.HEX),
	reth_length = ProtoField.uint32("prism.reth.length", "Length", base.DEC),
	auxeth = ProtoField.none("prism.auxeth", "AUXETH"),
	auxeth_va = ProtoField.uint64("prism.auxeth.va", "Virtual address", base.HEX),
	auxeth_rkey = ProtoField.uint32("prism.auxeth.rkey", "R_Key", base.HEX),
	caseth = ProtoField.none("prism.caseth", "CASETH"),
	caseth_va = ProtoField.uint64("prism.caseth.va", "Virtual address", base.HEX),
	caseth_rkey = ProtoField.uint32("prism.caseth.rkey", "R_Key", base.HEX),
	caseth_mode = ProtoField.uint8("prism.caseth.mode", "Mode", base.DEC, mode_names),
	caseth_flags = ProtoField.uint8("prism.caseth.flags", "CAS flags", base.HEX),
	compare_data = ProtoField.bool("prism.caseth.flags.compare_data", "Loaded bytes are compared too", 8, nil, 0x01),
	caseth_n = ProtoField.uint8("prism.caseth.n", "Operand size", base.DEC),
	compare = ProtoField.bytes("prism.cas.compare", "Compare"),
	swap = ProtoField.bytes("prism.cas.swap", "Swap"),
	compare_mask = ProtoField.bytes("prism.cas.compare_mask", "Compare mask"),
	swap_mask = ProtoField.bytes("prism.cas.swap_mask", "Swap mask"),
	aleth = ProtoField.none("prism.aleth", "ALETH"),
	aleth_free_list = ProtoField.uint24("prism.aleth.free_list", "Free list", base.DEC),
	aleth_length = ProtoField.uint32("prism.aleth.length", "Length", base.DEC),
	aleth_tag = ProtoField.uint32("prism.aleth.tag", "Tag", base.HEX),
	xrceth = ProtoField.none("prism.xrceth", "XRCETH"),
	xrceth_srqn = ProtoField.uint24("prism.xrceth.srqn", "XRC shared receive queue", base.HEX),
	feth = ProtoField.none("prism.feth", "FETH"),
	feth_sel = ProtoField.uint32("prism.feth.sel", "Selectivity", base.DEC,
		{ [0] = "the range of the RETH", [1] = "the whole memory region" }, 0x30),
	feth_visible = ProtoField.bool("prism.feth.visible", "Placed where others see it", 32, nil, 0x01),
	feth_persistent = ProtoField.bool("prism.feth.persistent", "Placed where it persists", 32, nil, 0x02),
	immdt = ProtoField.uint32("prism.immdt", "Immediate data", base.HEX),
	ieth = ProtoField.uint32("prism.ieth", "R_Key to invalidate", base.HEX),
	deth = ProtoField.none("prism.deth", "DETH"),
	deth_qkey = ProtoField.uint32("prism.deth.qkey", "Q_Key", base.HEX),
	deth_qpn = ProtoField.uint24("prism.deth.qpn", "Source QPN", base.HEX),
	atomiceth = ProtoField.none("prism.atomiceth", "AtomicETH"),
	atomiceth_va = ProtoField.uint64("prism.atomiceth.va", "Virtual address", base.HEX),
	atomiceth_rkey = ProtoField.uint32("prism.atomiceth.rkey", "R_Key", base.HEX),
	atomiceth_swap = ProtoField.uint64("prism.atomiceth.swap", "Swap or add", base.HEX),
	atomiceth_compare = ProtoField.uint64("prism.atomiceth.compare", "Compare", base.HEX),
	atomicacketh = ProtoField.uint64("prism.atomicacketh", "Value before", base.HEX),
	cnp = ProtoField.bytes("prism.cnp", "Reserved"),
	steering = ProtoField.none("prism.steering", "Steering question"),
	steering_asker = ProtoField.uint16("prism.steering.asker", "Slot that asks", base.DEC),
	steering_index = ProtoField.uint32("prism.steering.index", "Index asked for", base.DEC),
	steering_nonce = ProtoField.uint32("prism.steering.nonce", "End of the asker's name", base.HEX),
	aeth = ProtoField.none("prism.aeth", "AETH"),
	aeth_syndrome = ProtoField.uint8("prism.aeth.syndrome", "Syndrome", base.HEX),
	aeth_msn = ProtoField.uint24("prism.aeth.msn", "MSN", base.DEC),
	rspeth = ProtoField.none("prism.rspeth", "RSPETH"),
	status = ProtoField.uint8("prism.rspeth.status", "Status", base.DEC, status_names),
	value = ProtoField.uint64("prism.rspeth.value", "Value", base.HEX),
	result = ProtoField.bytes("prism.rspeth.result", "Result"),
	rdeth = ProtoField.none("prism.rdeth", "RDETH"),
	rdeth_resolution = ProtoField.uint32("prism.rdeth.resolution", "Resolution", base.DEC),
	rdeth_length = ProtoField.uint32("prism.rdeth.length", "Effective length", base.DEC),
	payload = ProtoField.bytes("prism.payload", "Payload"),
	payload_size = ProtoField.uint32("prism.payload.size", "Payload size", base.DEC),
	entry = ProtoField.none("prism.entry", "Entry"),
	entry_number = ProtoField.uint8("prism.entry.number", "Entry of the bundle", base.DEC),
	entry_length = ProtoField.uint16("prism.entry.length", "Length of the body", base.DEC),
	entry_body = ProtoField.bytes("prism.entry.body", "Body"),
	entries = ProtoField.uint8("prism.bundle.entries", "Entries", base.DEC),
	padding = ProtoField.bytes("prism.padding", "Padding"),
	surplus = ProtoField.bytes("prism.surplus", "Surplus bytes"),
	icrc = ProtoField.uint32("prism.icrc", "Invariant CRC", base.HEX),
	icrc_status = ProtoField.uint8("prism.icrc.status", "ICRC status", base.DEC, icrc_names),
	icrc_right = ProtoField.uint32("prism.icrc.right", "Right would be", base.HEX),
	icrc_id = ProtoField.uint16("prism.icrc.identification", "Right with IP identification", base.HEX_DEC),
	response_in = ProtoField.framenum("prism.response_in", "Response in", base.NONE, frametype.RESPONSE),
	response_to = ProtoField.framenum("prism.response_to", "Response to", base.NONE, frametype.REQUEST),
	time = ProtoField.relative_time("prism.time", "Time since the request"),
	segment = ProtoField.uint32("prism.train.segment", "Packet of the train", base.DEC),
}
local all_fields = {}
for _, field in pairs(f) do
	all_fields[#all_fields + 1] = field
end
prism.fields = all_fields

local e = {
	malformed = ProtoExpert.new("prism.malformed", "Breaks a rule of the format", expert.group.MALFORMED,
		expert.severity.ERROR),
	reserved_opcode = ProtoExpert.new("prism.reserved_opcode", "Reserved opcode: receivers drop it",
		expert.group.PROTOCOL, expert.severity.WARN),
	long_read = ProtoExpert.new("prism.long_read", "Longer than the 1 MiB that every responder takes",
		expert.group.PROTOCOL, expert.severity.NOTE),
	not_ok = ProtoExpert.new("prism.not_ok", "A status other than OK", expert.group.RESPONSE_CODE,
		expert.severity.NOTE),
	icrc_bad = ProtoExpert.new("prism.icrc.bad", "Wrong ICRC: receivers drop it", expert.group.CHECKSUM,
		expert.severity.ERROR),
	icrc_other_id = ProtoExpert.new("prism.icrc.other_identification",
		"Right with another IP identification: only who cannot see the IP header takes it (W.9.1)", expert.group.CHECKSUM,
		expert.severity.NOTE),
	short_send = ProtoExpert.new("prism.short_send",
		"If Wireshark calls this malformed, its RPC-over-RDMA heuristic is mistaken: fewer than 16 bytes are no RPC",
		expert.group.COMMENTS_GROUP, expert.severity.COMMENT),
	cut = ProtoExpert.new("prism.cut", "The capture holds only the beginning of this packet",
		expert.group.UNDECODED, expert.severity.NOTE),
}
local all_experts = {}
for _, field in pairs(e) do
	all_experts[#all_experts + 1] = field
end
prism.experts = all_experts

-- Bytes ----------------------------------------------------------------------------------------------------------

-- Whether @bit (a power of two) is set; Lua before 5.3 has no operators for that.
local function has(byte, bit_value)
	return math.floor(byte / bit_value) % 2 == 1
end

-- Takes ranges off a packet, from the BTH to the pad. Once something was missing there is nothing more.
local Reader = {}
Reader.__index = Reader

-- @size: of the packet as it was sent; @buffer may hold less.
local function new_reader(buffer, size)
	return setmetatable({ buffer = buffer, at = 0, stop = size - icrc_size, there = buffer:len() }, Reader)
end

function Reader:left()
	return math.max(self.stop - self.at, 0)
end

-- What reads the next @size bytes, as far as they are there; this one goes on behind them.
function Reader:part(size)
	local part = setmetatable({ buffer = self.buffer, at = self.at, stop = self.at + size, there = self.there }, Reader)
	self.at = self.at + size
	return part
end

-- @size bytes, or nil: then self.missing says whether the "packet" or only the "capture" ends before.
function Reader:take(size)
	if self.missing then
		return nil
	end
	if self.at + size > self.stop then
		self.missing = "packet"
		return nil
	end
	if self.at + size > self.there then
		self.missing = "capture"
		return nil
	end
	self.at = self.at + size
	return self.buffer(self.at - size, size)
end

-- Headers: each adds itself to the tree and what it says to the packet @p ----------------------------------------

local flag_bits = { { "T", 0x40 }, { "D", 0x20 }, { "B", 0x10 }, { "C", 0x08 }, { "R", 0x04 } }

local function add_flags(p, tree, range)
	local byte, letters = range:uint(), ""
	p.flags = {}
	for _, flag in ipairs(flag_bits) do
		p.flags[flag[1]] = has(byte, flag[2])
		letters = letters .. (p.flags[flag[1]] and flag[1] or "")
	end
	p.letters = letters
	local item = tree:add(f.flags, range, letters)
	for _, field in ipairs({ f.indirect, f.data_indirect, f.bounded, f.conditional, f.redirect }) do
		item:add(field, range)
	end
end

local function add_bth(p, reader, tree)
	local range = reader:take(bth_size)
	if not range then
		return
	end
	local head = range(1, 1)
	p.pad, p.qpn, p.psn = head:bitfield(2, 2), range(5, 3):uint(), range(9, 3):uint()
	tree:add(f.se, head)
	tree:add(f.m, head)
	tree:add(f.pad, head)
	tree:add(f.tver, head)
	tree:add(f.pkey, range(2, 2))
	tree:add(f.fecn, range(4, 1))
	tree:add(f.becn, range(4, 1))
	tree:add(f.qpn, range(5, 3))
	tree:add(f.ack_req, range(8, 1))
	if p.opcode >= first_opcode then
		add_flags(p, tree, range(8, 1))
	end
	tree:add(f.psn, range(9, 3))
end

-- A header whose fields lie one behind the other: { field, at, size }. note: keeps what the packet p says.
local function adder(header, size, parts, note)
	return function(p, reader, tree)
		local range = reader:take(size)
		if not range then
			return
		end
		local item = tree:add(header, range)
		for _, part in ipairs(parts) do
			item:add(part[1], range(part[2], part[3]))
		end
		if note then
			note(p, range, item)
		end
	end
end

local add_reth = adder(f.reth, 16, { { f.reth_va, 0, 8 }, { f.reth_rkey, 8, 4 }, { f.reth_length, 12, 4 } },
	function(p, range)
		p.va, p.low, p.length = range(0, 8), range(4, 4):uint(), range(12, 4):uint()
	end)

local add_caseth = adder(f.caseth, 16, { { f.caseth_va, 0, 8 }, { f.caseth_rkey, 8, 4 }, { f.caseth_mode, 12, 1 } },
	function(p, range, item)
		p.va, p.low = range(0, 8), range(4, 4):uint()
		p.mode, p.cas_flags, p.n = range(12, 1):uint(), range(13, 1):uint(), range(14, 1):uint()
		item:add(f.caseth_flags, range(13, 1)):add(f.compare_data, range(13, 1))
		item:add(f.caseth_n, range(14, 1))
	end)

local add_aleth = adder(f.aleth, 12, { { f.aleth_free_list, 1, 3 }, { f.aleth_length, 4, 4 }, { f.aleth_tag, 8, 4 } },
	function(p, range)
		p.free_list, p.length = range(1, 3):uint(), range(4, 4):uint()
	end)

local add_auxeth = adder(f.auxeth, 12, { { f.auxeth_va, 0, 8 }, { f.auxeth_rkey, 8, 4 } }, function(p, range)
	p.aux_low = range(4, 4):uint()
end)

local add_rdeth = adder(f.rdeth, 8, { { f.rdeth_resolution, 0, 4 }, { f.rdeth_length, 4, 4 } }, function(p, range)
	p.length = range(4, 4):uint()
end)

local function add_operands(p, reader, tree)
	if p.n ~= 8 and p.n ~= 16 and p.n ~= 32 then
		return
	end
	for _, field in ipairs({ f.compare, f.swap, f.compare_mask, f.swap_mask }) do
		local range = reader:take(p.n)
		if not range then
			return
		end
		tree:add(field, range)
	end
end

-- Of an entry the zeros at the end of the result may be left out (W.12.1).
local function add_rspeth(p, reader, tree)
	local size = p.entry and math.min(math.max(reader:left(), 12), 44) or 44
	local range = reader:take(size)
	if not range then
		return
	end
	p.status, p.value = range(0, 1):uint(), range(4, 8)
	local item = tree:add(f.rspeth, range)
	p.status_item = item:add(f.status, range(0, 1))
	item:add(f.value, range(4, 8))
	if size > 12 then
		item:add(f.result, range(12, size - 12))
	end
end

local function has_auxeth(p)
	local kind = p.kind
	if kind.operation == "READ" or (kind.operation == "ALLOCATE" and kind.header) then
		return p.flags.R
	end
	return (p.opcode == WRITE_ONLY or p.opcode == CAS) and p.flags.D
end

local add_header = {
	reth = add_reth, caseth = add_caseth, aleth = add_aleth,
	aeth = adder(f.aeth, 4, { { f.aeth_syndrome, 0, 1 }, { f.aeth_msn, 1, 3 } }),
	xrceth = adder(f.xrceth, 4, { { f.xrceth_srqn, 1, 3 } }),
	feth = adder(f.feth, 4, { { f.feth_sel, 0, 4 }, { f.feth_visible, 0, 4 }, { f.feth_persistent, 0, 4 } }),
	immdt = adder(f.immdt, 4, {}),
	ieth = adder(f.ieth, 4, {}),
	deth = adder(f.deth, 8, { { f.deth_qkey, 0, 4 }, { f.deth_qpn, 5, 3 } }),
	atomiceth = adder(f.atomiceth, 28, { { f.atomiceth_va, 0, 8 }, { f.atomiceth_rkey, 8, 4 },
		{ f.atomiceth_swap, 12, 8 }, { f.atomiceth_compare, 20, 8 } }),
	atomicacketh = adder(f.atomicacketh, 8, {}),
	cnp = adder(f.cnp, 16, {}),
}

local function add_headers(p, reader, tree)
	local kind = p.kind
	if kind.header then
		add_header[kind.header](p, reader, tree)
	end
	if kind.response then
		local add = kind.response == "data" and add_rdeth or add_rspeth
		add(p, reader, tree)
	elseif p.flags and has_auxeth(p) then
		add_auxeth(p, reader, tree)
	end
	if p.opcode == CAS then
		add_operands(p, reader, tree)
	end
end

-- READ, CAS, WRITE with D and RESPONSE end with their headers, and so do some standard packets.
local function has_payload(p)
	if p.standard then
		return not p.standard.bare
	elseif p.opcode == WRITE_ONLY then
		return not p.flags.D
	end
	return p.opcode ~= READ and p.opcode ~= CAS and p.opcode ~= RESPONSE
end

-- What lies between the headers and the ICRC; the bytes may be missing in the capture, their number is known.
local function add_body(p, reader, tree)
	if reader.missing then
		return
	end
	local size, field = reader:left(), f.surplus
	if has_payload(p) then
		if p.pad > size then
			return
		end
		size, field = size - p.pad, f.payload
		p.payload = size
		tree:add(f.payload_size, size):set_generated()
	end
	p.surplus = field == f.surplus and size or 0
	if size > 0 then
		local range = reader:take(size)
		if range then
			tree:add(field, range)
		end
	end
	if field == f.payload and p.pad > 0 then
		local range = reader:take(p.pad)
		if range then
			tree:add(f.padding, range)
		end
	end
end

-- Rules (W.5, W.6): each function gets a packet whose headers are complete and a function to complain to ---------

local allowed_flags = { READ = "TBCR", WRITE = "TDBC", CAS = "TDC", ALLOCATE = "BCR" }

local function check_flags(p, complain)
	local operation = p.kind.operation
	for i = 1, #p.letters do
		if not allowed_flags[operation]:find(p.letters:sub(i, i), 1, true) then
			complain("F1: " .. operation .. " does not have flag " .. p.letters:sub(i, i))
		end
	end
	if p.flags.B and not p.flags[operation == "ALLOCATE" and "R" or "T"] then
		complain("F1: flag B without a pointer that it bounds")
	end
	if operation == "WRITE" and p.kind.place ~= "only" and (p.flags.T or p.flags.D) then
		complain("F7: a WRITE with T or D has one packet")
	end
end

local function check_operands(p, complain)
	if p.n ~= 8 and p.n ~= 16 and p.n ~= 32 then
		complain("F3: operands of " .. p.n .. " bytes")
	end
	if p.mode > 2 then
		complain("F3: mode " .. p.mode)
	end
	if has(p.cas_flags, 1) and not p.flags.D then
		complain("F3: compares what flag D would have loaded")
	end
end

local function check_alignment(p, complain)
	if p.flags.T and p.low and p.low % (p.flags.B and 16 or 8) ~= 0 then
		complain("F9: the pointer's address is not aligned")
	elseif p.opcode == CAS and not p.flags.T and p.n > 0 and p.low % p.n ~= 0 then
		complain("F9: the target's address is not aligned")
	end
	if p.kind.operation == "ALLOCATE" and p.aux_low and p.aux_low % (p.flags.B and 16 or 8) ~= 0 then
		complain("F10: the address for the result is not aligned")
	end
end

local function check_payload_size(p, complain)
	local place, size = p.kind.place, p.payload
	if place == "only" and size ~= p.length then
		complain("F6: " .. size .. " bytes of payload, not " .. p.length)
	elseif (place == "first" or place == "middle") and not is_path_mtu[size] then
		complain("F6: the payload is no path MTU")
	elseif place == "last" and size == 0 then
		complain("F6: no payload")
	elseif size > 4096 then
		complain("F6: more payload than any path MTU")
	end
	if place == "first" and p.length <= size then
		complain("F14: the length leaves nothing for further packets")
	end
end

local function check_length(p, complain, note)
	if p.kind.operation == "WRITE" and p.flags.T and p.length and p.length > 4096 then
		complain("F8: longer than any path MTU")
	elseif (p.opcode == READ or (p.opcode == WRITE_ONLY and p.flags.D)) and p.length > 1048576 then
		note(e.long_read)
	end
end

local function check_body(p, complain)
	if p.payload then
		check_payload_size(p, complain)
	elseif p.surplus and (p.surplus > 0 or (p.pad > 0 and not p.kind.response)) then
		complain("F5: something follows the headers")
	end
end

local function check(p, complain, note)
	if p.kind.operation then
		check_flags(p, complain)
		if p.opcode == CAS then
			check_operands(p, complain)
		end
		check_alignment(p, complain)
		check_length(p, complain, note)
	elseif p.status and not status_names[p.status] then
		complain("a reserved status")
	elseif p.status and p.status ~= 0 then
		p.status_item:add_proto_expert_info(e.not_ok, status_names[p.status])
	end
	check_body(p, complain)
end

-- The size is wrong whatever the packet holds.
local function check_size(p, reader, complain)
	if reader.missing == "packet" then
		complain("F2: too short for its headers")
	elseif not p.entry and reader.stop % 4 ~= 0 then
		complain("F4: the size is not a multiple of 4")
	elseif (p.kind or p.standard) and has_payload(p) and not p.payload and not reader.missing then
		complain("F4: more pad than there is")
	end
end

-- Requests and responses -----------------------------------------------------------------------------------------
-- A packet names the queue pair that it goes to, not the one that it comes from. So a response is matched by the two
-- addresses and its PSN (W.7), and by which two queue pairs have been seen to talk, once that is known.

local requests, pairs_of_qps, reads, response_to, response_in

local icrc_known -- by packet: what compute_icrc() returned

local function forget()
	requests, pairs_of_qps, reads, response_to, response_in, icrc_known = {}, {}, {}, {}, {}, {}
end
prism.init = forget
forget()

local function address_key(from, to)
	return tostring(from) .. ">" .. tostring(to) .. ">"
end

-- @place: frame and packet of the train
local function note_request(p, pinfo, place)
	if p.kind.place ~= "only" and p.kind.place ~= "last" then
		return
	end
	local key = address_key(pinfo.src, pinfo.dst) .. p.psn
	requests[key] = requests[key] or {}
	requests[key][p.qpn] = { place = place, frame = pinfo.number, time = pinfo.rel_ts }
end

local function find_request(p, pinfo)
	local candidates = requests[address_key(pinfo.dst, pinfo.src) .. p.psn]
	local pair_key = address_key(pinfo.src, pinfo.dst) .. p.qpn
	local known = pairs_of_qps[pair_key]
	if not candidates then
		return nil
	elseif known then
		return candidates[known]
	end
	local qpn, request = next(candidates)
	if next(candidates, qpn) then
		return nil -- several queue pairs have this PSN in flight
	end
	pairs_of_qps[pair_key] = qpn
	return request
end

-- Packets behind the first of a READ's answer belong to it as far as its length goes.
local function find_read(p, pinfo)
	local key = address_key(pinfo.src, pinfo.dst) .. p.qpn
	if p.opcode == READ_RESPONSE_FIRST then
		local request = find_request(p, pinfo)
		reads[key] = request and { request = request, psn = p.psn,
			count = math.ceil(p.length / math.max(p.payload or 1, 1)) }
		return request
	end
	local read = reads[key]
	return read and (p.psn - read.psn) % 16777216 < read.count and read.request or nil
end

local function note_response(p, pinfo, place)
	local request
	if p.kind.response == "data" and p.kind.place ~= "only" then
		request = find_read(p, pinfo)
	else
		request = find_request(p, pinfo)
	end
	if request then
		response_to[place] = { frame = request.frame, time = pinfo.rel_ts - request.time }
		response_in[request.place] = response_in[request.place] or pinfo.number
	end
end

local function add_match(tree, place)
	local answer, request = response_in[place], response_to[place]
	if answer then
		tree:add(f.response_in, answer):set_generated()
	end
	if request then
		tree:add(f.response_to, request.frame):set_generated()
		local nanoseconds = math.floor(request.time * 1e9 + 0.5)
		tree:add(f.time, NSTime.new(math.floor(nanoseconds / 1e9), nanoseconds % 1e9)):set_generated()
	end
end

local function match(p, pinfo, tree, place)
	if not prism.prefs.match or not p.psn then
		return
	end
	if not pinfo.visited then
		if p.kind.operation then
			note_request(p, pinfo, place)
		elseif p.length or p.status then
			note_response(p, pinfo, place)
		end
	end
	add_match(tree, place)
end

-- One packet -----------------------------------------------------------------------------------------------------

local function name_of(opcode)
	return opcode_names[opcode] or
		string.format(is_reliable_datagram(opcode) and "RD opcode 0x%02X" or "reserved opcode 0x%02X", opcode)
end

local function describe(p)
	local text = { name_of(p.opcode) }
	local function say(...)
		text[#text + 1] = string.format(...)
	end
	if p.letters and p.letters ~= "" and p.kind and p.kind.operation then
		say("[%s]", p.letters)
	end
	if p.qpn then
		say("QP 0x%06x PSN %d", p.qpn, p.psn)
	end
	if p.entries_text then
		say("%s", p.entries_text)
	end
	if p.status then
		say("%s", status_names[p.status] or "status " .. p.status)
	end
	if p.va then
		say("VA 0x%s", tostring(p.va:bytes()):lower())
	end
	if p.free_list then
		say("free list %d", p.free_list)
	end
	if p.length then
		say("length %d", p.length)
	end
	return table.concat(text, " ")
end

local function add_known(p, reader, tree)
	add_headers(p, reader, tree)
	add_body(p, reader, tree)
	local function complain(text)
		tree:add_proto_expert_info(e.malformed, text)
	end
	local function note(field)
		tree:add_proto_expert_info(field)
	end
	check_size(p, reader, complain)
	if not reader.missing or p.payload or p.surplus then
		check(p, complain, note)
	end
end

-- Bundles (W.12) -------------------------------------------------------------------------------------------------

local function describe_entry(p)
	local text = name_of(p.opcode)
	if p.letters ~= "" and p.kind and p.kind.operation then
		text = text .. " [" .. p.letters .. "]"
	end
	if p.status then
		text = text .. " " .. (status_names[p.status] or "status " .. p.status)
	end
	return text
end

-- A packet that only lacks its BTH: what the bundle's says holds for it.
local function add_entry_body(p, bundle, body, tree)
	if not bundle.kind.entries[p.opcode] then
		tree:add_proto_expert_info(e.malformed, "W.12.1: " .. name_of(p.opcode) .. " is no entry of a " ..
			name_of(bundle.opcode))
		local range = body:left() > 0 and body:take(body:left())
		if range then
			tree:add(f.entry_body, range)
		end
		return
	end
	add_known(p, body, tree)
	if p.opcode == READ and not p.flags.R and p.length and p.length > 4096 then
		tree:add_proto_expert_info(e.malformed, "W.12.1: a READ of more than one PSN")
	end
end

-- @return the entry, or nil where the bundle or the capture ends before
local function add_entry(bundle, number, reader, tree, pinfo, place)
	local header = reader:take(entry_header_size)
	if not header then
		return nil
	end
	local p = { opcode = header(0, 1):uint(), entry = number, pad = 0, qpn = bundle.qpn,
		psn = (bundle.psn + number) % 16777216 }
	local length = header(2, 2):uint()
	p.kind = kinds[p.opcode]
	local item = tree:add(f.entry, header)
	item:add(f.entry_number, number):set_generated()
	item:add(f.opcode, header(0, 1))
	item:add(f.ack_req, header(1, 1))
	add_flags(p, item, header(1, 1))
	item:add(f.psn, p.psn):set_generated()
	item:add(f.entry_length, header(2, 2))
	local padding = -length % 4
	if length + padding > reader:left() then
		item:add_proto_expert_info(e.malformed, "W.12.2: the entry ends behind the bundle")
		reader.missing = "packet"
		return nil
	end
	item:set_len(math.min(entry_header_size + length + padding, math.max(reader.there - reader.at, 0) + entry_header_size))
	local body = reader:part(length)
	add_entry_body(p, bundle, body, item)
	local pad = padding > 0 and not body.missing and reader:take(padding)
	if pad then
		item:add(f.padding, pad)
	elseif body.missing == "capture" then
		reader.missing = "capture"
	end
	if bundle.kind.entries[p.opcode] then
		match(p, pinfo, item, place .. "." .. number)
	end
	item:set_text(string.format("Entry %d, PSN %d, %s", number, p.psn, describe_entry(p)))
	return p
end

local function check_bundle(p, reader, complain)
	if p.count < least_entries then
		complain("W.12.1: fewer than " .. least_entries .. " entries")
	elseif p.count > most_entries then
		complain("W.12.1: more than " .. most_entries .. " entries")
	end
	if reader.stop > longest_bundle then
		complain("W.12.1: longer than the largest path MTU allows")
	end
	if reader.missing == "packet" then
		complain("W.12.2: the entries do not fill the bundle exactly")
	end
end

local function add_bundle(p, reader, tree, pinfo, place)
	local texts = {}
	p.count = 0
	while reader:left() > 0 and p.count <= most_entries do
		local entry = add_entry(p, p.count, reader, tree, pinfo, place)
		if not entry then
			break
		end
		p.count = p.count + 1
		texts[p.count] = describe_entry(entry)
		if reader.missing then
			break
		end
	end
	tree:add(f.entries, p.count):set_generated()
	p.entries_text = p.count .. " entries: " .. table.concat(texts, ", ")
	if reader.missing ~= "capture" then
		check_bundle(p, reader, function(text) tree:add_proto_expert_info(e.malformed, text) end)
	end
end

-- Invariant CRC (W.9) --------------------------------------------------------------------------------------------

-- Lua 5.2 has a library for it, later ones an operator that 5.2 cannot read.
local bxor = bit32 and bit32.bxor or load("return function(a, b) return a ~ b end")()
local bxor4 = bit32 and bit32.bxor or load("return function(a, b, c, d) return a ~ b ~ c ~ d end")()
local ones, polynomial = 0xFFFFFFFF, 0xEDB88320

local crc_of = {} -- a byte
local byte_of = {} -- that has a CRC with these upper eight bits
for byte = 0, 255 do
	local crc = byte
	for _ = 1, 8 do
		crc = crc % 2 == 1 and bxor((crc - 1) / 2, polynomial) or crc / 2
	end
	crc_of[byte] = crc
	byte_of[math.floor(crc / 0x1000000)] = byte
end

local function crc_of_next(crc, byte)
	local low = crc % 0x100
	return bxor((crc - low) / 0x100, crc_of[bxor(low, byte)])
end

local crc_of1, crc_of2, crc_of3 = {}, {}, {} -- a byte and one, two or three zeros
for byte = 0, 255 do
	crc_of1[byte] = crc_of_next(crc_of[byte], 0)
	crc_of2[byte] = crc_of_next(crc_of1[byte], 0)
	crc_of3[byte] = crc_of_next(crc_of2[byte], 0)
end

-- Four bytes at once, which takes a third of the time.
local function crc_over(crc, bytes)
	local rest = #bytes % 4
	for i = 1, #bytes - rest, 4 do
		local first, second, third, fourth = bytes:byte(i, i + 3)
		crc = bxor(crc, first + second * 0x100 + third * 0x10000 + fourth * 0x1000000)
		local one, two, three = crc % 0x100, crc % 0x10000, crc % 0x1000000
		crc = bxor4(crc_of3[one], crc_of2[(two - one) / 0x100], crc_of1[(three - two) / 0x10000],
			crc_of[(crc - three) / 0x1000000])
	end
	for i = #bytes - rest + 1, #bytes do
		crc = crc_of_next(crc, bytes:byte(i))
	end
	return crc
end

-- What was there @count zero bytes before @crc.
local function crc_before(crc, count)
	for _ = 1, count do
		local byte = byte_of[math.floor(crc / 0x1000000)]
		crc = bxor(crc, crc_of[byte]) * 256 + byte
	end
	return crc
end

local function two_bytes(number)
	return string.char(math.floor(number / 256) % 256, number % 256)
end

local id_at = 8 + 4 -- of the IP identification, in what the ICRC covers

-- What the ICRC covers in front of the BTH.
-- @datagram: its IP header and UDP ports, as captured; @size: of the packet; @position: in its train, from 0
local function icrc_head(datagram, size, position)
	local head, ip, lrh = datagram.head, nil, ("\255"):rep(8)
	if datagram.ip_size == 20 then
		ip = "\69\255" .. two_bytes(28 + size) .. two_bytes(datagram.identification + position) .. head:sub(7, 8) ..
			"\255\17\255\255" .. head:sub(13, 20)
	else
		ip = "\111\255\255\255" .. two_bytes(8 + size) .. "\17\255" .. head:sub(9, 40)
	end
	return lrh .. ip .. head:sub(-4) .. two_bytes(8 + size) .. "\255\255"
end

-- @return true if the ICRC is right; the IP identification with which it would be; or { right one }
local function compute_icrc(buffer, size, datagram, position)
	local bytes = buffer:raw(0, size - icrc_size)
	local covered = icrc_head(datagram, size, position) .. bytes:sub(1, 4) .. "\255" .. bytes:sub(6)
	local right = bxor(crc_over(ones, covered), ones)
	local wrong_bits = bxor(right, buffer(size - icrc_size, icrc_size):le_uint())
	if wrong_bits == 0 then
		return true
	elseif datagram.ip_size ~= 20 then
		return { right }
	end
	-- Another identification changes the CRC by what its changed bits make of it, and nothing else does (W.9.1).
	local changed = crc_before(wrong_bits, #covered - id_at)
	if changed >= 0x10000 then
		return { right }
	end
	local swapped = changed % 0x100 * 0x100 + math.floor(changed / 0x100)
	return bxor((datagram.identification + position) % 0x10000, swapped)
end

local function icrc_of(buffer, size, datagram, position)
	local key = datagram.frame .. "." .. position .. "." .. size
	icrc_known[key] = icrc_known[key] or compute_icrc(buffer, size, datagram, position)
	return icrc_known[key]
end

-- @return what the packet's line says of it
local function add_icrc(buffer, size, tree, datagram, position)
	local at = size - icrc_size
	if at < bth_size or size > buffer:len() then
		return ""
	end
	local item = tree:add_le(f.icrc, buffer(at, icrc_size)) -- sent with its least significant byte first
	local function say(status)
		tree:add(f.icrc_status, status):set_generated()
		item:append_text(" [" .. icrc_names[status] .. "]")
	end
	if not prism.prefs.icrc then
		say(icrc_unverified)
		return ""
	end
	local result = icrc_of(buffer, size, datagram, position)
	if result == true then
		say(icrc_exact)
	elseif type(result) == "number" then
		say(icrc_other_id)
		tree:add(f.icrc_id, result):set_generated()
		item:add_proto_expert_info(e.icrc_other_id)
	else
		say(icrc_wrong)
		tree:add(f.icrc_right, result[1]):set_generated()
		item:add_proto_expert_info(e.icrc_bad)
		return " [bad ICRC]"
	end
	return ""
end

-- A standard packet (IBTA 9) -------------------------------------------------------------------------------------

-- Wireshark's heuristic for RPC over RDMA reads 16 bytes of each message, pad included, be they there or not.
local function is_taken_for_rpc(p)
	return p.standard and p.standard.taken_for_rpc and p.payload and p.payload + p.pad < 16
end

local function add_standard(p, reader, tree)
	for header in p.standard.headers:gmatch("%a+") do
		add_header[header](p, reader, tree)
	end
	add_body(p, reader, tree)
	local function complain(text)
		tree:add_proto_expert_info(e.malformed, (text:gsub("^F%d+: ", ""))) -- the rules of W.5 are for PRISM's
	end
	check_size(p, reader, complain)
	if p.surplus and p.surplus > 0 and not p.payload then
		complain("something follows the headers")
	end
	if is_taken_for_rpc(p) then
		tree:add_proto_expert_info(e.short_send)
	end
end

-- Any packet -----------------------------------------------------------------------------------------------------

-- @buffer: at least one byte; @size: of the packet as it was sent; @segment: number in its train, 0 without one
-- @return one line about the packet, nil if that of "infiniband" is right; and what is to be added to it
local function dissect_packet(buffer, size, pinfo, tree, datagram, segment)
	local p = { opcode = buffer(0, 1):uint() }
	local reader = new_reader(buffer, size)
	local item = tree:add(p.opcode < first_opcode and roce or prism, buffer())
	if segment > 0 then
		item:add(f.segment, segment):set_generated()
	end
	item:add(f.opcode, buffer(0, 1))
	p.kind, p.standard = kinds[p.opcode], standard[p.opcode]
	add_bth(p, reader, item)
	if not p.kind and not p.standard then
		if not is_reliable_datagram(p.opcode) then
			item:add_proto_expert_info(e.reserved_opcode)
		end
	elseif reader.missing == "packet" then
		item:add_proto_expert_info(e.malformed, "F2: too short for a BTH and an ICRC")
	elseif p.standard and not reader.missing then
		add_standard(p, reader, item)
	elseif p.kind and p.kind.entries and not reader.missing then
		add_bundle(p, reader, item, pinfo, pinfo.number .. "." .. segment)
	elseif not reader.missing then
		add_known(p, reader, item)
		match(p, pinfo, item, pinfo.number .. "." .. segment)
	end
	if reader.missing == "capture" then
		item:add_proto_expert_info(e.cut)
	end
	local text, remark = describe(p), add_icrc(buffer, size, item, datagram, math.max(segment - 1, 0))
	item:append_text(", " .. text .. remark)
	local is_ours = p.kind or p.opcode >= first_opcode or (p.standard and p.standard.unknown) or is_taken_for_rpc(p)
	return is_ours and text or nil, remark
end

-- Trains ---------------------------------------------------------------------------------------------------------
-- A sender may leave it to the interface to cut a run of packets of one size, the last of which may be shorter, into
-- datagrams; a capture on the sender's side, and on loopback any, shows them in one piece (W.9.1). The size is not
-- written anywhere. But where a packet ends, its ICRC is right and another one follows.

local most_guesses = 16 -- so that nobody can make this slow

local function looks_like_packet(buffer, at)
	if at % 4 ~= 0 or at + bth_size + icrc_size > buffer:len() then
		return false
	end
	return opcode_names[buffer(at, 1):uint()] and buffer(at + 1, 1):uint() % 16 == 0 and
		buffer(at + 4, 1):uint() % 64 == 0
end

-- Of each packet but the last; nil if it is a single one.
local function segment_size(buffer, whole, datagram)
	if not prism.prefs.trains or whole ~= buffer:len() or whole < 2 * (bth_size + icrc_size) then
		return nil
	end
	local bytes, guesses, second_best = buffer:raw(), 0, nil
	local pkey, at = bytes:sub(3, 4), bth_size + icrc_size
	while guesses < most_guesses do
		at = bytes:find(pkey, at + 3, true)
		if not at then
			break
		end
		at = at - 3 -- where the opcode would be, 0 the first byte
		if looks_like_packet(buffer, at) then
			guesses = guesses + 1
			local result = icrc_of(buffer, at, datagram, 0)
			if result == true then
				return at
			end
			second_best = second_best or (type(result) == "number" and at)
		end
		at = at + 1
	end
	return second_best or nil
end

local function dissect_train(buffer, pinfo, tree, datagram, size)
	local info, remark, count = nil, "", 0
	for at = 0, buffer:len() - 1, size do
		local packet = buffer(at, math.min(size, buffer:len() - at)):tvb()
		count = count + 1
		local text, of_packet = dissect_packet(packet, packet:len(), pinfo, tree, datagram, count)
		if count == 1 then
			info = text
		end
		remark = remark == "" and of_packet or remark
	end
	return info, " (train of " .. count .. ")" .. remark
end

-- Steering questions (W.1.3) -------------------------------------------------------------------------------------

local function dissect_steering(buffer, tree, datagram)
	local range, head = buffer(0, steering_size), datagram.head
	local asker, index = range(2, 2):uint(), range(4, 4):uint()
	local text = string.format("STEERING_QUESTION slot %d asks who has index %d", asker, index)
	local item = tree:add(prism, range, "PRISM remote operations, " .. text):add(f.steering, range)
	item:add(f.steering_asker, range(2, 2))
	item:add(f.steering_index, range(4, 4))
	item:add(f.steering_nonce, range(8, 4))
	local function complain(rule)
		item:add_proto_expert_info(e.malformed, "W.1.3: " .. rule .. ", nobody answers")
	end
	if asker >= slot_limit or index >= slot_limit then
		complain("a slot or an index that cannot be")
	elseif head:byte(-4) * 256 + head:byte(-3) ~= first_source_port + asker then
		complain("not from the port of the slot that asks")
	end
	local address_size = datagram.ip_size == 20 and 4 or 16
	local source = datagram.ip_size - 2 * address_size
	if head:sub(source + 1, source + address_size) ~= head:sub(source + address_size + 1, source + 2 * address_size) then
		complain("not from the address that it goes to")
	end
	return text
end

-- The frame ------------------------------------------------------------------------------------------------------
-- What the dissectors before have found is known only while a protocol tree is built, and the first pass over a capture
-- builds none. So the headers are looked for here: RoCEv2 has neither IP options nor fragments (W.1).

local headers_limit = 256 -- where the UDP header begins at the latest: link, tags and tunnels before it are short
local port_bytes = string.char(math.floor(roce_port / 256), roce_port % 256)

local function number_at(bytes, at)
	return bytes:byte(at) * 256 + bytes:byte(at + 1)
end

-- The size of the IP header that ends before @at, 1 the first byte, if its datagram is a UDP header of @length.
local function ip_size_before(bytes, at, length)
	if at > 20 and bytes:byte(at - 20) == 0x45 and bytes:byte(at - 11) == 17 then
		return number_at(bytes, at - 18) == length + 20 and 20 or nil
	end
	return at > 40 and math.floor(bytes:byte(at - 40) / 16) == 6 and bytes:byte(at - 34) == 17 and
		number_at(bytes, at - 36) == length and 40 or nil
end

-- The datagram to the RoCE port, or nil: where its payload begins, the size of that as it was sent, and what the ICRC
-- needs of the headers in front.
local function find_datagram(buffer, frame)
	local bytes = buffer:raw(0, math.min(buffer:len(), headers_limit + 8))
	local port = bytes:find(port_bytes, 1, true)
	while port and port + 3 <= #bytes do
		local length = number_at(bytes, port + 2)
		local ip_size = port > 2 and length >= 8 and ip_size_before(bytes, port - 2, length)
		if ip_size then
			return { at = port + 5, size = length - 8, frame = frame, ip_size = ip_size,
				head = bytes:sub(port - 2 - ip_size, port + 1), identification = number_at(bytes, port + 2 - ip_size) }
		end
		port = bytes:find(port_bytes, port + 1, true)
	end
	return nil
end

function prism.dissector(frame, pinfo, tree)
	local datagram = find_datagram(frame, pinfo.number)
	if not datagram then
		return
	end
	local size, there = datagram.size, math.min(datagram.size, frame:len() - datagram.at)
	if there < 1 then
		return
	end
	local buffer = frame(datagram.at, there):tvb()
	local is_steering = size == steering_size and there == size and buffer:raw(0, #steering_magic) == steering_magic
	local info, remark
	if is_steering then
		info, remark = dissect_steering(buffer, tree, datagram), ""
	else
		local segment = segment_size(buffer, size, datagram)
		if segment then
			info, remark = dissect_train(buffer, pinfo, tree, datagram, segment)
		else
			info, remark = dissect_packet(buffer, size, pinfo, tree, datagram, 0)
		end
	end
	if is_steering or buffer(0, 1):uint() >= first_opcode then
		pinfo.cols.protocol = "PRISM"
	end
	if info then
		pinfo.cols.info = info .. remark
	elseif remark ~= "" then
		pinfo.cols.info:append(remark)
	end
end

register_postdissector(prism)
