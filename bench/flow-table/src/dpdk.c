/* rte_hash from 5-tuples to positions, by which 64-byte records are indexed. */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct key {
  uint64_t a, b;
};

struct record {
  struct key key;
  uint64_t value, zero, more[4];
};

struct table {
  struct rte_hash *hash;
  struct record *records;
  void *memory;
  size_t bytes;
  char heap[32];
};

int dpdk_start(void) {
  char *arguments[] = {"bench", "--no-huge", "--no-pci", "-m", "256", "--no-shconf", "--no-telemetry",
                       "--log-level=error", "-l", "0"};
  return rte_eal_init(sizeof arguments / sizeof *arguments, arguments);
}

void dpdk_free(struct table *table);

/* Its memory comes from a heap of ours, so that it too has huge pages; `records` are the caller's. */
struct table *dpdk_new(uint32_t entries, struct record *records, bool huge) {
  static int number;
  struct table *table = calloc(1, sizeof *table);
  const size_t page = 2 << 20;
  table->records = records;
  table->bytes = ((size_t)entries * 56 + (16 << 20)) / page * page + page;
  void *raw = mmap(NULL, table->bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return NULL;
  table->memory = (void *)(((uintptr_t)raw + page - 1) / page * page);
  if (huge) madvise(table->memory, table->bytes, MADV_HUGEPAGE);
  snprintf(table->heap, sizeof table->heap, "flows%d", number);
  int error = rte_malloc_heap_create(table->heap);
  if (error == 0) error = rte_malloc_heap_memory_add(table->heap, table->memory, table->bytes, NULL, 0, page);
  char name[RTE_HASH_NAMESIZE];
  snprintf(name, sizeof name, "flows%d", number++);
  struct rte_hash_parameters parameters = {
      .name = name,
      .entries = entries,
      .key_len = sizeof(struct key),
      .hash_func = rte_hash_crc,
      .hash_func_init_val = 0x5eed,
      .socket_id = rte_malloc_heap_get_socket(table->heap),
  };
  if (error == 0) table->hash = rte_hash_create(&parameters);
  if (table->hash == NULL) {
    fprintf(stderr, "rte_hash: %s\n", rte_strerror(rte_errno));
    return NULL;
  }
  return table;
}

void dpdk_free(struct table *table) {
  rte_hash_free(table->hash);
  rte_malloc_heap_memory_remove(table->heap, table->memory, table->bytes);
  rte_malloc_heap_destroy(table->heap);
  munmap(table->memory, table->bytes);
  free(table);
}

bool dpdk_fill(struct table *table, const struct key *keys, size_t count, uint64_t value) {
  bool all = true;
  for (size_t i = 0; i < count; i++) {
    int32_t position = rte_hash_add_key(table->hash, &keys[i]);
    all &= position >= 0;
    if (position >= 0) table->records[position] = (struct record){.key = keys[i], .value = value + i};
  }
  return all;
}

bool dpdk_change(struct table *table, const struct key *gone, const struct key *come, size_t count, uint64_t value,
                 size_t batch) {
  bool all = true;
  for (size_t i = 0; i < count; i += batch) {
    size_t n = count - i < batch ? count - i : batch;
    for (size_t j = 0; j < n; j++) all &= rte_hash_del_key(table->hash, &gone[i + j]) >= 0;
    all &= dpdk_fill(table, come + i, n, value + i);
  }
  return all;
}

uint64_t dpdk_single(const struct table *table, const struct key *keys, size_t count) {
  uint64_t sum = 0, zero = 0;
  for (size_t i = 0; i < count; i++) {
    int32_t position = rte_hash_lookup(table->hash, &keys[i + zero]);
    if (position >= 0) {
      sum += table->records[position].value;
      zero = table->records[position].zero;
    }
  }
  return sum;
}

uint64_t dpdk_independent(const struct table *table, const struct key *keys, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    int32_t position = rte_hash_lookup(table->hash, &keys[i]);
    if (position >= 0) sum += table->records[position].value;
  }
  return sum;
}

uint64_t dpdk_batch(const struct table *table, const struct key *keys, size_t count, size_t batch) {
  uint64_t sum = 0;
  const void *pointers[RTE_HASH_LOOKUP_BULK_MAX];
  int32_t positions[RTE_HASH_LOOKUP_BULK_MAX];
  for (size_t i = 0; i < count; i += batch) {
    size_t n = count - i < batch ? count - i : batch;
    for (size_t j = 0; j < n; j++) pointers[j] = &keys[i + j];
    rte_hash_lookup_bulk(table->hash, pointers, n, positions);
    for (size_t j = 0; j < n; j++) rte_prefetch0(&table->records[positions[j] < 0 ? 0 : positions[j]]);
    for (size_t j = 0; j < n; j++) {
      if (positions[j] >= 0) sum += table->records[positions[j]].value;
    }
  }
  return sum;
}
