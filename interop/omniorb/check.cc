#include "check.hh"

#include <cstring>

namespace peer {

std::vector<Check>& checks() {
  static std::vector<Check> all;
  return all;
}

void fail(const char* file, int line, const std::string& what) {
  const char* slash = strrchr(file, '/');
  throw Failed(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + what);
}

Interop::Strings strings(std::initializer_list<const char*> items) {
  Interop::Strings s;
  s.length(items.size());
  CORBA::ULong i = 0;
  for (const char* item : items) s[i++] = CORBA::string_dup(item);
  return s;
}

Interop::Point point(int variant) {
  return variant == 0 ? Interop::Point{1, -2} : Interop::Point{-32768, 32767};
}

Interop::Person person(int variant) {
  Interop::Person p;
  p.name = CORBA::string_dup(variant == 0 ? "Ada" : "");
  p.age = variant == 0 ? 36 : 4294967295u;
  p.address = point(variant);
  p.aliases = variant == 0 ? strings({"Countess", "", "of Lovelace"}) : strings({});
  p.favourite = variant == 0 ? Interop::blue : Interop::red;
  p.tag = CORBA::string_dup(variant == 0 ? "sixteen letters." : "x");
  for (int i = 0; i < 3; ++i) p.flags[i] = variant == 0 ? i : 255 - i;
  return p;
}

Interop::ByLong choice(int variant) {
  Interop::ByLong u;
  if (variant == 0) {
    u.text("chosen");
    u._d(-2);
  } else {
    u.place(point(0));
    u._d(99);
  }
  return u;
}

}  // namespace peer
