-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
-- PRISM over RoCEv2 for Wireshark 4: the packets of docs/wire-protocol.md, whose sections are cited as W.n.
--
-- UDP port 4791 belongs to Wireshark's dissector "infiniband", which knows all standard packets and calls the
-- opcodes of the manufacturer's range (0xC0 to 0xFF) unknown. This one looks at the same bytes after it, and only at
-- those opcodes. It does not stand in front of it: a dissector in C that runs out of captured bytes leaves through
-- the interpreter of whoever called it from Lua, which then is of no use any more.
--
-- The name "prism" is that of a header of wireless captures in Wireshark, so the protocol is called prism_rdma; its
-- fields are prism.*.

local roce_port = 4791
local first_opcode = 0xC0
local bth_size, icrc_size = 12, 4

local prism = Proto("prism_rdma", "PRISM remote operations")
prism.prefs.match = Pref.bool("Match requests and responses", true,
	"Say in which frame the request of a response is and how long the answer took")
prism.prefs.trains = Pref.bool("Take trains apart", true,
	"Where segmentation is left to the interface, one frame holds several packets")

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

local READ, WRITE_FIRST, WRITE_ONLY, CAS, ALLOCATE_FIRST, ALLOCATE_ONLY = 0xC0, 0xC1, 0xC4, 0xC5, 0xC6, 0xC9
local READ_RESPONSE_FIRST, READ_RESPONSE_MIDDLE, READ_RESPONSE_LAST, READ_RESPONSE_ONLY = 0xD0, 0xD1, 0xD2, 0xD3
local RESPONSE = 0xD4

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
local entry_header_size, least_entries, most_entries = 4, 2, 16
local longest_bundle = 4096 + 36 -- at the largest path MTU, from BTH to the last pad
local path_mtus = { 256, 512, 1024, 2048, 4096 }
local is_path_mtu = {}
for _, mtu in ipairs(path_mtus) do
	is_path_mtu[mtu] = true
end

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
	cut = ProtoExpert.new("prism.cut", "The capture holds only the beginning of this packet",
		expert.group.UNDECODED, expert.severity.NOTE),
}
prism.experts = { e.malformed, e.reserved_opcode, e.long_read, e.not_ok, e.cut }

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
	add_flags(p, tree, range(8, 1))
	tree:add(f.psn, range(9, 3))
end

local function add_reth(p, reader, tree)
	local range = reader:take(16)
	if not range then
		return
	end
	p.va, p.low, p.length = range(0, 8), range(4, 4):uint(), range(12, 4):uint()
	local item = tree:add(f.reth, range)
	item:add(f.reth_va, range(0, 8))
	item:add(f.reth_rkey, range(8, 4))
	item:add(f.reth_length, range(12, 4))
end

local function add_caseth(p, reader, tree)
	local range = reader:take(16)
	if not range then
		return
	end
	p.va, p.low = range(0, 8), range(4, 4):uint()
	p.mode, p.cas_flags, p.n = range(12, 1):uint(), range(13, 1):uint(), range(14, 1):uint()
	local item = tree:add(f.caseth, range)
	item:add(f.caseth_va, range(0, 8))
	item:add(f.caseth_rkey, range(8, 4))
	item:add(f.caseth_mode, range(12, 1))
	item:add(f.caseth_flags, range(13, 1)):add(f.compare_data, range(13, 1))
	item:add(f.caseth_n, range(14, 1))
end

local function add_aleth(p, reader, tree)
	local range = reader:take(12)
	if not range then
		return
	end
	p.free_list, p.length = range(1, 3):uint(), range(4, 4):uint()
	local item = tree:add(f.aleth, range)
	item:add(f.aleth_free_list, range(1, 3))
	item:add(f.aleth_length, range(4, 4))
	item:add(f.aleth_tag, range(8, 4))
end

local function add_auxeth(p, reader, tree)
	local range = reader:take(12)
	if not range then
		return
	end
	p.aux_low = range(4, 4):uint()
	local item = tree:add(f.auxeth, range)
	item:add(f.auxeth_va, range(0, 8))
	item:add(f.auxeth_rkey, range(8, 4))
end

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

local function add_aeth(_, reader, tree)
	local range = reader:take(4)
	if not range then
		return
	end
	local item = tree:add(f.aeth, range)
	item:add(f.aeth_syndrome, range(0, 1))
	item:add(f.aeth_msn, range(1, 3))
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

local function add_rdeth(p, reader, tree)
	local range = reader:take(8)
	if not range then
		return
	end
	p.length = range(4, 4):uint()
	local item = tree:add(f.rdeth, range)
	item:add(f.rdeth_resolution, range(0, 4))
	item:add(f.rdeth_length, range(4, 4))
end

local function has_auxeth(p)
	local kind = p.kind
	if kind.operation == "READ" or (kind.operation == "ALLOCATE" and kind.header) then
		return p.flags.R
	end
	return (p.opcode == WRITE_ONLY or p.opcode == CAS) and p.flags.D
end

local add_header = { reth = add_reth, caseth = add_caseth, aleth = add_aleth, aeth = add_aeth }

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

-- READ, CAS, WRITE with D and RESPONSE end with their headers.
local function has_payload(p)
	if p.opcode == WRITE_ONLY then
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
	elseif p.kind and has_payload(p) and not p.payload and not reader.missing then
		complain("F4: more pad than there is")
	end
end

-- Requests and responses -----------------------------------------------------------------------------------------
-- A packet names the queue pair that it goes to, not the one that it comes from. So a response is matched by the two
-- addresses and its PSN (W.7), and by which two queue pairs have been seen to talk, once that is known.

local requests, pairs_of_qps, reads, response_to, response_in

local function forget()
	requests, pairs_of_qps, reads, response_to, response_in = {}, {}, {}, {}, {}
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
	local unnamed = opcode < first_opcode and "standard opcode 0x%02X" or "reserved opcode 0x%02X"
	return opcode_names[opcode] or string.format(unnamed, opcode)
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

local function add_icrc(buffer, size, tree)
	local at = size - icrc_size
	if at >= bth_size and at + icrc_size <= buffer:len() then
		tree:add_le(f.icrc, buffer(at, icrc_size)) -- sent with its least significant byte first (W.9)
	end
end

-- @buffer: at least one byte; @size: of the packet as it was sent; @segment: number in its train, 0 without one
-- @return one line about the packet
local function dissect_packet(buffer, size, pinfo, tree, segment)
	local p = { opcode = buffer(0, 1):uint() }
	local reader = new_reader(buffer, size)
	local item = tree:add(prism, buffer())
	if segment > 0 then
		item:add(f.segment, segment):set_generated()
	end
	item:add(f.opcode, buffer(0, 1))
	p.kind = kinds[p.opcode]
	add_bth(p, reader, item)
	if not p.kind then
		item:add_proto_expert_info(e.reserved_opcode)
	elseif reader.missing == "packet" then
		item:add_proto_expert_info(e.malformed, "F2: too short for a BTH and an ICRC")
	elseif p.kind.entries and not reader.missing then
		add_bundle(p, reader, item, pinfo, pinfo.number .. "." .. segment)
	elseif not reader.missing then
		add_known(p, reader, item)
		match(p, pinfo, item, pinfo.number .. "." .. segment)
	end
	if reader.missing == "capture" then
		item:add_proto_expert_info(e.cut)
	end
	add_icrc(buffer, size, item)
	local text = describe(p)
	item:append_text(", " .. text)
	return text
end

-- Trains ---------------------------------------------------------------------------------------------------------
-- A sender may leave it to the interface to cut a run of packets of one size, the last of which may be shorter, into
-- datagrams; a capture on the sender's side, and on loopback any, shows them in one piece (W.9.1). The size is not
-- written anywhere: it follows from the first packet, or is one of those that the path MTUs give.

local function uint_at(buffer, at, size)
	return at + size <= buffer:len() and buffer(at, size):uint() or nil
end

local function looks_like_packet(buffer, at)
	if at + bth_size + icrc_size > buffer:len() then
		return false
	end
	local opcode = buffer(at, 1):uint()
	return (opcode_names[opcode] or opcode < 0x20) and buffer(at + 1, 1):uint() % 16 == 0 and
		buffer(at + 2, 2):uint() == 0xFFFF and buffer(at + 4, 1):uint() % 64 == 0
end

local function follows(buffer, at)
	return looks_like_packet(buffer, at) and buffer(at + 5, 3):uint() == buffer(5, 3):uint() and
		buffer(at + 9, 3):uint() == (buffer(9, 3):uint() + 1) % 16777216
end

local function with_payload(headers, length)
	return length and length <= 4096 and bth_size + headers + math.ceil(length / 4) * 4 + icrc_size or nil
end

-- The size of packets that say it themselves; nil for others
local exact_size = {
	[0xC0] = function(_, flags) return has(flags, 0x04) and 44 or 32 end,
	[0xC4] = function(buffer, flags)
		return has(flags, 0x20) and 44 or with_payload(16, uint_at(buffer, 24, 4))
	end,
	[0xC5] = function(buffer, flags)
		local n = uint_at(buffer, 26, 1)
		return n and 32 + (has(flags, 0x20) and 12 or 0) + 4 * n
	end,
	[0xC9] = function(buffer, flags)
		return with_payload(has(flags, 0x04) and 24 or 12, uint_at(buffer, 16, 4))
	end,
	[0xD3] = function(buffer) return with_payload(12, uint_at(buffer, 20, 4)) end,
	[0xD4] = function() return 64 end,
}
-- A bundle does not say where it ends: behind an entry, where an ICRC and the next packet follow.
local function bundle_size(buffer)
	local at = bth_size
	for count = 1, most_entries do
		local length = uint_at(buffer, at + 2, 2)
		if not length then
			return nil
		end
		at = at + entry_header_size + math.ceil(length / 4) * 4
		local size = at + icrc_size
		if count >= least_entries and looks_like_packet(buffer, size) and
			buffer(size + 5, 3):uint() == buffer(5, 3):uint() then
			return size
		end
	end
	return nil
end
exact_size[0xCA], exact_size[0xD5] = bundle_size, bundle_size

local headers_of = { [0xC1] = 16, [0xC6] = 12, [0xD0] = 12, [0xD1] = 12, [0xD2] = 12 }

-- Of each packet but the last; nil if it is a single one.
local function segment_size(buffer, whole)
	if not prism.prefs.trains or whole ~= buffer:len() or whole < bth_size + icrc_size then
		return nil
	end
	local opcode, flags = buffer(0, 1):uint(), buffer(8, 1):uint()
	if exact_size[opcode] then
		local size = exact_size[opcode](buffer, flags)
		return size and size < whole and looks_like_packet(buffer, size) and size or nil
	end
	local headers = (headers_of[opcode] or 0) + (opcode == ALLOCATE_FIRST and has(flags, 0x04) and 12 or 0)
	for _, mtu in ipairs(path_mtus) do
		local size = bth_size + headers + mtu + icrc_size
		if kinds[opcode] and size < whole and follows(buffer, size) then
			return size
		end
	end
	return nil
end

local function dissect_train(buffer, pinfo, tree, size)
	local info, count = nil, 0
	for at = 0, buffer:len() - 1, size do
		local packet = buffer(at, math.min(size, buffer:len() - at)):tvb()
		count = count + 1
		if packet(0, 1):uint() >= first_opcode then
			local text = dissect_packet(packet, packet:len(), pinfo, tree, count)
			info = info or text
		else
			tree:add(prism, packet(), "PRISM remote operations, a standard packet in the train"):add(f.segment, count)
				:set_generated()
		end
	end
	return info .. " (train of " .. count .. ")"
end

-- The frame ------------------------------------------------------------------------------------------------------
-- What the dissectors before have found is known only while a protocol tree is built, and the first pass over a capture
-- builds none. So the headers are looked for here: RoCEv2 has neither IP options nor fragments (W.1).

local headers_limit = 256 -- where the UDP header begins at the latest: link, tags and tunnels before it are short
local port_bytes = string.char(math.floor(roce_port / 256), roce_port % 256)

local function number_at(bytes, at)
	return bytes:byte(at) * 256 + bytes:byte(at + 1)
end

-- Whether an IP header ends before @at, 1 the first byte, whose datagram is a UDP header and what belongs to it.
local function follows_ip(bytes, at, length)
	if at > 20 and bytes:byte(at - 20) == 0x45 and bytes:byte(at - 11) == 17 then
		return number_at(bytes, at - 18) == length + 20
	end
	return at > 40 and math.floor(bytes:byte(at - 40) / 16) == 6 and bytes:byte(at - 34) == 17 and
		number_at(bytes, at - 36) == length
end

-- Where the UDP header begins, 0 the first byte, and the length in it; nil if there is none to the RoCE port.
local function find_udp(buffer)
	local bytes = buffer:raw(0, math.min(buffer:len(), headers_limit + 8))
	local port = bytes:find(port_bytes, 1, true)
	while port and port + 3 <= #bytes do
		local length = number_at(bytes, port + 2)
		if port > 2 and length >= 8 and follows_ip(bytes, port - 2, length) then
			return port - 3, length
		end
		port = bytes:find(port_bytes, port + 1, true)
	end
	return nil
end

function prism.dissector(frame, pinfo, tree)
	local header, length = find_udp(frame)
	if not header then
		return
	end
	local at, size = header + 8, length - 8
	local there = math.min(size, frame:len() - at)
	if there < 1 or frame(at, 1):uint() < first_opcode then
		return
	end
	local buffer = frame(at, there):tvb()
	local segment = segment_size(buffer, size)
	local info = segment and dissect_train(buffer, pinfo, tree, segment) or
		dissect_packet(buffer, size, pinfo, tree, 0)
	pinfo.cols.protocol = "PRISM"
	pinfo.cols.info = info
end

register_postdissector(prism)
