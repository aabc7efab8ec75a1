// The objects that the suite hands out references to.

#pragma once

#include <omniORB4/CORBA.h>

#include <mutex>
#include <vector>

#include "common.hh"
#include "interop.hh"

namespace peer {

class Forwards;

class Objects {
public:
  explicit Objects(const Orb& orb);

  Interop::Counter_ptr counter(CORBA::Long start);
  CORBA::Object_ptr forwarder(CORBA::Object_ptr target);
  CORBA::Object_ptr hundred() const { return CORBA::Object::_duplicate(hundred_); }
  CORBA::Object_ptr awkward() const { return CORBA::Object::_duplicate(awkward_); }

private:
  PortableServer::POA_var root_;
  CORBA::Object_var hundred_, awkward_;

  // Every request to this adapter is answered with a forward.
  PortableServer::POA_var forwarding_;
  Forwards* forwards_;
};

}  // namespace peer
