// Checks of constructed types, attributes and large values.

#include <cmath>
#include <cstring>
#include <memory>

#include "check.hh"

namespace peer {

using namespace Interop;

namespace {

Padded padded(int variant) {
  if (variant == 0) return {1, 2.5, true, -3, 'c', -4, 5, 6};
  return {255, -1e300, false, 1LL << 62, '\n', 32767, 0, 4294967295u};
}

Matrix_slice* fill(Matrix m, CORBA::Long from) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) m[i][j] = from + 10 * i + j;
  return m;
}

bool same(const Matrix_slice* a, const Matrix_slice* b) { return memcmp(a, b, sizeof(Matrix)) == 0; }

Table table() { return sequence<Table>({strings({"a", "bc"}), strings({}), strings({""})}); }

ByColour by_colour(Colour which) {
  ByColour u;
  if (which == red) u.level(-5);
  if (which == green) u.names(strings({"leaf", "lime"}));
  if (which == blue) u._default();
  return u;
}

ByShort by_short(CORBA::UShort which) {
  ByShort u;
  Matrix m;
  if (which == 0) u.inner(choice(0));
  if (which == 7) u.cells(fill(m, 70));
  if (which == 65535) u.paint(blue);
  if (which == 8) u._d(8);
  return u;
}

Tree leaf(CORBA::Long value) {
  Tree t;
  t.value = value;
  return t;
}

// Depth `depth`, three children a node on the way.
Tree tree(int depth) {
  Tree t = leaf(depth);
  if (depth == 0) return t;
  t.children.length(3);
  t.children[0] = leaf(-1);
  t.children[1] = tree(depth - 1);
  t.children[2] = leaf(-2);
  return t;
}

Choices choices() {
  ByLong number;
  number.number(17);
  ByLong text;
  text.text("three");
  text._d(3);
  return sequence<Choices>({number, choice(0), text, choice(1)});
}

Everything everything() {
  Everything e;
  e.a_boolean = true;
  e.an_octet = 200;
  e.a_char = 'E';
  e.a_short = -1;
  e.an_unsigned_short = 65535;
  e.a_long = -2;
  e.an_unsigned_long = 4000000000u;
  e.a_long_long = -3;
  e.an_unsigned_long_long = ~0ULL;
  e.a_float = 0.5f;
  e.a_double = -0.0;
  e.a_string = CORBA::string_dup("everything");
  e.a_colour = green;
  e.a_person = person(0);
  e.a_choice = choice(1);
  fill(e.a_matrix, 1);
  e.a_table = table();
  e.many = choices();
  return e;
}

Octets octets(CORBA::ULong count) {
  return sequence_of<Octets>(count, [](CORBA::ULong i) { return CORBA::Octet(31 * i + i / 256); });
}

bool same(const Octets& a, const Octets& b) {
  return a.length() == b.length() && memcmp(a.get_buffer(), b.get_buffer(), a.length()) == 0;
}

void expect_bulk(Context& c, CORBA::ULong count) {
  Octets sent = octets(count);
  Octets_var back = c.suite->echo_octets(sent);
  EXPECT(same(back.in(), sent));
  Octets_var made = c.suite->make_octets(count);
  EXPECT(same(made.in(), sent));
  CORBA::ULong sum = 0;
  for (CORBA::ULong i = 0; i < count; ++i) sum += sent[i];
  EXPECT_EQ(c.suite->sum_octets(sent), sum);
}

}  // namespace

CHECK("struct.fixed", nothing) {
  EXPECT_TURNED(Point, turn_point, point(0), point(1));
  EXPECT_TURNED(Padded, turn_padded, padded(0), padded(1));
}

CHECK("struct.variable", nothing) { EXPECT_TURNED_VARIABLE(Person, turn_person, person(0), person(1)); }

CHECK("struct.everything", nothing) { EXPECT_ECHO(Everything, echo_everything, everything()); }

CHECK("struct.recursive", nothing) {
  EXPECT_ECHO(Tree, echo_tree, leaf(1));
  EXPECT_ECHO(Tree, echo_tree, tree(12));
}

CHECK("union.turned", nothing) { EXPECT_TURNED_VARIABLE(ByLong, turn_choice, choice(0), choice(1)); }

CHECK("union.labels", nothing) { EXPECT_ECHO(Choices, echo_choices, choices()); }

CHECK("union.enum", nothing) {
  for (Colour which : {red, green, blue}) EXPECT_ECHO(ByColour, echo_by_colour, by_colour(which));
}

CHECK("union.boolean", nothing) {
  ByBoolean yes, no;
  yes.who(person(0));
  no.none(-2.5);
  EXPECT_ECHO(ByBoolean, echo_by_boolean, yes);
  EXPECT_ECHO(ByBoolean, echo_by_boolean, no);
}

CHECK("union.char", nothing) {
  ByChar u;
  u.small(9);
  EXPECT_ECHO(ByChar, echo_by_char, u);
  u.numbers(sequence<Longs>({1, 2, 3}));
  u._d('c');
  EXPECT_ECHO(ByChar, echo_by_char, u);
  u.other(true);
  u._d('?');
  EXPECT_ECHO(ByChar, echo_by_char, u);
}

CHECK("union.short", nothing) {
  for (CORBA::UShort which : {0, 7, 65535, 8}) EXPECT_ECHO(ByShort, echo_by_short, by_short(which));
}

CHECK("union.longlong", nothing) {
  ByLonglong u;
  u.far(1LL << 50);
  EXPECT_SAME(c.suite->echo_by_longlong(u), u);
  Digest d;
  for (int i = 0; i < 16; ++i) d[i] = 16 * i;
  u.near(d);
  EXPECT_SAME(c.suite->echo_by_longlong(u), u);
}

CHECK("sequence.turned", nothing) {
  EXPECT_TURNED_VARIABLE(Longs, turn_longs, sequence<Longs>({1, -1, 1 << 30}), sequence<Longs>({7}));
  EXPECT_TURNED_VARIABLE(Longs, turn_longs, Longs(), sequence<Longs>({7}));
  EXPECT_TURNED_VARIABLE(People, turn_people, sequence<People>({person(0), person(1)}), sequence<People>({person(1)}));
}

CHECK("sequence.basics", nothing) {
  EXPECT_ECHO(Booleans, echo_booleans, sequence<Booleans>({true, false, true}));
  EXPECT_ECHO(Chars, echo_chars, sequence<Chars>({'a', '\0', '~'}));
  EXPECT_ECHO(Shorts, echo_shorts, sequence<Shorts>({-1, 0, 32767}));
  EXPECT_ECHO(Longlongs, echo_longlongs, sequence<Longlongs>({-1LL, 1LL << 62}));
  EXPECT_ECHO(Floats, echo_floats, sequence<Floats>({0.5f, -0.0f, INFINITY}));
  EXPECT_ECHO(Doubles, echo_doubles, sequence<Doubles>({0.1, 5e-324, double(-INFINITY)}));
  EXPECT_ECHO(Colours, echo_colours, sequence<Colours>({red, blue, green}));
  EXPECT_ECHO(Numbers, echo_numbers, sequence<Numbers>({1u, 4294967295u}));
}

CHECK("sequence.empty", nothing) {
  EXPECT_ECHO(Booleans, echo_booleans, Booleans());
  EXPECT_ECHO(Longlongs, echo_longlongs, Longlongs());
  EXPECT_ECHO(Doubles, echo_doubles, Doubles());
  EXPECT_ECHO(Points, echo_points, Points());
  EXPECT_ECHO(Table, echo_table, Table());
}

CHECK("sequence.of_structs", nothing) { EXPECT_ECHO(Points, echo_points, sequence<Points>({point(0), point(1)})); }

CHECK("sequence.of_sequences", nothing) { EXPECT_ECHO(Table, echo_table, table()); }

CHECK("sequence.bounded", nothing) {
  EXPECT_ECHO(FewLongs, echo_few_longs, sequence<FewLongs>({1, 2, 3, 4, 5, 6, 7, 8}));
  FewTags tags;
  tags.length(3);
  tags[0] = CORBA::string_dup("four");
  tags[1] = CORBA::string_dup("");
  tags[2] = CORBA::string_dup("x");
  EXPECT_ECHO(FewTags, echo_few_tags, tags);
}

CHECK("array.two_dimensions", nothing) {
  Matrix x, y, b, out;
  fill(x, 100);
  fill(y, -100);
  fill(b, -100);
  Matrix_var result = c.suite->turn_matrix(x, b, out);
  EXPECT(same(result, y));
  EXPECT(same(b, x));
  EXPECT(same(out, x));
}

CHECK("array.of_strings", nothing) {
  Lines x, b;
  Lines_var out;
  for (int i = 0; i < 3; ++i) {
    x[i] = CORBA::string_dup(i == 1 ? "" : "line");
    b[i] = CORBA::string_dup("before");
  }
  Lines_var result = c.suite->turn_lines(x, b, out.out());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::string(result[i]), "before");
    EXPECT_EQ(std::string(b[i]), std::string(x[i]));
    EXPECT_EQ(std::string(out[i]), std::string(x[i]));
  }
}

CHECK("array.of_structs", nothing) {
  Corners corners;
  for (int i = 0; i < 4; ++i) corners[i / 2][i % 2] = point(i % 2);
  Corners_var back = c.suite->echo_corners(corners);
  EXPECT(memcmp(back.in(), corners, sizeof corners) == 0);
}

CHECK("array.of_basics", nothing) {
  Digest digest;
  for (int i = 0; i < 16; ++i) digest[i] = 255 - i;
  Digest_var back = c.suite->echo_digest(digest);
  EXPECT(memcmp(back.in(), digest, sizeof digest) == 0);
  Triple triple = {1.5, -0.0, 1e-300};
  Triple_var also = c.suite->echo_triple(triple);
  EXPECT(memcmp(also.in(), triple, sizeof triple) == 0);
}

CHECK("array.in_sequence", nothing) {
  Matrices matrices;
  matrices.length(2);
  fill(matrices[0], 5);
  fill(matrices[1], 50);
  EXPECT_ECHO(Matrices, echo_matrices, matrices);
}

CHECK("attribute.writable", nothing) {
  for (int variant : {1, 0}) {
    c.suite->level(variant - 40);
    c.suite->ratio(variant / 4.0);
    c.suite->paint(variant ? blue : red);
    c.suite->values(sequence<Longs>({variant, 2}));
    c.suite->place(point(variant));
    c.suite->target(point(1 - variant));
    EXPECT_EQ(c.suite->level(), variant - 40);
    EXPECT_EQ(c.suite->ratio(), variant / 4.0);
    EXPECT_EQ(c.suite->paint(), variant ? blue : red);
    Longs_var values = c.suite->values();
    EXPECT_SAME(values.in(), sequence<Longs>({variant, 2}));
    EXPECT_SAME(c.suite->place(), point(variant));
    EXPECT_SAME(c.suite->target(), point(1 - variant));
  }
}

CHECK("attribute.readonly", nothing) {
  EXPECT_EQ(int(c.suite->version()), 7);
  CORBA::ULong before = c.suite->relabelled();
  c.suite->label("a label");
  CORBA::String_var label = c.suite->label();
  EXPECT_EQ(std::string(label), "a label");
  EXPECT_EQ(c.suite->relabelled(), before + 1);
}

// Around the sizes at which buffers end.
CHECK("bulk.sizes", nothing) {
  for (CORBA::ULong count : {0, 1, 7, 1023, 4096, 8100, 8191, 8192, 8193, 16384, 65535, 65536, 100001}) expect_bulk(c, count);
}

CHECK("bulk.every_size", nothing) {
  for (CORBA::ULong count = 8000; count < 8200; ++count) {
    Octets_var back = c.suite->echo_octets(octets(count));
    EXPECT(same(back.in(), octets(count)));
  }
}

CHECK("bulk.10mb", nothing) { expect_bulk(c, 10 * 1024 * 1024); }

CHECK("bulk.million_longs", nothing) {
  auto sent = std::make_unique<Longs>(
      sequence_of<Longs>(1000000, [](CORBA::ULong i) { return CORBA::Long(i * 2654435761u); }));
  Longs_var back = c.suite->echo_longs(*sent);
  EXPECT(octets_of(back.in()) == octets_of(*sent));
}

CHECK("bulk.long_string", nothing) {
  std::string sent(1000000, 'x');
  sent[8191] = 'y';
  CORBA::String_var back = c.suite->echo_long_string(sent.c_str());
  EXPECT(sent == back.in());
}

CHECK("bulk.many_strings", nothing) {
  Strings sent = sequence_of<Strings>(
      20000, [](CORBA::ULong i) { return CORBA::string_dup(std::string(i % 37, char('a' + i % 26)).c_str()); });
  EXPECT_ECHO(Strings, echo_strings, sent);
}

CHECK("bulk.many_people", nothing) {
  EXPECT_TURNED_VARIABLE(People, turn_people, sequence_of<People>(3000, [](CORBA::ULong i) { return person(i % 2); }),
                         sequence_of<People>(2000, [](CORBA::ULong i) { return person(i % 3 == 0); }));
}

}  // namespace peer
