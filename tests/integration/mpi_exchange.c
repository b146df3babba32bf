/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two MPI processes exchange messages of every kind of size that a verbs transport treats differently (inline, copied,
 * zero-copy after a rendezvous), both ways, and check every byte; then a reduction, then one-sided operations. Ends
 * with 0, and rank 0 prints a line, only if all of it was right.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 20, window_words = 1024 };

static const int sizes[] = {0, 1, 8, 63, 64, 1000, 4096, 8191, 8192, 65536, 1 << 20};

static void fail(const char *what, long at)
{
	fprintf(stderr, "mpi_exchange: wrong: %s at %ld\n", what, at);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint8_t expected(int rank, int round, int at)
{
	return (uint8_t)(rank * 101 + round * 37 + at * 7 + (at >> 8));
}

/* Both sides send at once. */
static long exchange(int rank, int size, int round)
{
	const int peer = 1 - rank;
	uint8_t *const out = malloc((size_t)size + 1);
	uint8_t *const in = calloc(1, (size_t)size + 1);
	MPI_Status status;
	int count;

	if (!out || !in)
		fail("no memory", size);
	for (int i = 0; i < size; i++)
		out[i] = expected(rank, round, i);
	MPI_Sendrecv(out, size, MPI_BYTE, peer, round, in, size, MPI_BYTE, peer, round, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	if (count != size)
		fail("length of a message", count);
	for (int i = 0; i < size; i++)
		if (in[i] != expected(peer, round, i))
			fail("content of a message", i);
	free(in);
	free(out);
	return size;
}

static void reduce(int rank)
{
	int64_t own = rank + 1, sum = 0;

	MPI_Allreduce(&own, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	if (sum != 3)
		fail("sum", (long)sum);
}

/* Each writes half of the other's window, reads the other half, and both count in one word of rank 0. */
static void one_sided(int rank)
{
	const int peer = 1 - rank, half = window_words / 2;
	int64_t *words, put[window_words / 2], got[window_words / 2], one = 1, before;
	MPI_Win window;

	MPI_Win_allocate(window_words * sizeof(*words), sizeof(*words), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &window);
	for (int i = 0; i < window_words; i++)
		words[i] = i < half ? 0 : 1000 * rank + i;
	for (int i = 0; i < half; i++)
		put[i] = 5000 * (rank + 1) + i;
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_Win_lock_all(0, window);
	MPI_Put(put + 1, half - 1, MPI_INT64_T, peer, 1, half - 1, MPI_INT64_T, window);
	MPI_Get(got, half, MPI_INT64_T, peer, half, half, MPI_INT64_T, window);
	for (int i = 0; i < rounds; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
		MPI_Win_flush(0, window);
	}
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);

	for (int i = 0; i < half; i++)
		if (got[i] != 1000 * peer + half + i)
			fail("MPI_Get", i);
	for (int i = 1; i < half; i++)
		if (words[i] != 5000 * (peer + 1) + i)
			fail("MPI_Put", i);
	if (rank == 0 && words[0] != 2 * rounds)
		fail("MPI_Fetch_and_op", (long)words[0]);
	MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
	int rank, processes;
	long bytes = 0, messages = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &processes);
	if (processes != 2)
		fail("number of processes", processes);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int round = 0; round < rounds; round++, messages++)
			bytes += exchange(rank, sizes[i], round);
	reduce(rank);
	one_sided(rank);
	MPI_Finalize();
	if (rank == 0)
		printf("mpi_exchange: %ld messages and %ld bytes each way, all right\n", messages, bytes);
	return 0;
}
