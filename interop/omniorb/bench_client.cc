// Times calls to a Bench::Target, one JSON object per line for each measurement.
//
//   bench_client [-ORBoption value]... REFERENCE OP BYTES COUNT [WARMUP [THREADS]]
//   bench_client [-ORBoption value]... REFERENCE --rounds
//
// OP is `ping`, `echo` (an unsigned long there and back), `move` (BYTES of them there and back) or
// `post` (a oneway). With --rounds each line `OP BYTES COUNT [WARMUP [THREADS]]` of standard input is
// one measurement, so that a driver can take turns among several peers. COUNT calls are divided
// among THREADS, each calling synchronously; WARMUP calls by each thread are not counted.

#include "common.hh"

#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "bench.hh"

namespace {

using Nanoseconds = unsigned long long;

struct Round {
  std::string op;
  unsigned long bytes = 0, count = 0, warmup = 0, threads = 1;
};

struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Round parse(const std::string& line) {
  std::istringstream in(line);
  Round r;
  if (!(in >> r.op >> r.bytes >> r.count)) throw Bad("expected OP BYTES COUNT [WARMUP [THREADS]]");
  if (!(in >> r.warmup)) r.warmup = 0;
  if (!(in >> r.threads)) r.threads = 1;
  if (r.op != "ping" && r.op != "echo" && r.op != "move" && r.op != "post")
    throw Bad("OP is ping, echo, move or post");
  if (r.count == 0 || r.threads == 0 || r.count < r.threads) throw Bad("COUNT is at least THREADS, 1");
  return r;
}

Nanoseconds now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Nanoseconds(t.tv_sec) * 1000000000 + t.tv_nsec;
}

template <typename Call>
void time_calls(Call call, Nanoseconds* begin, Nanoseconds* end) {
  for (Nanoseconds* at = begin; at != end; ++at) {
    Nanoseconds start = now();
    call();
    *at = now() - start;
  }
}

// What one thread does of a round.
class Share {
public:
  Share(Bench::Target_ptr target, const Round& round)
      : target_(Bench::Target::_duplicate(target)), round_(round) {
    words_.length(round.bytes / 4);
    for (CORBA::ULong i = 0; i < words_.length(); ++i) words_[i] = i;
  }

  void run(Nanoseconds* begin, Nanoseconds* end) {
    if (round_.op == "ping") {
      time_calls([&] { target_->ping(); }, begin, end);
    } else if (round_.op == "echo") {
      CORBA::ULong n = 0;
      time_calls([&] { same_ &= target_->echo(n) == n; ++n; }, begin, end);
      if (!same_) throw Bad("another number came back");
    } else if (round_.op == "post") {
      time_calls([&] { target_->post(1); }, begin, end);
    } else {
      time_calls([&] { target_->MoveData(words_); }, begin, end);
      check();
    }
  }

private:
  void check() const {
    if (words_.length() != round_.bytes / 4) throw Bad("data came back with another length");
    for (CORBA::ULong i = 0; i < words_.length(); ++i)
      if (words_[i] != i) throw Bad("data came back changed");
  }

  Bench::Target_var target_;
  const Round& round_;
  Bench::Words words_;
  bool same_ = true;
};

// Threads start counting together, when the slowest has warmed up.
class Gate {
public:
  explicit Gate(unsigned long expected) : missing_(expected) {}

  void pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) {
      opened_ = now();
      open_.notify_all();
    }
    open_.wait(lock, [&] { return missing_ == 0; });
  }

  Nanoseconds opened() const { return opened_; }

private:
  std::mutex mutex_;
  std::condition_variable open_;
  unsigned long missing_;
  Nanoseconds opened_ = 0;
};

void report(const Round& r, std::vector<Nanoseconds>& each, Nanoseconds wall) {
  std::sort(each.begin(), each.end());
  double sum = 0;
  for (Nanoseconds n : each) sum += n;
  printf("{\"op\":\"%s\",\"bytes\":%lu,\"count\":%lu,\"threads\":%lu,\"median_ns\":%llu,\"p99_ns\":%llu,"
         "\"mean_ns\":%.1f,\"min_ns\":%llu,\"rate_per_s\":%.1f}\n",
         r.op.c_str(), r.bytes, r.count, r.threads, each[each.size() / 2], each[each.size() * 99 / 100],
         sum / each.size(), each.front(), each.size() * 1e9 / wall);
  fflush(stdout);
}

void run(Bench::Target_ptr target, const Round& round) {
  std::vector<Nanoseconds> each(round.count);
  Gate gate(round.threads);
  std::exception_ptr failure;
  std::mutex failure_lock;

  auto work = [&](unsigned long index) {
    bool waiting = true;
    try {
      Share share(target, round);
      std::vector<Nanoseconds> discarded(round.warmup);
      share.run(discarded.data(), discarded.data() + discarded.size());
      waiting = false;
      gate.pass();
      share.run(&each[index * round.count / round.threads],
                each.data() + (index + 1) * round.count / round.threads);
    } catch (...) {
      std::lock_guard<std::mutex> lock(failure_lock);
      failure = std::current_exception();
    }
    if (waiting) gate.pass();
  };

  if (round.threads == 1) {
    work(0);
  } else {
    std::vector<std::thread> threads;
    for (unsigned long t = 0; t < round.threads; ++t) threads.emplace_back(work, t);
    for (std::thread& t : threads) t.join();
  }
  Nanoseconds wall = now() - gate.opened();
  if (failure) std::rethrow_exception(failure);
  report(round, each, wall);
}

void run_lines(Bench::Target_ptr target) {
  std::string line;
  while (std::getline(std::cin, line))
    if (!line.empty()) run(target, parse(line));
}

std::string join(const std::vector<std::string>& words, size_t from) {
  std::string line;
  for (size_t i = from; i < words.size(); ++i) line += words[i] + " ";
  return line;
}

}  // namespace

int main(int argc, char** argv) try {
  peer::Orb orb(argc, argv);
  peer::never_retry();
  const auto& rest = orb.rest();
  if (rest.size() < 2) throw Bad("usage: bench_client REFERENCE OP BYTES COUNT [WARMUP [THREADS]] | --rounds");

  CORBA::Object_var object = orb->string_to_object(rest[0].c_str());
  Bench::Target_var target = Bench::Target::_narrow(object);
  if (CORBA::is_nil(target)) throw Bad("not a Bench::Target");
  if (rest[1] == "--rounds") {
    run_lines(target);
  } else {
    run(target, parse(join(rest, 1)));
  }
  return 0;
} catch (const CORBA::Exception& e) {
  fprintf(stderr, "bench_client: %s\n", peer::describe(e).c_str());
  return 1;
} catch (const std::exception& e) {
  fprintf(stderr, "bench_client: %s\n", e.what());
  return 2;
}
