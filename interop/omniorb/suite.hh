// The servant behind the reference that the interoperability server prints.

#pragma once

#include <omniORB4/CORBA.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "interop.hh"
#include "objects.hh"

namespace peer {

class Suite : public POA_Interop::Suite {
public:
  explicit Suite(Objects& objects) : objects_(objects) {}

  // Basics
  CORBA::Boolean turn_boolean(CORBA::Boolean a, CORBA::Boolean& b, CORBA::Boolean& c) override;
  CORBA::Octet turn_octet(CORBA::Octet a, CORBA::Octet& b, CORBA::Octet& c) override;
  CORBA::Char turn_char(CORBA::Char a, CORBA::Char& b, CORBA::Char& c) override;
  CORBA::Short turn_short(CORBA::Short a, CORBA::Short& b, CORBA::Short& c) override;
  CORBA::UShort turn_ushort(CORBA::UShort a, CORBA::UShort& b, CORBA::UShort& c) override;
  CORBA::Long turn_long(CORBA::Long a, CORBA::Long& b, CORBA::Long& c) override;
  CORBA::ULong turn_ulong(CORBA::ULong a, CORBA::ULong& b, CORBA::ULong& c) override;
  CORBA::LongLong turn_longlong(CORBA::LongLong a, CORBA::LongLong& b, CORBA::LongLong& c) override;
  CORBA::ULongLong turn_ulonglong(CORBA::ULongLong a, CORBA::ULongLong& b, CORBA::ULongLong& c) override;
  CORBA::Float turn_float(CORBA::Float a, CORBA::Float& b, CORBA::Float& c) override;
  CORBA::Double turn_double(CORBA::Double a, CORBA::Double& b, CORBA::Double& c) override;
  Interop::Colour turn_colour(Interop::Colour a, Interop::Colour& b, Interop::Colour& c) override;
  char* turn_string(const char* a, char*& b, CORBA::String_out c) override;
  CORBA::LongDouble echo_longdouble(CORBA::LongDouble v) override;
  CORBA::LongLong sum(CORBA::Octet a, CORBA::Short b, CORBA::Octet c, CORBA::Long d, CORBA::Octet e,
                      CORBA::LongLong f) override;

  // Text
  char* echo_string(const char* v) override;
  char* echo_short_string(const char* v) override;
  Interop::Strings* echo_strings(const Interop::Strings& v) override;
  Interop::Words* code_points(const char* v) override;
  char* from_code_points(const Interop::Words& v) override;

  // WideText
  CORBA::WChar turn_wchar(CORBA::WChar a, CORBA::WChar& b, CORBA::WChar& c) override;
  CORBA::WChar* turn_wstring(const CORBA::WChar* a, CORBA::WChar*& b, CORBA::WString_out c) override;
  CORBA::WChar* echo_short_wstring(const CORBA::WChar* v) override;
  Interop::Wchars* echo_wchars(const Interop::Wchars& v) override;
  Interop::Wstrings* echo_wstrings(const Interop::Wstrings& v) override;
  Interop::Shorts* code_units(const CORBA::WChar* v) override;

  // Composites
  Interop::Point turn_point(const Interop::Point& a, Interop::Point& b, Interop::Point& c) override;
  Interop::Padded turn_padded(const Interop::Padded& a, Interop::Padded& b, Interop::Padded& c) override;
  Interop::Person* turn_person(const Interop::Person& a, Interop::Person& b, Interop::Person_out c) override;
  Interop::ByLong* turn_choice(const Interop::ByLong& a, Interop::ByLong& b, Interop::ByLong_out c) override;
  Interop::Longs* turn_longs(const Interop::Longs& a, Interop::Longs& b, Interop::Longs_out c) override;
  Interop::People* turn_people(const Interop::People& a, Interop::People& b, Interop::People_out c) override;
  Interop::Matrix_slice* turn_matrix(const Interop::Matrix a, Interop::Matrix b, Interop::Matrix c) override;
  Interop::Lines_slice* turn_lines(const Interop::Lines a, Interop::Lines b, Interop::Lines_out c) override;
  Interop::ByColour* echo_by_colour(const Interop::ByColour& v) override;
  Interop::ByBoolean* echo_by_boolean(const Interop::ByBoolean& v) override;
  Interop::ByChar* echo_by_char(const Interop::ByChar& v) override;
  Interop::ByShort* echo_by_short(const Interop::ByShort& v) override;
  Interop::ByLonglong echo_by_longlong(const Interop::ByLonglong& v) override;
  Interop::Choices* echo_choices(const Interop::Choices& v) override;
  Interop::Tree* echo_tree(const Interop::Tree& v) override;
  Interop::Everything* echo_everything(const Interop::Everything& v) override;
  Interop::Booleans* echo_booleans(const Interop::Booleans& v) override;
  Interop::Chars* echo_chars(const Interop::Chars& v) override;
  Interop::Shorts* echo_shorts(const Interop::Shorts& v) override;
  Interop::Longlongs* echo_longlongs(const Interop::Longlongs& v) override;
  Interop::Floats* echo_floats(const Interop::Floats& v) override;
  Interop::Doubles* echo_doubles(const Interop::Doubles& v) override;
  Interop::Colours* echo_colours(const Interop::Colours& v) override;
  Interop::Numbers* echo_numbers(const Interop::Numbers& v) override;
  Interop::Table* echo_table(const Interop::Table& v) override;
  Interop::FewLongs* echo_few_longs(const Interop::FewLongs& v) override;
  Interop::FewTags* echo_few_tags(const Interop::FewTags& v) override;
  Interop::Points* echo_points(const Interop::Points& v) override;
  Interop::Corners_slice* echo_corners(const Interop::Corners v) override;
  Interop::Digest_slice* echo_digest(const Interop::Digest v) override;
  Interop::Triple_slice* echo_triple(const Interop::Triple v) override;
  Interop::Matrices* echo_matrices(const Interop::Matrices& v) override;

  // Bulk
  Interop::Octets* echo_octets(const Interop::Octets& v) override;
  Interop::Longs* echo_longs(const Interop::Longs& v) override;
  CORBA::ULong sum_octets(const Interop::Octets& v) override;
  Interop::Octets* make_octets(CORBA::ULong count) override;
  char* echo_long_string(const char* v) override;

  // Attributes
  char* label() override;
  void label(const char* v) override;
  CORBA::Long level() override;
  void level(CORBA::Long v) override;
  CORBA::Double ratio() override;
  void ratio(CORBA::Double v) override;
  Interop::Colour paint() override;
  void paint(Interop::Colour v) override;
  Interop::Longs* values() override;
  void values(const Interop::Longs& v) override;
  Interop::Point place() override;
  void place(const Interop::Point& v) override;
  Interop::Point target() override;
  void target(const Interop::Point& v) override;
  CORBA::Octet version() override;
  CORBA::ULong relabelled() override;

  // Failures
  CORBA::Long raise_user(CORBA::Long which) override;
  CORBA::Long raise_beside(CORBA::Long which, char*& text, CORBA::ULong& length) override;
  void raise_system(const char* name, CORBA::ULong minor_code, Interop::Completion done) override;
  void sleep(CORBA::ULong ms) override;

  // Journal
  void post(CORBA::ULong n) override;
  void note(const char* line, const Interop::Point& place) override;
  Interop::Words* posted() override;
  Interop::Strings* noted() override;
  void clear() override;

  // Maker
  Interop::Counter_ptr make_counter(CORBA::Long start) override;
  CORBA::Long sum_counters(const Interop::Counters& all) override;
  Interop::Counter_ptr turn_counter(Interop::Counter_ptr a, Interop::Counter_ptr& b,
                                    Interop::Counter_out c) override;
  CORBA::Object_ptr echo_object(CORBA::Object_ptr v) override;
  CORBA::Boolean is_nil(CORBA::Object_ptr v) override;
  Interop::Counter_ptr narrow(CORBA::Object_ptr v) override;
  Interop::Entries* echo_entries(const Interop::Entries& v) override;
  Interop::Found* echo_found(const Interop::Found& v) override;
  CORBA::Object_ptr forwarder(CORBA::Object_ptr target) override;
  CORBA::Object_ptr hundred() override;
  CORBA::Object_ptr awkward() override;

  // Caller
  CORBA::Long bounce(Interop::Bouncer_ptr back, CORBA::Long depth) override;
  CORBA::Long call_back(Interop::Callback_ptr target, CORBA::Long n) override;
  CORBA::LongLong call_back_often(Interop::Callback_ptr target, CORBA::ULong times) override;
  void call_back_refused(Interop::Callback_ptr target, CORBA::Long code) override;
  void poke_back(Interop::Callback_ptr target, CORBA::ULong times) override;

  // Both, and its own
  char* name() override;
  char* left_name() override;
  char* right_name() override;
  char* both_names() override;
  void accumulate(CORBA::Long n) override;
  CORBA::LongLong total() override;

private:
  Objects& objects_;

  // Guards what follows.
  std::mutex mutex_;
  CORBA::String_var label_ = CORBA::string_dup("");
  CORBA::Long level_ = 0;
  CORBA::Double ratio_ = 0;
  Interop::Colour paint_ = Interop::red;
  Interop::Longs values_;
  Interop::Point place_ = {0, 0}, target_ = {0, 0};
  CORBA::ULong relabelled_ = 0;
  std::vector<CORBA::ULong> posted_;
  std::vector<std::string> noted_;

  std::atomic<CORBA::LongLong> total_{0};
};

}  // namespace peer
