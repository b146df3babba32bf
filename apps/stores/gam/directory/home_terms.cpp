/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Terms of ownership, and the log of values and transfers. */
#include "gam/directory/home.hpp"

namespace prism::gam::directory
{

/** Notes that @p access has written to the memory. Returns the error that it ends with. */
int Home::wrote(const Block &block, const Access &access)
{
	if (!context_.has_log() || !writes(access.kind))
		return 0;
	block.entry.is_unlogged = 1;
	return context_.is_durable() || access.is_logged ? log_before_it_leaves(block) : 0;
}

int Home::log_before_it_leaves(const Block &block)
{
	if (!block.entry.is_unlogged)
		return 0;
	block.entry.is_unlogged = 0;
	return context_.log_value(block.address, block.entry.term, block.bytes);
}

/** Begins a term of the home, which has the block again. */
void Home::begin_own_term(const Block &block, bool is_unlogged)
{
	block.entry.owner = no_node;
	block.entry.state = HomeState::shared;
	block.entry.term++;
	block.entry.is_unlogged = is_unlogged && context_.has_log();
}

/**
 * Begins a term of the home after @p owner, which has returned the block and logged it if it keeps a log. Otherwise
 * only this home can log it.
 */
void Home::begin_own_term_after(const Block &block, NodeId owner)
{
	begin_own_term(block, !context_.keeps_log(owner));
	(void)log_before_it_leaves(block);
}

void Home::log_all()
{
	for_each_block([this](const Block &block) { (void)log_before_it_leaves(block); });
}

/** Begins a term of @p owner: the previous term has ended, and its value is in a log. */
void Home::begin_term_of(const Block &block, NodeId owner)
{
	block.entry.sharers = 0;
	block.entry.owner = owner;
	block.entry.state = HomeState::dirty;
	block.entry.term++;
	context_.log_transfer(block.address, block.entry.term, owner);
}

} // namespace prism::gam::directory
