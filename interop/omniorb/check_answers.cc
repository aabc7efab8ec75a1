// Checks of the ways in which a call ends, of oneways, and of calls at the same time.

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "check.hh"

namespace peer {

using namespace Interop;

namespace {

using Clock = std::chrono::steady_clock;

long long milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

void expect_refused(const Refused& e, CORBA::Long code) {
  EXPECT_EQ(e.code, code);
  EXPECT_EQ(std::string(e.reason), "refused");
  EXPECT_EQ(e.paint, green);
  EXPECT_SAME(e.details, strings({"a", ""}));
  EXPECT_EQ(e.place.x, 1);
  EXPECT_EQ(e.place.y, -1);
}

void expect_system(Context& c, const char* name, CORBA::ULong minor, Completion asked,
                   CORBA::CompletionStatus wanted) {
  try {
    c.suite->raise_system(name, minor, asked);
  } catch (const CORBA::SystemException& e) {
    EXPECT_EQ(std::string(e._name()), name);
    EXPECT_EQ(e.minor(), minor);
    EXPECT_EQ(e.completed(), wanted);
    return;
  }
  fail(__FILE__, __LINE__, std::string("no ") + name);
}

template <typename Condition>
bool within_two_seconds(Condition condition) {
  for (Clock::time_point start = Clock::now(); milliseconds_since(start) < 2000;) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// A failure in any of the threads is this one's.
void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  std::atomic<bool> failed{false};
  std::string why;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      try {
        work(t);
      } catch (const std::exception& e) {
        if (!failed.exchange(true)) why = e.what();
      } catch (const CORBA::Exception& e) {
        if (!failed.exchange(true)) why = describe(e);
      }
    });
  for (std::thread& t : threads) t.join();
  if (failed) fail(__FILE__, __LINE__, why);
}

// Calls an operation by name without a stub.
CORBA::Request_var call_by_name(CORBA::Object_ptr object, const char* operation) {
  CORBA::Request_var request = object->_request(operation);
  request->set_return_type(CORBA::_tc_void);
  request->invoke();
  return request;
}

}  // namespace

CHECK("exception.none", nothing) {
  EXPECT_EQ(c.suite->raise_user(0), 42);
  CORBA::String_var text = CORBA::string_dup("ab");
  CORBA::ULong length = 0;
  EXPECT_EQ(c.suite->raise_beside(0, text.inout(), length), 42);
  EXPECT_EQ(std::string(text), "abab");
  EXPECT_EQ(length, 4u);
}

CHECK("exception.empty", nothing) { EXPECT_THROWS(c.suite->raise_user(1), Empty); }

CHECK("exception.members", nothing) {
  try {
    c.suite->raise_user(2);
  } catch (const Refused& e) {
    return expect_refused(e, 77);
  }
  fail(__FILE__, __LINE__, "no Refused");
}

CHECK("exception.nested", nothing) {
  try {
    c.suite->raise_user(3);
  } catch (const Nested& e) {
    EXPECT_EQ(e.choice._d(), green);
    EXPECT_SAME(e.choice.names(), strings({"n"}));
    EXPECT_EQ(e.crowd.length(), 0u);
    return;
  }
  fail(__FILE__, __LINE__, "no Nested");
}

CHECK("exception.beside_results", nothing) {
  CORBA::String_var text = CORBA::string_dup("ab");
  CORBA::ULong length = 0;
  EXPECT_THROWS(c.suite->raise_beside(1, text.inout(), length), Empty);
  EXPECT_THROWS(c.suite->raise_beside(2, text.inout(), length), Refused);
  EXPECT_THROWS(c.suite->raise_beside(3, text.inout(), length), Nested);
  EXPECT_EQ(std::string(text), "ab");
}

CHECK("system.completion", nothing) {
  expect_system(c, "NO_PERMISSION", 0x12345678, completed_yes, CORBA::COMPLETED_YES);
  expect_system(c, "NO_PERMISSION", 0, completed_no, CORBA::COMPLETED_NO);
  expect_system(c, "NO_PERMISSION", 0xffffffff, completed_maybe, CORBA::COMPLETED_MAYBE);
}

CHECK("system.kinds", nothing) {
  for (const char* name : {"BAD_PARAM", "NO_PERMISSION", "IMP_LIMIT", "NO_RESOURCES", "INTERNAL", "BAD_OPERATION",
                           "NO_IMPLEMENT", "BAD_INV_ORDER", "UNKNOWN", "DATA_CONVERSION", "INV_OBJREF"})
    expect_system(c, name, 0x54480007, completed_maybe, CORBA::COMPLETED_MAYBE);
}

CHECK("system.unknown_operation", nothing) {
  for (const char* name : {"no_such_operation", "ech", "echo_strin", "echo_stringy", "Echo_string", "_get_nothing"}) {
    CORBA::Request_var request = call_by_name(c.suite, name);
    const CORBA::Exception* e = request->env()->exception();
    if (!CORBA::BAD_OPERATION::_downcast(e)) fail(__FILE__, __LINE__, std::string("no BAD_OPERATION for \"") + name + "\"");
  }
  EXPECT_EQ(c.suite->raise_user(0), 42);
}

CHECK("timeout.call", nothing) {
  omniORB::setClientCallTimeout(c.suite, 200);
  Clock::time_point start = Clock::now();
  bool timed_out = false;
  try {
    c.suite->sleep(1500);
  } catch (const CORBA::TIMEOUT&) {
    timed_out = true;
  } catch (const CORBA::TRANSIENT&) {
    timed_out = true;
  }
  omniORB::setClientCallTimeout(c.suite, 0);
  EXPECT(timed_out);
  EXPECT(milliseconds_since(start) < 1200);
  EXPECT_EQ(c.suite->raise_user(0), 42);
}

CHECK("connection.again", nothing) {
  for (int i = 0; i < 20; ++i) {
    c.suite->_NP_disconnect();
    EXPECT_EQ(c.suite->raise_user(0), 42);
  }
}

// Not kept by an omniORB server unless -ORBmaxServerThreadPerConnection is 1: it hands the requests
// of one connection to several threads.
CHECK("oneway.order", nothing) {
  c.suite->clear();
  for (CORBA::ULong i = 0; i < 2000; ++i) c.suite->post(i);
  Words_var posted = c.suite->posted();
  EXPECT_SAME(posted.in(), sequence_of<Words>(2000, [](CORBA::ULong i) { return i; }));
}

CHECK("oneway.all_arrive", nothing) {
  c.suite->clear();
  for (CORBA::ULong i = 0; i < 500; ++i) c.suite->post(i);
  EXPECT(within_two_seconds([&] { return Words_var(c.suite->posted())->length() == 500; }));
  Words_var posted = c.suite->posted();
  std::set<CORBA::ULong> different;
  for (CORBA::ULong i = 0; i < posted->length(); ++i) different.insert(posted[i]);
  EXPECT_EQ(different.size(), 500u);
  EXPECT_EQ(*different.rbegin(), 499u);
}

CHECK("oneway.arguments", nothing) {
  c.suite->clear();
  c.suite->note("a line", point(1));
  EXPECT(within_two_seconds([&] { return Strings_var(c.suite->noted())->length() == 1; }));
  Strings_var noted = c.suite->noted();
  EXPECT_SAME(noted.in(), strings({"a line"}));
  EXPECT_SAME(c.suite->place(), point(1));
}

CHECK("concurrent.accumulate", nothing) {
  CORBA::LongLong before = c.suite->total();
  in_threads(8, [&](int t) {
    for (int i = 0; i < 200; ++i) c.suite->accumulate(t + 1);
  });
  EXPECT_EQ(c.suite->total() - before, 200 * 36);
}

CHECK("concurrent.replies_apart", nothing) {
  in_threads(8, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      std::string sent(t * 1000 + i, char('a' + t));
      CORBA::String_var back = c.suite->echo_long_string(sent.c_str());
      EXPECT(sent == back.in());
    }
  });
}

CHECK("concurrent.slow_call_beside", nothing) {
  std::thread slow([&] { c.suite->sleep(600); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Clock::time_point start = Clock::now();
  bool answered = true;
  for (int i = 0; i < 20; ++i) answered &= c.suite->raise_user(0) == 42;
  long long taken = milliseconds_since(start);
  slow.join();
  EXPECT(answered);
  EXPECT(taken < 400);
}

CHECK("concurrent.bulk", nothing) {
  in_threads(4, [&](int t) {
    for (int i = 0; i < 4; ++i) {
      Longs sent = sequence_of<Longs>(100000 + t, [&](CORBA::ULong n) { return CORBA::Long(n * (t + 1)); });
      Longs_var back = c.suite->echo_longs(sent);
      EXPECT(octets_of(back.in()) == octets_of(sent));
    }
  });
}

}  // namespace peer
