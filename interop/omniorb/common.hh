// What the four programs share: the ORB's life, the command line, text as the native code set has it.

#pragma once

#include <omniORB4/CORBA.h>

#include <string>
#include <utility>
#include <vector>

namespace peer {

// Options of omniORB's, without the leading "-ORB", and their values.
using Options = std::vector<std::pair<std::string, std::string>>;

// An ORB on the loopback interface, shut down and destroyed at the end of its scope. It removes
// omniORB's own options from the arguments; `rest()` has the others. `defaults` count where the
// arguments don't say otherwise.
class Orb {
public:
  Orb(int argc, char** argv, Options defaults = {});
  ~Orb();
  Orb(const Orb&) = delete;
  Orb& operator=(const Orb&) = delete;

  CORBA::ORB_ptr operator->() const { return orb_.in(); }
  CORBA::ORB_ptr get() const { return orb_.in(); }
  const std::vector<std::string>& rest() const { return rest_; }

  // The root adapter, its manager active.
  PortableServer::POA_ptr root() const { return root_.in(); }

  // The adapter whose object keys are the object identifiers, as `corbaloc` wants them.
  PortableServer::POA_var plain_keys() const;

private:
  CORBA::ORB_var orb_;
  PortableServer::POA_var root_;
  std::vector<std::string> rest_;
};

// What the interoperability programs need beyond omniORB's defaults: messages of more than 2 MiB, and
// connections for calls nested deeper than five.
Options generous();

// The value of an option that omniORB takes for itself, or `otherwise`. Valid once an `Orb` exists.
std::string orb_option(const std::string& name, const std::string& otherwise);

// Whether strings in this process are UTF-8 (else ISO 8859-1, omniORB's default).
bool native_utf8();

// Native text from and to code points; a code point that the set lacks throws DATA_CONVERSION.
std::string to_native(const std::vector<unsigned>& points);
std::vector<unsigned> from_native(const std::string& text);

// UTF-16 code units, as omniORB has them in a wide string.
std::vector<CORBA::WChar> to_wide(const std::vector<unsigned>& points);

// A system exception in one line: name, minor code, completion.
std::string describe(const CORBA::Exception& e);

// Reads standard input until it ends.
void wait_for_end_of_input();

// omniORB repeats a call that failed with TRANSIENT until it succeeds, unless told not to.
void never_retry();

}  // namespace peer
