/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "fibers.hpp"

#include <ucontext.h>

#include <thread>
#include <utility>

namespace prism::gam::test
{

namespace
{

constexpr std::size_t stack_size = std::size_t{256} << 10;
constexpr std::chrono::microseconds turn_time(1);

thread_local std::chrono::steady_clock::time_point time;

} // namespace

struct Fibers::Fiber {
	std::function<void()> play;
	std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_size);
	ucontext_t own{};
	ucontext_t caller{};
	bool is_over = false;

	static void begin()
	{
		Fiber &fiber = *current;
		fiber.play();
		fiber.is_over = true;
		swapcontext(&fiber.own, &fiber.caller);
	}
	void go_on()
	{
		current = this;
		swapcontext(&caller, &own);
		current = nullptr;
	}
	static inline thread_local Fiber *current = nullptr;
};

Fibers::Fibers() = default;
Fibers::~Fibers() = default;

void Fibers::add(std::function<void()> play)
{
	Fiber &fiber = *fibers_.emplace_back(std::make_unique<Fiber>());
	fiber.play = std::move(play);
	getcontext(&fiber.own);
	fiber.own.uc_stack.ss_sp = fiber.stack.get();
	fiber.own.uc_stack.ss_size = stack_size;
	makecontext(&fiber.own, &Fiber::begin, 0);
}

void Fibers::run()
{
	for (std::size_t left = fibers_.size(); left;) {
		for (const auto &fiber : fibers_) {
			if (fiber->is_over)
				continue;
			fiber->go_on();
			left -= fiber->is_over;
		}
	}
}

std::chrono::steady_clock::time_point Fibers::now()
{
	return time;
}

void Fibers::yield()
{
	time += turn_time;
	if (Fiber *const fiber = Fiber::current)
		swapcontext(&fiber->own, &fiber->caller);
}

void play(std::vector<std::function<void()>> players, std::span<Node *const> nodes, bool as_fibers)
{
	if (!as_fibers) {
		std::vector<std::jthread> threads;
		for (auto &player : players)
			threads.emplace_back(std::move(player));
		return;
	}
	Fibers fibers;
	std::size_t left = players.size();
	for (auto &player : players)
		fibers.add([&left, player = std::move(player)] {
			player();
			left--;
		});
	for (Node *const node : nodes)
		fibers.add([&left, node] {
			while (left) {
				node->poll();
				Fibers::yield();
			}
		});
	fibers.run();
}

} // namespace prism::gam::test
