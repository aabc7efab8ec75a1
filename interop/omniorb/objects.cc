#include "objects.hh"

#include <atomic>
#include <cstdlib>
#include <string>

#include "awkward.hh"
#include "hundred.hh"

namespace peer {

// Answers whatever is asked of identifier "N" with a forward to the Nth target.
class Forwards : public POA_PortableServer::ServantLocator {
public:
  std::string add(CORBA::Object_ptr target) {
    std::lock_guard<std::mutex> lock(mutex_);
    targets_.push_back(CORBA::Object::_duplicate(target));
    return std::to_string(targets_.size() - 1);
  }

  PortableServer::Servant preinvoke(const PortableServer::ObjectId& id, PortableServer::POA_ptr, const char*,
                                    void*&) override {
    CORBA::String_var name = PortableServer::ObjectId_to_string(id);
    std::lock_guard<std::mutex> lock(mutex_);
    size_t index = strtoul(name, nullptr, 10);
    if (index >= targets_.size()) throw CORBA::OBJECT_NOT_EXIST(0, CORBA::COMPLETED_NO);
    throw PortableServer::ForwardRequest(targets_[index]);
  }

  void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, void*,
                  PortableServer::Servant) override {}

private:
  std::mutex mutex_;
  std::vector<CORBA::Object_var> targets_;
};

namespace {

class Counter : public POA_Interop::Counter {
public:
  Counter(PortableServer::POA_ptr poa, CORBA::Long start)
      : poa_(PortableServer::POA::_duplicate(poa)), value_(start) {}

  CORBA::Long value() override { return value_; }
  CORBA::Long add(CORBA::Long n) override { return value_ += n; }

  void destroy() override {
    PortableServer::ObjectId_var id = poa_->servant_to_id(this);
    poa_->deactivate_object(id);
  }

private:
  PortableServer::POA_var poa_;
  std::atomic<CORBA::Long> value_;
};

class Awkward : public POA_Awkward::Operations {
  using Long = CORBA::Long;

public:
  Long type(Long n) override { return n + 1; }
  Long fn(Long n) override { return n + 1; }
  Long match(Long n) override { return n + 1; }
  Long impl(Long n) override { return n + 1; }
  Long move(Long n) override { return n + 1; }
  Long ref(Long n) override { return n + 1; }
  Long loop(Long n) override { return n + 1; }
  Long async(Long n) override { return n + 1; }
  Long await(Long n) override { return n + 1; }
  Long yield(Long n) override { return n + 1; }
  Long self(Long n) override { return n + 1; }
  Long super(Long n) override { return n + 1; }
  Long crate(Long n) override { return n + 1; }
  Long _cxx_class(Long n) override { return n + 1; }
  Long _cxx_delete(Long n) override { return n + 1; }
  Long _cxx_new(Long n) override { return n + 1; }
  Long _cxx_operator(Long n) override { return n + 1; }
  Long _cxx_template(Long n) override { return n + 1; }
  Long _cxx_virtual(Long n) override { return n + 1; }
  Long _cxx_return(Long n) override { return n + 1; }
  Long _cxx_while(Long n) override { return n + 1; }
  Long _cxx_int(Long n) override { return n + 1; }
  Long clone(Long n) override { return n + 1; }
  Long drop(Long n) override { return n + 1; }
  Long from(Long n) override { return n + 1; }
  Long invoke(Long n) override { return n + 1; }
  Long call(Long n) override { return n + 1; }
  Long interface(Long n) override { return n + 1; }
  Long attribute(Long n) override { return n + 1; }
  Long any(Long n) override { return n + 1; }
  Long fooBar(Long n) override { return n + 1; }
  Long foo_bar(Long n) override { return n + 1; }
  Long an_operation_whose_name_is_exactly_fifty_four_letters_(Long n) override { return n + 1; }
  Long set_value(Long n) override { return n + 1; }
  Long value() override { return value_; }
  void value(Long v) override { value_ = v; }
  Long arguments(Long a, Long b, Long c, Long d, Long e, Long f) override { return a + b + c + d + e + f; }

  ::Awkward::Keywords members(const ::Awkward::Keywords& k) override {
    return {k.type + 1, k.fn + 1, k.self + 1, k._cxx_class + 1, k._cxx_namespace + 1, k.interface + 1};
  }

  ::Awkward::Vec* wrapped(const ::Awkward::Vec& items, ::Awkward::Result outcome) override {
    if (outcome == ::Awkward::Err) throw ::Awkward::Box(outcome);
    return new ::Awkward::Vec(items);
  }

private:
  std::atomic<Long> value_{0};
};

class Hundred : public POA_Wide::Hundred {
public:
  CORBA::ULong op00(CORBA::ULong n) override { return n + 0; }
  CORBA::ULong op01(CORBA::ULong n) override { return n + 1; }
  CORBA::ULong op02(CORBA::ULong n) override { return n + 2; }
  CORBA::ULong op03(CORBA::ULong n) override { return n + 3; }
  CORBA::ULong op04(CORBA::ULong n) override { return n + 4; }
  CORBA::ULong op05(CORBA::ULong n) override { return n + 5; }
  CORBA::ULong op06(CORBA::ULong n) override { return n + 6; }
  CORBA::ULong op07(CORBA::ULong n) override { return n + 7; }
  CORBA::ULong op08(CORBA::ULong n) override { return n + 8; }
  CORBA::ULong op09(CORBA::ULong n) override { return n + 9; }
  CORBA::ULong op10(CORBA::ULong n) override { return n + 10; }
  CORBA::ULong op11(CORBA::ULong n) override { return n + 11; }
  CORBA::ULong op12(CORBA::ULong n) override { return n + 12; }
  CORBA::ULong op13(CORBA::ULong n) override { return n + 13; }
  CORBA::ULong op14(CORBA::ULong n) override { return n + 14; }
  CORBA::ULong op15(CORBA::ULong n) override { return n + 15; }
  CORBA::ULong op16(CORBA::ULong n) override { return n + 16; }
  CORBA::ULong op17(CORBA::ULong n) override { return n + 17; }
  CORBA::ULong op18(CORBA::ULong n) override { return n + 18; }
  CORBA::ULong op19(CORBA::ULong n) override { return n + 19; }
  CORBA::ULong op20(CORBA::ULong n) override { return n + 20; }
  CORBA::ULong op21(CORBA::ULong n) override { return n + 21; }
  CORBA::ULong op22(CORBA::ULong n) override { return n + 22; }
  CORBA::ULong op23(CORBA::ULong n) override { return n + 23; }
  CORBA::ULong op24(CORBA::ULong n) override { return n + 24; }
  CORBA::ULong op25(CORBA::ULong n) override { return n + 25; }
  CORBA::ULong op26(CORBA::ULong n) override { return n + 26; }
  CORBA::ULong op27(CORBA::ULong n) override { return n + 27; }
  CORBA::ULong op28(CORBA::ULong n) override { return n + 28; }
  CORBA::ULong op29(CORBA::ULong n) override { return n + 29; }
  CORBA::ULong op30(CORBA::ULong n) override { return n + 30; }
  CORBA::ULong op31(CORBA::ULong n) override { return n + 31; }
  CORBA::ULong op32(CORBA::ULong n) override { return n + 32; }
  CORBA::ULong op33(CORBA::ULong n) override { return n + 33; }
  CORBA::ULong op34(CORBA::ULong n) override { return n + 34; }
  CORBA::ULong op35(CORBA::ULong n) override { return n + 35; }
  CORBA::ULong op36(CORBA::ULong n) override { return n + 36; }
  CORBA::ULong op37(CORBA::ULong n) override { return n + 37; }
  CORBA::ULong op38(CORBA::ULong n) override { return n + 38; }
  CORBA::ULong op39(CORBA::ULong n) override { return n + 39; }
  CORBA::ULong op40(CORBA::ULong n) override { return n + 40; }
  CORBA::ULong op41(CORBA::ULong n) override { return n + 41; }
  CORBA::ULong op42(CORBA::ULong n) override { return n + 42; }
  CORBA::ULong op43(CORBA::ULong n) override { return n + 43; }
  CORBA::ULong op44(CORBA::ULong n) override { return n + 44; }
  CORBA::ULong op45(CORBA::ULong n) override { return n + 45; }
  CORBA::ULong op46(CORBA::ULong n) override { return n + 46; }
  CORBA::ULong op47(CORBA::ULong n) override { return n + 47; }
  CORBA::ULong op48(CORBA::ULong n) override { return n + 48; }
  CORBA::ULong op49(CORBA::ULong n) override { return n + 49; }
  CORBA::ULong op50(CORBA::ULong n) override { return n + 50; }
  CORBA::ULong op51(CORBA::ULong n) override { return n + 51; }
  CORBA::ULong op52(CORBA::ULong n) override { return n + 52; }
  CORBA::ULong op53(CORBA::ULong n) override { return n + 53; }
  CORBA::ULong op54(CORBA::ULong n) override { return n + 54; }
  CORBA::ULong op55(CORBA::ULong n) override { return n + 55; }
  CORBA::ULong op56(CORBA::ULong n) override { return n + 56; }
  CORBA::ULong op57(CORBA::ULong n) override { return n + 57; }
  CORBA::ULong op58(CORBA::ULong n) override { return n + 58; }
  CORBA::ULong op59(CORBA::ULong n) override { return n + 59; }
  CORBA::ULong op60(CORBA::ULong n) override { return n + 60; }
  CORBA::ULong op61(CORBA::ULong n) override { return n + 61; }
  CORBA::ULong op62(CORBA::ULong n) override { return n + 62; }
  CORBA::ULong op63(CORBA::ULong n) override { return n + 63; }
  CORBA::ULong op64(CORBA::ULong n) override { return n + 64; }
  CORBA::ULong op65(CORBA::ULong n) override { return n + 65; }
  CORBA::ULong op66(CORBA::ULong n) override { return n + 66; }
  CORBA::ULong op67(CORBA::ULong n) override { return n + 67; }
  CORBA::ULong op68(CORBA::ULong n) override { return n + 68; }
  CORBA::ULong op69(CORBA::ULong n) override { return n + 69; }
  CORBA::ULong op70(CORBA::ULong n) override { return n + 70; }
  CORBA::ULong op71(CORBA::ULong n) override { return n + 71; }
  CORBA::ULong op72(CORBA::ULong n) override { return n + 72; }
  CORBA::ULong op73(CORBA::ULong n) override { return n + 73; }
  CORBA::ULong op74(CORBA::ULong n) override { return n + 74; }
  CORBA::ULong op75(CORBA::ULong n) override { return n + 75; }
  CORBA::ULong op76(CORBA::ULong n) override { return n + 76; }
  CORBA::ULong op77(CORBA::ULong n) override { return n + 77; }
  CORBA::ULong op78(CORBA::ULong n) override { return n + 78; }
  CORBA::ULong op79(CORBA::ULong n) override { return n + 79; }
  CORBA::ULong op80(CORBA::ULong n) override { return n + 80; }
  CORBA::ULong op81(CORBA::ULong n) override { return n + 81; }
  CORBA::ULong op82(CORBA::ULong n) override { return n + 82; }
  CORBA::ULong op83(CORBA::ULong n) override { return n + 83; }
  CORBA::ULong op84(CORBA::ULong n) override { return n + 84; }
  CORBA::ULong op85(CORBA::ULong n) override { return n + 85; }
  CORBA::ULong op86(CORBA::ULong n) override { return n + 86; }
  CORBA::ULong op87(CORBA::ULong n) override { return n + 87; }
  CORBA::ULong op88(CORBA::ULong n) override { return n + 88; }
  CORBA::ULong op89(CORBA::ULong n) override { return n + 89; }
  CORBA::ULong op90(CORBA::ULong n) override { return n + 90; }
  CORBA::ULong op91(CORBA::ULong n) override { return n + 91; }
  CORBA::ULong op92(CORBA::ULong n) override { return n + 92; }
  CORBA::ULong op93(CORBA::ULong n) override { return n + 93; }
  CORBA::ULong op94(CORBA::ULong n) override { return n + 94; }
  CORBA::ULong op95(CORBA::ULong n) override { return n + 95; }
  CORBA::ULong op96(CORBA::ULong n) override { return n + 96; }
  CORBA::ULong op97(CORBA::ULong n) override { return n + 97; }
  CORBA::ULong op98(CORBA::ULong n) override { return n + 98; }
  CORBA::ULong op99(CORBA::ULong n) override { return n + 99; }
};

CORBA::Object_ptr activate(PortableServer::POA_ptr poa, PortableServer::Servant servant) {
  PortableServer::ObjectId_var id = poa->activate_object(servant);
  servant->_remove_ref();
  return poa->id_to_reference(id);
}

PortableServer::POA_ptr forwarding_adapter(PortableServer::POA_ptr root, Forwards* forwards) {
  CORBA::PolicyList policies;
  policies.length(3);
  policies[0] = root->create_id_assignment_policy(PortableServer::USER_ID);
  policies[1] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
  policies[2] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
  PortableServer::POAManager_var manager = root->the_POAManager();
  PortableServer::POA_var poa = root->create_POA("forwarding", manager, policies);
  PortableServer::ServantManager_var reference = forwards->_this();
  poa->set_servant_manager(reference);
  return poa._retn();
}

}  // namespace

Objects::Objects(const Orb& orb)
    : root_(PortableServer::POA::_duplicate(orb.root())), forwards_(new Forwards) {
  hundred_ = activate(root_, new Hundred);
  awkward_ = activate(root_, new Awkward);
  forwarding_ = forwarding_adapter(root_, forwards_);
}

Interop::Counter_ptr Objects::counter(CORBA::Long start) {
  CORBA::Object_var object = activate(root_, new Counter(root_, start));
  return Interop::Counter::_narrow(object);
}

CORBA::Object_ptr Objects::forwarder(CORBA::Object_ptr target) {
  PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(forwards_->add(target).c_str());
  return forwarding_->create_reference_with_id(id, "IDL:omg.org/CORBA/Object:1.0");
}

}  // namespace peer
