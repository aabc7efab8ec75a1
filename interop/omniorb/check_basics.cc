// Checks of basic types and text: there and back in every direction.

#include <cmath>
#include <limits>

#include "check.hh"

namespace peer {

using namespace Interop;

namespace {

const std::vector<unsigned> ascii = {'p', 'l', 'a', 'i', 'n', ' ', '~', '\t', '"', '\\'};
const std::vector<unsigned> latin = {'G', 'r', 0xfc, 0xdf, 'e', 0xa0, 0xff, 0xd7, 0x80};
const std::vector<unsigned> unicode = {0x65e5, 0x672c, ' ', 0x20ac, 0x3a9, 0xfffd, 'x', 0x1d11e, 0x10ffff};

Words words_of(const std::vector<unsigned>& points) {
  return sequence_of<Words>(points.size(), [&](CORBA::ULong i) { return points[i]; });
}

// The peer understands text as these code points, makes it of them, and gives it back.
void expect_understood(Context& c, const std::vector<unsigned>& points) {
  std::string text = to_native(points);
  Words_var understood = c.suite->code_points(text.c_str());
  EXPECT_SAME(understood.in(), words_of(points));
  CORBA::String_var made = c.suite->from_code_points(words_of(points));
  EXPECT_EQ(std::string(made), text);
  CORBA::String_var back = c.suite->echo_string(text.c_str());
  EXPECT_EQ(std::string(back), text);
}

void expect_turned_string(Context& c, const char* x, const char* y) {
  CORBA::String_var b = CORBA::string_dup(y), out;
  CORBA::String_var result = c.suite->turn_string(x, b.inout(), out.out());
  EXPECT_EQ(std::string(result), y);
  EXPECT_EQ(std::string(b), x);
  EXPECT_EQ(std::string(out), x);
}

CORBA::WString_var wide(const std::vector<unsigned>& points) {
  std::vector<CORBA::WChar> units = to_wide(points);
  units.push_back(0);
  return CORBA::wstring_dup(units.data());
}

bool same_wide(const CORBA::WChar* a, const CORBA::WChar* b) {
  for (; *a == *b; ++a, ++b)
    if (*a == 0) return true;
  return false;
}

void expect_turned_wide(Context& c, const std::vector<unsigned>& x, const std::vector<unsigned>& y) {
  CORBA::WString_var a = wide(x), old = wide(y), b = wide(y), out;
  CORBA::WString_var result = c.suite->turn_wstring(a, b.inout(), out.out());
  EXPECT(same_wide(result, old));
  EXPECT(same_wide(b, a));
  EXPECT(same_wide(out, a));
}

template <typename T>
constexpr T least = std::numeric_limits<T>::lowest();
template <typename T>
constexpr T most = std::numeric_limits<T>::max();

}  // namespace

CHECK("basics.boolean", nothing) {
  EXPECT_TURNED(CORBA::Boolean, turn_boolean, true, false);
  EXPECT_TURNED(CORBA::Boolean, turn_boolean, false, true);
}

CHECK("basics.octet", nothing) { EXPECT_TURNED(CORBA::Octet, turn_octet, 0, 255); }

CHECK("basics.char", nothing) {
  EXPECT_TURNED(CORBA::Char, turn_char, 'a', '~');
  EXPECT_TURNED(CORBA::Char, turn_char, '\n', '\0');
}

CHECK("basics.short", nothing) {
  EXPECT_TURNED(CORBA::Short, turn_short, least<CORBA::Short>, most<CORBA::Short>);
  EXPECT_TURNED(CORBA::UShort, turn_ushort, 1, most<CORBA::UShort>);
}

CHECK("basics.long", nothing) {
  EXPECT_TURNED(CORBA::Long, turn_long, least<CORBA::Long>, most<CORBA::Long>);
  EXPECT_TURNED(CORBA::ULong, turn_ulong, 1, most<CORBA::ULong>);
}

CHECK("basics.longlong", nothing) {
  EXPECT_TURNED(CORBA::LongLong, turn_longlong, least<CORBA::LongLong>, most<CORBA::LongLong>);
  EXPECT_TURNED(CORBA::ULongLong, turn_ulonglong, 1, most<CORBA::ULongLong>);
}

CHECK("basics.float", nothing) {
  EXPECT_TURNED(CORBA::Float, turn_float, -0.0f, 1.5e-42f);
  EXPECT_TURNED(CORBA::Float, turn_float, least<CORBA::Float>, INFINITY);
  EXPECT_TURNED(CORBA::Float, turn_float, NAN, 1.0f);
}

CHECK("basics.double", nothing) {
  EXPECT_TURNED(CORBA::Double, turn_double, -0.0, 5e-324);
  EXPECT_TURNED(CORBA::Double, turn_double, least<CORBA::Double>, -INFINITY);
  EXPECT_TURNED(CORBA::Double, turn_double, double(NAN), 1.0);
}

CHECK("basics.longdouble", nothing) {
  for (CORBA::LongDouble v : {0.0L, -3.25L, 1e300L, 0.1L}) EXPECT(c.suite->echo_longdouble(v) == v);
}

CHECK("basics.enum", nothing) { EXPECT_TURNED(Colour, turn_colour, blue, green); }

CHECK("basics.string", nothing) {
  expect_turned_string(c, "one", "another, longer than the one");
  expect_turned_string(c, "", "x");
}

CHECK("basics.alignment", nothing) { EXPECT_EQ(c.suite->sum(1, -2, 3, 100000, 255, 1LL << 40), 100257 + (1LL << 40)); }

CHECK("text.ascii", nothing) { expect_understood(c, ascii); }

CHECK("text.empty", nothing) { expect_understood(c, {}); }

// In GIOP 1.0 and without negotiation strings are ISO 8859-1.
CHECK("text.latin", nothing) { expect_understood(c, latin); }

CHECK("text.all_latin", nothing) {
  std::vector<unsigned> all;
  for (unsigned p = 1; p < 256; ++p) all.push_back(p);
  expect_understood(c, all);
}

CHECK("text.unicode", unicode) { expect_understood(c, unicode); }

CHECK("text.not_in_ours", latin_native) {
  EXPECT_THROWS(CORBA::String_var(c.suite->from_code_points(words_of(unicode))), CORBA::DATA_CONVERSION);
  expect_understood(c, latin);
}

CHECK("text.bounded", nothing) {
  for (const char* text : {"", "1234567890123456"}) {
    CORBA::String_var back = c.suite->echo_short_string(text);
    EXPECT_EQ(std::string(back), text);
  }
}

CHECK("text.sequence", nothing) {
  EXPECT_ECHO(Strings, echo_strings, strings({}));
  EXPECT_ECHO(Strings, echo_strings, strings({"", "a", "ab", "abc", "abcd", "", ""}));
}

CHECK("wide.wchar", giop12) {
  EXPECT_TURNED(CORBA::WChar, turn_wchar, L'x', CORBA::WChar(0x20ac));
  EXPECT_TURNED(CORBA::WChar, turn_wchar, CORBA::WChar(0xfffd), CORBA::WChar(0xe9));
}

CHECK("wide.wstring", giop12) {
  expect_turned_wide(c, latin, {});
  expect_turned_wide(c, {0x65e5, 0x672c}, ascii);
}

CHECK("wide.surrogates", giop12) { expect_turned_wide(c, unicode, {0x1f600}); }

CHECK("wide.code_units", giop12) {
  std::vector<CORBA::WChar> units = to_wide({'a', 0x20ac, 0x65e5});
  Shorts_var got = c.suite->code_units(wide({'a', 0x20ac, 0x65e5}));
  EXPECT_SAME(got.in(), sequence_of<Shorts>(units.size(), [&](CORBA::ULong i) { return CORBA::Short(units[i]); }));
}

CHECK("wide.bounded", giop12) {
  CORBA::WString_var sent = wide(std::vector<unsigned>(16, 0x3a9));
  CORBA::WString_var back = c.suite->echo_short_wstring(sent);
  EXPECT(same_wide(sent, back));
}

CHECK("wide.sequences", giop12) {
  EXPECT_ECHO(Wchars, echo_wchars, sequence<Wchars>({L'a', L'\x20ac', L'\xff'}));
  Wstrings lines;
  lines.length(3);
  lines[0] = wide(latin)._retn();
  lines[1] = wide({})._retn();
  lines[2] = wide({0x65e5})._retn();
  EXPECT_ECHO(Wstrings, echo_wstrings, lines);
}

}  // namespace peer
