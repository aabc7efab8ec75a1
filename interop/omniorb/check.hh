// Named checks of another ORB's suite, and what they are written with.

#pragma once

#include <omniORB4/CORBA.h>
#include <omniORB4/codeSets.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common.hh"
#include "interop.hh"

namespace peer {

struct Context {
  const Orb& orb;
  Interop::Suite_var suite;

  // The GIOP minor version that both sides speak.
  int giop;

  // Whether the peer's own strings hold Latin-1 only.
  bool latin_peer;
};

// What a check needs; where it is missing the check is skipped.
enum class Need {
  nothing,

  // GIOP 1.2: wide characters. GIOP 1.1 has some, but omniORB does not speak them.
  giop12,

  // Negotiated code sets, and Unicode in the strings of both sides.
  unicode,

  // Negotiated code sets, and Latin-1 strings on this side.
  latin_native,
};

struct Check {
  std::string name;
  Need need;
  void (*run)(Context&);
};

std::vector<Check>& checks();

struct Register {
  Register(const char* name, Need need, void (*run)(Context&)) { checks().push_back({name, need, run}); }
};

struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Failed: where, and what about.
[[noreturn]] void fail(const char* file, int line, const std::string& what);

template <typename T>
std::string cdr_of(const T& value) {
  cdrMemoryStream stream(CORBA::ULong(0), CORBA::Boolean(1));
  const GIOP::Version version = {1, 2};
  stream.TCS_C(_OMNI_NS(omniCodeSet)::getTCS_C("UTF-8", version));
  stream.TCS_W(_OMNI_NS(omniCodeSet)::getTCS_W("UTF-16", version));
  value >>= stream;
  return std::string(static_cast<const char*>(stream.bufPtr()), stream.bufSize());
}

// The octets of a value, in CDR unless it is a number: what one compares where C++ has no `==` or
// takes 0.0 for -0.0.
template <typename T>
std::string octets_of(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  } else {
    return cdr_of(value);
  }
}
template <typename T, typename U>
void expect_equal(const T& got, const U& wanted, const char* text, const char* file, int line) {
  if (got == wanted) return;
  std::ostringstream what;
  what << text << " is " << got << ", not " << wanted;
  fail(file, line, what.str());
}

// `turn_` as the IDL file has it, for types that C++ passes by value.
template <typename T, typename Call>
void expect_turned(Call call, const T& x, const T& y, const char* file, int line) {
  T b = y, c = T();
  T result = call(x, b, c);
  if (octets_of(result) != octets_of(y)) fail(file, line, "the result is not what the inout was");
  if (octets_of(b) != octets_of(x)) fail(file, line, "the inout is not what the in was");
  if (octets_of(c) != octets_of(x)) fail(file, line, "the out is not what the in was");
}

// The same for types of variable length.
template <typename T, typename Var, typename Call>
void expect_turned_variable(Call call, const T& x, const T& y, const char* file, int line) {
  auto by_value = [&](const T& a, T& b, T& c) -> T {
    Var out;
    Var result = call(a, b, out);
    c = out.in();
    return result.in();
  };
  expect_turned<T>(by_value, x, y, file, line);
}

template <typename T>
void expect_same(const T& got, const T& wanted, const char* text, const char* file, int line) {
  if (octets_of(got) != octets_of(wanted)) fail(file, line, std::string(text) + " came back changed");
}

// A sequence of the given items.
template <typename Sequence, typename Item>
Sequence sequence(std::initializer_list<Item> items) {
  Sequence s;
  s.length(items.size());
  CORBA::ULong i = 0;
  for (const Item& item : items) s[i++] = item;
  return s;
}

// A sequence of `n` items, of which number i is `item(i)`.
template <typename Sequence, typename Item>
Sequence sequence_of(CORBA::ULong n, Item item) {
  Sequence s;
  s.length(n);
  for (CORBA::ULong i = 0; i < n; ++i) s[i] = item(i);
  return s;
}

Interop::Strings strings(std::initializer_list<const char*> items);

// Two different ones of each: by `variant` 0 and 1.
Interop::Point point(int variant);
Interop::Person person(int variant);
Interop::ByLong choice(int variant);

}  // namespace peer

#define PEER_JOIN_(a, b) a##b
#define PEER_JOIN(a, b) PEER_JOIN_(a, b)

// CHECK("group.name", need) { uses `Context& c`; throws when it fails }
#define CHECK(name, need)                                                                               \
  static void PEER_JOIN(check_, __LINE__)(Context&);                                                    \
  static const Register PEER_JOIN(register_, __LINE__)(name, Need::need, PEER_JOIN(check_, __LINE__)); \
  static void PEER_JOIN(check_, __LINE__)([[maybe_unused]] Context & c)

#define EXPECT(condition) \
  do {                    \
    if (!(condition)) peer::fail(__FILE__, __LINE__, #condition); \
  } while (0)
#define EXPECT_EQ(got, wanted) peer::expect_equal(got, wanted, #got, __FILE__, __LINE__)
#define EXPECT_SAME(got, wanted) peer::expect_same(got, wanted, #got, __FILE__, __LINE__)

// A `turn_` operation, called with `x` for the in and `y` for the inout parameter.
#define EXPECT_TURNED(T, operation, x, y)                                                      \
  peer::expect_turned<T>([&](const T& a, T& b, T& r) { return c.suite->operation(a, b, r); }, x, y, __FILE__, __LINE__)
#define EXPECT_TURNED_VARIABLE(T, operation, x, y)                                                    \
  peer::expect_turned_variable<T, T##_var>(                                                           \
      [&](const T& a, T& b, T##_var& r) { return c.suite->operation(a, b, r.out()); }, x, y, __FILE__, __LINE__)

// An `echo_` operation for a type of variable length.
#define EXPECT_ECHO(T, operation, value)         \
  do {                                           \
    const T sent_ = value;                       \
    T##_var got_ = c.suite->operation(sent_);    \
    EXPECT_SAME(got_.in(), sent_);               \
  } while (0)

// The statement throws that exception.
#define EXPECT_THROWS(statement, exception)                                \
  do {                                                                     \
    bool thrown_ = false;                                                  \
    try {                                                                  \
      statement;                                                           \
    } catch (const exception&) {                                           \
      thrown_ = true;                                                      \
    }                                                                      \
    if (!thrown_) peer::fail(__FILE__, __LINE__, #statement " throws no " #exception); \
  } while (0)
