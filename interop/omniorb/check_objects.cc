// Checks of references: made, passed, compared, forwarded, called back, inherited.

#include <atomic>
#include <chrono>
#include <thread>

#include "awkward.hh"
#include "check.hh"
#include "hundred.hh"

namespace peer {

using namespace Interop;

namespace {

class CallbackServant : public POA_Interop::Callback {
public:
  CORBA::Long notify(CORBA::Long n) override { return n + 1; }

  void refuse(CORBA::Long code) override {
    Refused r;
    r.code = code;
    r.reason = CORBA::string_dup("from the callback");
    r.paint = blue;
    r.place = {0, 0};
    throw r;
  }

  void poke(CORBA::ULong) override { ++poked_; }
  CORBA::ULong poked() const { return poked_; }

private:
  std::atomic<CORBA::ULong> poked_{0};
};

class BouncerServant : public POA_Interop::Bouncer {
public:
  CORBA::Long bounce(Bouncer_ptr back, CORBA::Long depth) override {
    if (depth == 0) return 0;
    Bouncer_var me = _this();
    return 1 + back->bounce(me, depth - 1);
  }
};

// A servant that is active while this lives.
template <typename Servant>
class Active {
public:
  explicit Active(const Orb& orb) : poa_(PortableServer::POA::_duplicate(orb.root())), servant_(new Servant) {
    id_ = poa_->activate_object(servant_);
  }
  ~Active() {
    poa_->deactivate_object(id_);
    servant_->_remove_ref();
  }
  Servant* operator->() const { return servant_; }
  auto reference() const { return servant_->_this(); }

private:
  PortableServer::POA_var poa_;
  Servant* servant_;
  PortableServer::ObjectId_var id_;
};

// A reference newly made of its string, that nothing is known about.
template <typename Interface>
typename Interface::_var_type fresh(const Context& c, CORBA::Object_ptr object) {
  CORBA::String_var text = c.orb->object_to_string(object);
  CORBA::Object_var again = c.orb->string_to_object(text);
  return Interface::_narrow(again);
}

// The reference with the last octet of its object key inverted.
CORBA::Object_var forged(const Context& c, CORBA::Object_ptr object) {
  CORBA::String_var text = c.orb->object_to_string(object);
  CORBA::Object_var again = c.orb->string_to_object(text);
  omniIOR_var ior = again->_PR_getobj()->_getIOR();
  IIOP::ProfileBody body;
  IIOP::unmarshalProfile(ior->iopProfiles()[0], body);
  _CORBA_ULong size = body.object_key.length();
  std::string wanted(reinterpret_cast<const char*>(body.object_key.get_buffer()), size);

  std::string hex = text.in(), octets, digits = "0123456789abcdef";
  for (size_t i = 4; i + 1 < hex.size(); i += 2)
    octets += char(digits.find(tolower(hex[i])) << 4 | digits.find(tolower(hex[i + 1])));
  size_t at = octets.rfind(wanted);
  if (size == 0 || at == std::string::npos) fail(__FILE__, __LINE__, "no object key in the reference");
  octets[at + size - 1] ^= 0xff;
  std::string changed = "IOR:";
  for (unsigned char o : octets) changed += {digits[o >> 4], digits[o & 15]};
  return c.orb->string_to_object(changed.c_str());
}

}  // namespace

CHECK("reference.result", nothing) {
  Counter_var counter = c.suite->make_counter(5);
  EXPECT_EQ(counter->value(), 5);
  EXPECT_EQ(counter->add(-7), -2);
  EXPECT_EQ(counter->value(), -2);
}

CHECK("reference.argument", nothing) {
  Counters all;
  all.length(3);
  all[0] = c.suite->make_counter(10);
  all[1] = Counter::_nil();
  all[2] = c.suite->make_counter(-3);
  EXPECT_EQ(c.suite->sum_counters(all), 7);
}

CHECK("reference.turned", nothing) {
  Counter_var a = c.suite->make_counter(1), b = c.suite->make_counter(2), out;
  Counter_var result = c.suite->turn_counter(a, b.inout(), out.out());
  EXPECT_EQ(result->value(), 2);
  EXPECT_EQ(b->value(), 1);
  EXPECT_EQ(out->add(1), 2);
  EXPECT_EQ(a->value(), 2);
}

CHECK("reference.nil", nothing) {
  EXPECT(c.suite->is_nil(CORBA::Object::_nil()));
  EXPECT(!c.suite->is_nil(c.suite));
  CORBA::Object_var nothing = c.suite->echo_object(CORBA::Object::_nil());
  EXPECT(CORBA::is_nil(nothing));
  Counter_var none = Counter::_nil(), out;
  Counter_var result = c.suite->turn_counter(Counter::_nil(), none.inout(), out.out());
  EXPECT(CORBA::is_nil(result) && CORBA::is_nil(none) && CORBA::is_nil(out));
}

CHECK("reference.object", nothing) {
  Counter_var counter = c.suite->make_counter(8);
  CORBA::Object_var object = c.suite->echo_object(counter);
  EXPECT(object->_is_equivalent(counter));
  Counter_var again = Counter::_narrow(object);
  EXPECT_EQ(again->value(), 8);
}

CHECK("reference.foreign", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var sent = callback.reference();
  CORBA::Object_var object = c.suite->echo_object(sent);
  EXPECT(object->_is_equivalent(sent));
  Callback_var back = Callback::_narrow(object);
  EXPECT_EQ(back->notify(1), 2);
}

CHECK("reference.narrow", nothing) {
  Counter_var counter = c.suite->make_counter(9);
  Counter_var narrowed = c.suite->narrow(counter);
  EXPECT_EQ(narrowed->value(), 9);
  Active<CallbackServant> callback(c.orb);
  CORBA::Object_var other = callback.reference();
  Counter_var none = c.suite->narrow(other);
  EXPECT(CORBA::is_nil(none));
  Callback_var not_one = Callback::_narrow(counter);
  EXPECT(CORBA::is_nil(not_one));
}

CHECK("reference.in_struct", nothing) {
  Entries sent;
  sent.length(2);
  sent[0].name = CORBA::string_dup("both");
  sent[0].who = c.suite->make_counter(3);
  sent[0].anything = CORBA::Object::_duplicate(c.suite);
  sent[1].name = CORBA::string_dup("neither");
  Entries_var back = c.suite->echo_entries(sent);
  EXPECT_EQ(back->length(), 2u);
  EXPECT_EQ(std::string(back[0].name), "both");
  EXPECT_EQ(back[0].who->value(), 3);
  EXPECT(back[0].anything->_is_equivalent(c.suite));
  EXPECT(CORBA::is_nil(back[1].who));
  EXPECT(CORBA::is_nil(back[1].anything));
}

CHECK("reference.in_union", nothing) {
  Found sent;
  Counter_var counter = c.suite->make_counter(4);
  sent.who(counter);
  Found_var back = c.suite->echo_found(sent);
  EXPECT_EQ(back->who()->value(), 4);
  sent._default();
  back = c.suite->echo_found(sent);
  EXPECT(!back->_d());
}

CHECK("reference.destroyed", nothing) {
  Counter_var counter = c.suite->make_counter(1);
  Counter_var again = fresh<Counter>(c, counter);
  counter->destroy();
  EXPECT_THROWS(counter->value(), CORBA::OBJECT_NOT_EXIST);
  EXPECT_THROWS(again->value(), CORBA::OBJECT_NOT_EXIST);
  EXPECT(counter->_non_existent());
  EXPECT(!c.suite->_non_existent());
}

CHECK("reference.forged", nothing) {
  Counter_var counter = c.suite->make_counter(1);
  CORBA::Object_var false_one = forged(c, counter);
  EXPECT(false_one->_non_existent());
  Counter_var unchecked = Counter::_unchecked_narrow(false_one);
  EXPECT_THROWS(unchecked->value(), CORBA::OBJECT_NOT_EXIST);
  EXPECT_EQ(counter->value(), 1);
}

CHECK("reference.string", nothing) {
  Counter_var counter = c.suite->make_counter(12);
  Counter_var again = fresh<Counter>(c, counter);
  EXPECT_EQ(again->value(), 12);
}

// A new reference is located before its first call, unless -ORBverifyObjectExistsAndType is 0.
CHECK("reference.located", nothing) {
  for (int i = 0; i < 10; ++i) {
    Counter_var counter = c.suite->make_counter(i);
    EXPECT_EQ(fresh<Counter>(c, counter)->value(), i);
  }
}

CHECK("reference.equivalent", nothing) {
  Counter_var a = c.suite->make_counter(1), b = c.suite->make_counter(1);
  Counter_var again = fresh<Counter>(c, a);
  EXPECT(a->_is_equivalent(a));
  EXPECT(a->_is_equivalent(again));
  EXPECT(!a->_is_equivalent(b));
  EXPECT_EQ(a->_hash(1000), again->_hash(1000));
}

CHECK("reference.is_a", nothing) {
  for (const char* base : {"Suite", "Basics", "Composites", "Caller", "Bouncer", "Both", "Left", "Right", "Named", "Maker"}) {
    std::string id = std::string("IDL:throughline/Interop/") + base + ":1.0";
    CORBA::Object_var object = fresh<CORBA::Object>(c, c.suite);
    if (!object->_is_a(id.c_str())) fail(__FILE__, __LINE__, "not a " + id);
  }
  Counter_var counter = c.suite->make_counter(0);
  EXPECT(counter->_is_a("IDL:omg.org/CORBA/Object:1.0"));
  EXPECT(!counter->_is_a("IDL:throughline/Interop/Suite:1.0"));
  EXPECT(!counter->_is_a("IDL:Interop/Counter:1.0"));
  EXPECT(!counter->_is_a(""));
}

CHECK("forward.followed", nothing) {
  Counter_var counter = c.suite->make_counter(100);
  CORBA::Object_var forwarder = c.suite->forwarder(counter);
  Counter_var forwarded = Counter::_unchecked_narrow(forwarder);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(forwarded->add(1), 100 + i);
  EXPECT_EQ(counter->value(), 103);
}

CHECK("forward.narrowed", nothing) {
  Counter_var counter = c.suite->make_counter(7);
  CORBA::Object_var forwarder = c.suite->forwarder(counter);
  Counter_var forwarded = Counter::_narrow(forwarder);
  EXPECT(!CORBA::is_nil(forwarded));
  EXPECT_EQ(forwarded->value(), 7);
  EXPECT(!forwarder->_non_existent());
}

CHECK("forward.chain", nothing) {
  Counter_var counter = c.suite->make_counter(50);
  CORBA::Object_var forwarder = CORBA::Object::_duplicate(counter);
  for (int i = 0; i < 4; ++i) forwarder = c.suite->forwarder(forwarder);
  Counter_var forwarded = Counter::_narrow(forwarder);
  EXPECT_EQ(forwarded->add(5), 55);
}

// To an object of this process.
CHECK("forward.elsewhere", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var mine = callback.reference();
  CORBA::Object_var forwarder = c.suite->forwarder(mine);
  Callback_var forwarded = Callback::_narrow(forwarder);
  EXPECT_EQ(forwarded->notify(41), 42);
}

CHECK("callback.nested", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var mine = callback.reference();
  EXPECT_EQ(c.suite->call_back(mine, 40), 42);
}

CHECK("callback.often", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var mine = callback.reference();
  EXPECT_EQ(c.suite->call_back_often(mine, 500), 500 * 501 / 2);
}

CHECK("callback.exception", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var mine = callback.reference();
  try {
    c.suite->call_back_refused(mine, -9);
  } catch (const Refused& e) {
    EXPECT_EQ(e.code, -9);
    EXPECT_EQ(std::string(e.reason), "from the callback");
    EXPECT_EQ(e.paint, blue);
    return;
  }
  fail(__FILE__, __LINE__, "no Refused");
}

CHECK("callback.oneway", nothing) {
  Active<CallbackServant> callback(c.orb);
  Callback_var mine = callback.reference();
  c.suite->poke_back(mine, 100);
  for (int i = 0; i < 100 && callback->poked() < 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(callback->poked(), 100u);
}

CHECK("callback.bounce", nothing) {
  Active<BouncerServant> bouncer(c.orb);
  Bouncer_var mine = bouncer.reference();
  for (CORBA::Long depth : {0, 1, 2, 7, 20}) EXPECT_EQ(c.suite->bounce(mine, depth), depth);
}

CHECK("inheritance.diamond", nothing) {
  Left_var left = fresh<Left>(c, c.suite);
  Right_var right = fresh<Right>(c, c.suite);
  Named_var named = fresh<Named>(c, c.suite);
  CORBA::String_var l = left->left_name(), r = right->right_name(), both = c.suite->both_names();
  CORBA::String_var name = named->name(), by_left = left->name(), by_right = right->name();
  EXPECT_EQ(std::string(l), "left");
  EXPECT_EQ(std::string(r), "right");
  EXPECT_EQ(std::string(both), "left+right");
  for (const char* n : {name.in(), by_left.in(), by_right.in()}) EXPECT_EQ(std::string(n), "both");
}

CHECK("hundred.operations", nothing) {
  CORBA::Object_var object = c.suite->hundred();
  Wide::Hundred_var hundred = Wide::Hundred::_narrow(object);
  EXPECT(!CORBA::is_nil(hundred));
  using Operation = CORBA::ULong (Wide::_objref_Hundred::*)(CORBA::ULong);
  using H = Wide::_objref_Hundred;
  const Operation all[] = {
      &H::op00, &H::op01, &H::op02, &H::op03, &H::op04, &H::op05, &H::op06, &H::op07, &H::op08, &H::op09,
      &H::op10, &H::op11, &H::op12, &H::op13, &H::op14, &H::op15, &H::op16, &H::op17, &H::op18, &H::op19,
      &H::op20, &H::op21, &H::op22, &H::op23, &H::op24, &H::op25, &H::op26, &H::op27, &H::op28, &H::op29,
      &H::op30, &H::op31, &H::op32, &H::op33, &H::op34, &H::op35, &H::op36, &H::op37, &H::op38, &H::op39,
      &H::op40, &H::op41, &H::op42, &H::op43, &H::op44, &H::op45, &H::op46, &H::op47, &H::op48, &H::op49,
      &H::op50, &H::op51, &H::op52, &H::op53, &H::op54, &H::op55, &H::op56, &H::op57, &H::op58, &H::op59,
      &H::op60, &H::op61, &H::op62, &H::op63, &H::op64, &H::op65, &H::op66, &H::op67, &H::op68, &H::op69,
      &H::op70, &H::op71, &H::op72, &H::op73, &H::op74, &H::op75, &H::op76, &H::op77, &H::op78, &H::op79,
      &H::op80, &H::op81, &H::op82, &H::op83, &H::op84, &H::op85, &H::op86, &H::op87, &H::op88, &H::op89,
      &H::op90, &H::op91, &H::op92, &H::op93, &H::op94, &H::op95, &H::op96, &H::op97, &H::op98, &H::op99,
  };
  for (CORBA::ULong i = 0; i < 100; ++i) EXPECT_EQ((hundred.in()->*all[i])(1000), 1000 + i);
}

CHECK("awkward.operations", nothing) {
  CORBA::Object_var object = c.suite->awkward();
  Awkward::Operations_var o = Awkward::Operations::_narrow(object);
  EXPECT(!CORBA::is_nil(o));
  using Operation = CORBA::Long (Awkward::_objref_Operations::*)(CORBA::Long);
  using A = Awkward::_objref_Operations;
  const Operation all[] = {
      &A::type, &A::fn, &A::match, &A::impl, &A::move, &A::ref, &A::loop, &A::async, &A::await, &A::yield,
      &A::self, &A::super, &A::crate, &A::_cxx_class, &A::_cxx_delete, &A::_cxx_new, &A::_cxx_operator,
      &A::_cxx_template, &A::_cxx_virtual, &A::_cxx_return, &A::_cxx_while, &A::_cxx_int, &A::clone, &A::drop,
      &A::from, &A::invoke, &A::call, &A::interface, &A::attribute, &A::any, &A::fooBar, &A::foo_bar,
      &A::set_value, &A::an_operation_whose_name_is_exactly_fifty_four_letters_,
  };
  CORBA::Long n = 0;
  for (Operation operation : all) n = (o.in()->*operation)(n);
  EXPECT_EQ(n, CORBA::Long(sizeof all / sizeof all[0]));
}

CHECK("awkward.attribute", nothing) {
  CORBA::Object_var object = c.suite->awkward();
  Awkward::Operations_var o = Awkward::Operations::_narrow(object);
  o->value(5);
  EXPECT_EQ(o->set_value(70), 71);
  EXPECT_EQ(o->value(), 5);
}

CHECK("awkward.arguments", nothing) {
  CORBA::Object_var object = c.suite->awkward();
  Awkward::Operations_var o = Awkward::Operations::_narrow(object);
  EXPECT_EQ(o->arguments(1, 20, 300, 4000, 50000, 600000), 654321);
  Awkward::Keywords k = o->members({1, 2, 3, 4, 5, 6});
  EXPECT_SAME(k, (Awkward::Keywords{2, 3, 4, 5, 6, 7}));
}

CHECK("awkward.types", nothing) {
  CORBA::Object_var object = c.suite->awkward();
  Awkward::Operations_var o = Awkward::Operations::_narrow(object);
  Awkward::Vec sent = sequence<Awkward::Vec>({Awkward::Option{1}, Awkward::Option{-1}});
  Awkward::Vec_var back = o->wrapped(sent, Awkward::Ok);
  EXPECT_SAME(back.in(), sent);
  EXPECT_THROWS(o->wrapped(sent, Awkward::Err), Awkward::Box);
}

}  // namespace peer
