// absl::flat_hash_map from 5-tuples to the rest of 64-byte records.
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

struct Key {
  uint64_t a, b;
  friend bool operator==(const Key& x, const Key& y) { return x.a == y.a && x.b == y.b; }
  template <typename H>
  friend H AbslHashValue(H state, const Key& key) {
    return H::combine(std::move(state), key.a, key.b);
  }
};

struct Rest {
  uint64_t value, zero, more[4];
};

using Map = absl::flat_hash_map<Key, Rest>;

}  // namespace

extern "C" {

Map* absl_new(size_t reserved) { return new Map(reserved); }

void absl_free(Map* map) { delete map; }

bool absl_fill(Map* map, const Key* keys, size_t count, uint64_t value) {
  bool all = true;
  for (size_t i = 0; i < count; i++) all &= map->try_emplace(keys[i], Rest{value + i, 0, {}}).second;
  return all;
}

bool absl_change(Map* map, const Key* gone, const Key* come, size_t count, uint64_t value, size_t batch) {
  bool all = true;
  for (size_t i = 0; i < count; i += batch) {
    size_t n = count - i < batch ? count - i : batch;
    if (batch > 1) {
      for (size_t j = 0; j < n; j++) map->prefetch(gone[i + j]);
      for (size_t j = 0; j < n; j++) map->prefetch(come[i + j]);
    }
    for (size_t j = 0; j < n; j++) all &= map->erase(gone[i + j]) != 0;
    all &= absl_fill(map, come + i, n, value + i);
  }
  return all;
}

uint64_t absl_single(const Map* map, const Key* keys, size_t count) {
  uint64_t sum = 0, zero = 0;
  for (size_t i = 0; i < count; i++) {
    auto found = map->find(keys[i + zero]);
    if (found != map->end()) {
      sum += found->second.value;
      zero = found->second.zero;
    }
  }
  return sum;
}

uint64_t absl_independent(const Map* map, const Key* keys, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    auto found = map->find(keys[i]);
    if (found != map->end()) sum += found->second.value;
  }
  return sum;
}

uint64_t absl_batch(const Map* map, const Key* keys, size_t count, size_t batch, bool prefetch) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i += batch) {
    size_t n = count - i < batch ? count - i : batch;
    if (prefetch) {
      for (size_t j = 0; j < n; j++) map->prefetch(keys[i + j]);
    }
    for (size_t j = 0; j < n; j++) {
      auto found = map->find(keys[i + j]);
      if (found != map->end()) sum += found->second.value;
    }
  }
  return sum;
}
}
