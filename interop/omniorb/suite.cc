#include "suite.hh"

#include <chrono>
#include <cstring>
#include <thread>

#include "common.hh"

namespace peer {

using namespace Interop;

namespace {

// `turn_` for types passed by value.
template <typename T>
T turn(const T& a, T& b, T& c) {
  T old = b;
  b = a;
  c = a;
  return old;
}

// `turn_` for types of variable length.
template <typename T, typename Out>
T* turn(const T& a, T& b, Out& c) {
  T* old = new T(b);
  b = a;
  c = new T(a);
  return old;
}

template <typename T>
T* copy(const T& v) {
  return new T(v);
}

template <typename T>
T locked(std::mutex& mutex, const T& value) {
  std::lock_guard<std::mutex> lock(mutex);
  return value;
}

template <typename T>
void set_locked(std::mutex& mutex, T& place, const T& value) {
  std::lock_guard<std::mutex> lock(mutex);
  place = value;
}

}  // namespace

// Basics

CORBA::Boolean Suite::turn_boolean(CORBA::Boolean a, CORBA::Boolean& b, CORBA::Boolean& c) { return turn(a, b, c); }
CORBA::Octet Suite::turn_octet(CORBA::Octet a, CORBA::Octet& b, CORBA::Octet& c) { return turn(a, b, c); }
CORBA::Char Suite::turn_char(CORBA::Char a, CORBA::Char& b, CORBA::Char& c) { return turn(a, b, c); }
CORBA::Short Suite::turn_short(CORBA::Short a, CORBA::Short& b, CORBA::Short& c) { return turn(a, b, c); }
CORBA::UShort Suite::turn_ushort(CORBA::UShort a, CORBA::UShort& b, CORBA::UShort& c) { return turn(a, b, c); }
CORBA::Long Suite::turn_long(CORBA::Long a, CORBA::Long& b, CORBA::Long& c) { return turn(a, b, c); }
CORBA::ULong Suite::turn_ulong(CORBA::ULong a, CORBA::ULong& b, CORBA::ULong& c) { return turn(a, b, c); }
CORBA::LongLong Suite::turn_longlong(CORBA::LongLong a, CORBA::LongLong& b, CORBA::LongLong& c) { return turn(a, b, c); }
CORBA::ULongLong Suite::turn_ulonglong(CORBA::ULongLong a, CORBA::ULongLong& b, CORBA::ULongLong& c) {
  return turn(a, b, c);
}
CORBA::Float Suite::turn_float(CORBA::Float a, CORBA::Float& b, CORBA::Float& c) { return turn(a, b, c); }
CORBA::Double Suite::turn_double(CORBA::Double a, CORBA::Double& b, CORBA::Double& c) { return turn(a, b, c); }
Colour Suite::turn_colour(Colour a, Colour& b, Colour& c) { return turn(a, b, c); }

char* Suite::turn_string(const char* a, char*& b, CORBA::String_out c) {
  char* old = b;
  b = CORBA::string_dup(a);
  c = CORBA::string_dup(a);
  return old;
}

CORBA::LongDouble Suite::echo_longdouble(CORBA::LongDouble v) { return v; }

CORBA::LongLong Suite::sum(CORBA::Octet a, CORBA::Short b, CORBA::Octet c, CORBA::Long d, CORBA::Octet e,
                           CORBA::LongLong f) {
  return a + b + c + CORBA::LongLong(d) + e + f;
}

// Text

char* Suite::echo_string(const char* v) { return CORBA::string_dup(v); }
char* Suite::echo_short_string(const char* v) { return CORBA::string_dup(v); }
Strings* Suite::echo_strings(const Strings& v) { return copy(v); }

Words* Suite::code_points(const char* v) {
  std::vector<unsigned> points = from_native(v);
  Words_var words = new Words;
  words->length(points.size());
  for (size_t i = 0; i < points.size(); ++i) words[i] = points[i];
  return words._retn();
}

char* Suite::from_code_points(const Words& v) {
  std::vector<unsigned> points;
  for (CORBA::ULong i = 0; i < v.length(); ++i) points.push_back(v[i]);
  return CORBA::string_dup(to_native(points).c_str());
}

// WideText

CORBA::WChar Suite::turn_wchar(CORBA::WChar a, CORBA::WChar& b, CORBA::WChar& c) { return turn(a, b, c); }

CORBA::WChar* Suite::turn_wstring(const CORBA::WChar* a, CORBA::WChar*& b, CORBA::WString_out c) {
  CORBA::WChar* old = b;
  b = CORBA::wstring_dup(a);
  c = CORBA::wstring_dup(a);
  return old;
}

CORBA::WChar* Suite::echo_short_wstring(const CORBA::WChar* v) { return CORBA::wstring_dup(v); }
Wchars* Suite::echo_wchars(const Wchars& v) { return copy(v); }
Wstrings* Suite::echo_wstrings(const Wstrings& v) { return copy(v); }

Shorts* Suite::code_units(const CORBA::WChar* v) {
  Shorts_var units = new Shorts;
  for (CORBA::ULong i = 0; v[i] != 0; ++i) {
    units->length(i + 1);
    units[i] = CORBA::Short(v[i]);
  }
  return units._retn();
}

// Composites

Point Suite::turn_point(const Point& a, Point& b, Point& c) { return turn(a, b, c); }
Padded Suite::turn_padded(const Padded& a, Padded& b, Padded& c) { return turn(a, b, c); }
Person* Suite::turn_person(const Person& a, Person& b, Person_out c) { return turn(a, b, c); }
ByLong* Suite::turn_choice(const ByLong& a, ByLong& b, ByLong_out c) { return turn(a, b, c); }
Longs* Suite::turn_longs(const Longs& a, Longs& b, Longs_out c) { return turn(a, b, c); }
People* Suite::turn_people(const People& a, People& b, People_out c) { return turn(a, b, c); }

Matrix_slice* Suite::turn_matrix(const Matrix a, Matrix b, Matrix c) {
  Matrix_slice* old = Matrix_dup(b);
  Matrix_copy(b, a);
  Matrix_copy(c, a);
  return old;
}

Lines_slice* Suite::turn_lines(const Lines a, Lines b, Lines_out c) {
  Lines_slice* old = Lines_dup(b);
  Lines_copy(b, a);
  c = Lines_dup(a);
  return old;
}

ByColour* Suite::echo_by_colour(const ByColour& v) { return copy(v); }
ByBoolean* Suite::echo_by_boolean(const ByBoolean& v) { return copy(v); }
ByChar* Suite::echo_by_char(const ByChar& v) { return copy(v); }
ByShort* Suite::echo_by_short(const ByShort& v) { return copy(v); }
ByLonglong Suite::echo_by_longlong(const ByLonglong& v) { return v; }
Choices* Suite::echo_choices(const Choices& v) { return copy(v); }
Tree* Suite::echo_tree(const Tree& v) { return copy(v); }
Everything* Suite::echo_everything(const Everything& v) { return copy(v); }
Booleans* Suite::echo_booleans(const Booleans& v) { return copy(v); }
Chars* Suite::echo_chars(const Chars& v) { return copy(v); }
Shorts* Suite::echo_shorts(const Shorts& v) { return copy(v); }
Longlongs* Suite::echo_longlongs(const Longlongs& v) { return copy(v); }
Floats* Suite::echo_floats(const Floats& v) { return copy(v); }
Doubles* Suite::echo_doubles(const Doubles& v) { return copy(v); }
Colours* Suite::echo_colours(const Colours& v) { return copy(v); }
Numbers* Suite::echo_numbers(const Numbers& v) { return copy(v); }
Table* Suite::echo_table(const Table& v) { return copy(v); }
FewLongs* Suite::echo_few_longs(const FewLongs& v) { return copy(v); }
FewTags* Suite::echo_few_tags(const FewTags& v) { return copy(v); }
Points* Suite::echo_points(const Points& v) { return copy(v); }
Corners_slice* Suite::echo_corners(const Corners v) { return Corners_dup(v); }
Digest_slice* Suite::echo_digest(const Digest v) { return Digest_dup(v); }
Triple_slice* Suite::echo_triple(const Triple v) { return Triple_dup(v); }
Matrices* Suite::echo_matrices(const Matrices& v) { return copy(v); }

// Bulk

Octets* Suite::echo_octets(const Octets& v) { return copy(v); }
Longs* Suite::echo_longs(const Longs& v) { return copy(v); }

CORBA::ULong Suite::sum_octets(const Octets& v) {
  CORBA::ULong sum = 0;
  for (CORBA::ULong i = 0; i < v.length(); ++i) sum += v[i];
  return sum;
}

Octets* Suite::make_octets(CORBA::ULong count) {
  Octets_var octets = new Octets(count);
  octets->length(count);
  for (CORBA::ULong i = 0; i < count; ++i) octets[i] = CORBA::Octet(31 * i + i / 256);
  return octets._retn();
}

char* Suite::echo_long_string(const char* v) { return CORBA::string_dup(v); }

// Attributes

char* Suite::label() {
  std::lock_guard<std::mutex> lock(mutex_);
  return CORBA::string_dup(label_);
}

void Suite::label(const char* v) {
  std::lock_guard<std::mutex> lock(mutex_);
  label_ = CORBA::string_dup(v);
  ++relabelled_;
}

CORBA::Long Suite::level() { return locked(mutex_, level_); }
void Suite::level(CORBA::Long v) { set_locked(mutex_, level_, v); }
CORBA::Double Suite::ratio() { return locked(mutex_, ratio_); }
void Suite::ratio(CORBA::Double v) { set_locked(mutex_, ratio_, v); }
Colour Suite::paint() { return locked(mutex_, paint_); }
void Suite::paint(Colour v) { set_locked(mutex_, paint_, v); }
Longs* Suite::values() { return copy(locked(mutex_, values_)); }
void Suite::values(const Longs& v) { set_locked(mutex_, values_, v); }
Point Suite::place() { return locked(mutex_, place_); }
void Suite::place(const Point& v) { set_locked(mutex_, place_, v); }
Point Suite::target() { return locked(mutex_, target_); }
void Suite::target(const Point& v) { set_locked(mutex_, target_, v); }
CORBA::Octet Suite::version() { return 7; }
CORBA::ULong Suite::relabelled() { return locked(mutex_, relabelled_); }

// Failures

namespace {

Refused refused(CORBA::Long code) {
  Refused r;
  r.code = code;
  r.reason = CORBA::string_dup("refused");
  r.paint = green;
  r.details.length(2);
  r.details[0] = CORBA::string_dup("a");
  r.details[1] = CORBA::string_dup("");
  r.place = {1, -1};
  return r;
}

Nested nested() {
  Nested n;
  Strings names;
  names.length(1);
  names[0] = CORBA::string_dup("n");
  n.choice.names(names);
  return n;
}

[[noreturn]] void raise_named(const std::string& name, CORBA::ULong minor, CORBA::CompletionStatus done) {
#define RAISE(kind) \
  if (name == #kind) throw CORBA::kind(minor, done)
  RAISE(BAD_PARAM);
  RAISE(NO_PERMISSION);
  RAISE(IMP_LIMIT);
  RAISE(NO_RESOURCES);
  RAISE(INTERNAL);
  RAISE(BAD_OPERATION);
  RAISE(NO_IMPLEMENT);
  RAISE(BAD_INV_ORDER);
  RAISE(DATA_CONVERSION);
  RAISE(INV_OBJREF);
#undef RAISE
  throw CORBA::UNKNOWN(minor, done);
}

}  // namespace

CORBA::Long Suite::raise_user(CORBA::Long which) {
  switch (which) {
    case 1: throw Empty();
    case 2: throw refused(77);
    case 3: throw nested();
    default: return 42;
  }
}

CORBA::Long Suite::raise_beside(CORBA::Long which, char*& text, CORBA::ULong& length) {
  CORBA::Long result = raise_user(which);
  std::string twice = std::string(text) + text;
  CORBA::string_free(text);
  text = CORBA::string_dup(twice.c_str());
  length = twice.size();
  return result;
}

void Suite::raise_system(const char* name, CORBA::ULong minor_code, Completion done) {
  raise_named(name, minor_code,
              done == completed_yes ? CORBA::COMPLETED_YES
              : done == completed_no ? CORBA::COMPLETED_NO
                                     : CORBA::COMPLETED_MAYBE);
}

void Suite::sleep(CORBA::ULong ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Journal

void Suite::post(CORBA::ULong n) {
  std::lock_guard<std::mutex> lock(mutex_);
  posted_.push_back(n);
}

void Suite::note(const char* line, const Point& place) {
  std::lock_guard<std::mutex> lock(mutex_);
  noted_.push_back(line);
  place_ = place;
}

Words* Suite::posted() {
  std::lock_guard<std::mutex> lock(mutex_);
  Words_var all = new Words;
  all->length(posted_.size());
  for (size_t i = 0; i < posted_.size(); ++i) all[i] = posted_[i];
  return all._retn();
}

Strings* Suite::noted() {
  std::lock_guard<std::mutex> lock(mutex_);
  Strings_var all = new Strings;
  all->length(noted_.size());
  for (size_t i = 0; i < noted_.size(); ++i) all[i] = CORBA::string_dup(noted_[i].c_str());
  return all._retn();
}

void Suite::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  posted_.clear();
  noted_.clear();
}

// Maker

Counter_ptr Suite::make_counter(CORBA::Long start) { return objects_.counter(start); }

CORBA::Long Suite::sum_counters(const Counters& all) {
  CORBA::Long sum = 0;
  for (CORBA::ULong i = 0; i < all.length(); ++i)
    if (!CORBA::is_nil(all[i])) sum += all[i]->value();
  return sum;
}

Counter_ptr Suite::turn_counter(Counter_ptr a, Counter_ptr& b, Counter_out c) {
  Counter_ptr old = b;
  b = Counter::_duplicate(a);
  c = Counter::_duplicate(a);
  return old;
}

CORBA::Object_ptr Suite::echo_object(CORBA::Object_ptr v) { return CORBA::Object::_duplicate(v); }
CORBA::Boolean Suite::is_nil(CORBA::Object_ptr v) { return CORBA::is_nil(v); }
Counter_ptr Suite::narrow(CORBA::Object_ptr v) { return Counter::_narrow(v); }
Entries* Suite::echo_entries(const Entries& v) { return copy(v); }
Found* Suite::echo_found(const Found& v) { return copy(v); }
CORBA::Object_ptr Suite::forwarder(CORBA::Object_ptr target) { return objects_.forwarder(target); }
CORBA::Object_ptr Suite::hundred() { return objects_.hundred(); }
CORBA::Object_ptr Suite::awkward() { return objects_.awkward(); }

// Caller

CORBA::Long Suite::bounce(Bouncer_ptr back, CORBA::Long depth) {
  if (depth == 0) return 0;
  Bouncer_var me = _this();
  return 1 + back->bounce(me, depth - 1);
}

CORBA::Long Suite::call_back(Callback_ptr target, CORBA::Long n) { return target->notify(n) + 1; }

CORBA::LongLong Suite::call_back_often(Callback_ptr target, CORBA::ULong times) {
  CORBA::LongLong sum = 0;
  for (CORBA::ULong i = 0; i < times; ++i) sum += target->notify(i);
  return sum;
}

void Suite::call_back_refused(Callback_ptr target, CORBA::Long code) { target->refuse(code); }

void Suite::poke_back(Callback_ptr target, CORBA::ULong times) {
  for (CORBA::ULong i = 0; i < times; ++i) target->poke(i);
}

// Both, and its own

char* Suite::name() { return CORBA::string_dup("both"); }
char* Suite::left_name() { return CORBA::string_dup("left"); }
char* Suite::right_name() { return CORBA::string_dup("right"); }
char* Suite::both_names() { return CORBA::string_dup("left+right"); }
void Suite::accumulate(CORBA::Long n) { total_ += n; }
CORBA::LongLong Suite::total() { return total_; }

}  // namespace peer
